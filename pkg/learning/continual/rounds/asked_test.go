package rounds

import (
	"context"
	"errors"
	"strings"
	"testing"

	"vnd/pkg/learning/continual"
	"vnd/pkg/learning/gate"
	"vnd/pkg/learning/train"
	"vnd/pkg/vnd/bundle"
)

// A round that cannot be is answered so.
func TestLearnSaysWhyThereIsNoRound(t *testing.T) {
	b := start(t, tiny(), options(t, t.TempDir()))
	b.bundles(1)
	refuses := func(want string) {
		t.Helper()
		if _, err := b.Learn(b.ctx); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %q", err, want)
		}
	}
	refuses("too little was flown: 0 s, a model takes 8")
	if _, err := b.Pause(b.ctx, true); err != nil {
		t.Fatal(err)
	}
	refuses("learning is paused")
	opt := options(t, t.TempDir())
	opt.BasePolicy = func(context.Context, func(train.Progress)) (*bundle.Bundle, error) {
		return nil, errors.New("no disk")
	}
	b = start(t, tiny(), opt)
	refuses("there is no first bundle: no disk")
}

// Whoever asks for a round hears of its end: which bundle follows, or why none does.
func TestLearnWaitsForItsRound(t *testing.T) {
	long(t)
	for want, judge := range map[string]gate.Judge{"follows": nil, "is refused: canary: crash": walls{}} {
		cfg, opt := tiny(), options(t, t.TempDir())
		cfg.NewRows, opt.Judge = 1e6, judge
		b := start(t, cfg, opt)
		b.bundles(1)
		b.learn(segment(t, t.TempDir(), flown(0, 0, 10, 1)))
		e, err := b.Learn(b.ctx)
		if err != nil || e.Promoted != (judge == nil) || !strings.Contains(e.Line, want) {
			t.Errorf("%+v, %v, expected %q", e, err, want)
		}
		b.stop()
	}
}

// A round whose asker gives up ends, and its data wait for the next; so does one that a pause ends.
func TestLearnThatIsGivenUpEndsItsRound(t *testing.T) {
	long(t)
	cfg := tiny()
	cfg.NewRows, cfg.Fit.Train.Updates = 1e6, 1e6
	b := start(t, cfg, options(t, t.TempDir()))
	b.bundles(1)
	b.learn(segment(t, t.TempDir(), flown(0, 0, 10, 1)))
	for want, end := range map[error]func(cancel func()){
		context.Canceled: func(cancel func()) { cancel() },
		errEnded: func(func()) {
			if _, err := b.Pause(b.ctx, true); err != nil {
				t.Error(err)
			}
		},
	} {
		if _, err := b.Pause(b.ctx, false); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(b.ctx)
		ended := make(chan error, 1)
		go func() { _, err := b.Learn(ctx); ended <- err }()
		b.until("a fit", func() bool { return b.seen[len(b.seen)-1].Phase == continual.Fitting })
		end(cancel)
		if err := <-ended; !errors.Is(err, want) {
			t.Errorf("%v, expected %v", err, want)
		}
		b.until("its end", func() bool { return b.seen[len(b.seen)-1].Phase != continual.Fitting })
		cancel()
		if err := b.do(b.ctx, func() {
			if b.fresh != 500 {
				t.Errorf("%d rows wait", b.fresh)
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
}
