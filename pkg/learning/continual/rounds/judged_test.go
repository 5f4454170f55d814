package rounds

import (
	"context"
	"crypto/ed25519"
	"slices"
	"strings"
	"testing"
	"time"

	"vnd/pkg/flight/policy"
	"vnd/pkg/learning/gate"
	"vnd/pkg/vnd/bundle"
	"vnd/pkg/vnd/bundle/store"
)

// crashing is a judge in whose flights some bundles crash.
type crashing []string

func (c crashing) Fly(ctx context.Context, b *bundle.Bundle, t gate.Trial) (*gate.Flight, error) {
	f, err := walls{}.Fly(ctx, &bundle.Bundle{}, t)
	if slices.Contains(c, b.ID) {
		f.Crash = "into a wall"
	}
	return f, err
}

// planted fills a folder with two bundles, and returns their names.
func planted(t *testing.T, dir string) (first, second string) {
	t.Helper()
	s, _, err := store.Open(dir, 5, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	b := base(t)
	next := *b
	p, err := policy.FromBundle(b)
	if err != nil {
		t.Fatal(err)
	}
	next.Parent, next.Tensors = b.ID, nil
	p.Net.Params[0] += 0.001
	if err := policy.Put(&next, p, "hover"); err != nil {
		t.Fatal(err)
	}
	if _, err := next.Encode(); err != nil {
		t.Fatal(err)
	}
	for _, x := range []*bundle.Bundle{b, &next} {
		if err := s.Promote(x); err != nil {
			t.Fatal(err)
		}
	}
	return b.ID, next.ID
}

func TestBundlesOfAnOldFolderAreJudgedBeforeTheyFly(t *testing.T) {
	dir := t.TempDir()
	first, second := planted(t, dir)
	for _, c := range []struct {
		name    string
		crashes crashing
		flies   string // "" nothing
		said    string
	}{
		{"all crash", crashing{first, second}, "", "there is no older one to return to"},
		{"none crashes", nil, first, "flies, as it did before"}, // the second was taken back above
	} {
		opt := options(t, dir)
		opt.Judge = c.crashes
		b := start(t, tiny(), opt)
		b.said(c.said)
		b.stop()
		if want := []string{c.flies}; c.flies != "" && !slices.Equal(b.sent, want) || c.flies == "" && len(b.sent) > 0 {
			t.Errorf("%s: %q fly, expected %q", c.name, b.sent, c.flies)
		}
	}
	dir = t.TempDir()
	planted(t, dir)
	opt := options(t, dir)
	opt.Judge = crashing{second}
	b := start(t, tiny(), opt)
	b.bundles(1)
	if b.sent[0] != first {
		t.Errorf("%s flies, expected %s", b.sent[0], first)
	}
	b.said("bundle " + second + " is judged again at the start and refused: canary: crash in flight 1")
}

func TestRollbackJudgesWhatWasNotJudged(t *testing.T) {
	dir := t.TempDir()
	first, second := planted(t, dir)
	opt := options(t, dir)
	opt.Judge = crashing{first}
	b := start(t, tiny(), opt)
	b.bundles(1)
	if _, err := b.Rollback(b.ctx); err == nil || !strings.Contains(err.Error(), first+" is refused") {
		t.Errorf("error %v", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !slices.Equal(b.sent, []string{second}) {
		t.Errorf("%q fly, expected %q alone", b.sent, second)
	}
}

func TestSecondLearnerOnAFolderIsRefused(t *testing.T) {
	opt := options(t, t.TempDir())
	start(t, tiny(), opt)
	if _, err := Open(tiny, opt); err == nil || !strings.Contains(err.Error(), opt.Dir) {
		t.Errorf("error %v", err)
	}
}

// TestPublishedBundlesAreSignedLaterEachTime: a roll-back issues an older bundle anew, also under a clock that stands.
func TestPublishedBundlesAreSignedLaterEachTime(t *testing.T) {
	dir := t.TempDir()
	first, second := planted(t, dir)
	public, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	trust := bundle.Trust{Key: public}
	for range 2 {
		s, _, err := store.Open(dir, 5, func() time.Time { return time.Unix(1_700_000_000, 0) })
		if err != nil {
			t.Fatal(err)
		}
		s.SignWith(key)
		for _, id := range []string{first, second, first} {
			b, err := s.Bundle(id)
			if err != nil {
				t.Fatal(err)
			}
			data, err := s.Issue(b)
			if err != nil {
				t.Fatal(err)
			}
			b, err = bundle.Decode("published", data)
			if err == nil {
				err = trust.Check(b)
			}
			if err != nil {
				t.Error(err)
			}
		}
		s.Close()
	}
}
