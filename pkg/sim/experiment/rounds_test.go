package experiment

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"vnd/pkg/flight/policy"
	"vnd/pkg/learning/continual"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd/bundle"
)

// idle is a bundle whose policy was never trained: it commands hover, about.
func idle(t testing.TB, c *Campaign) *bundle.Bundle {
	t.Helper()
	p, err := policy.New[float32](policy.Observation{PreviewPoints: 1, PastActions: 1}, c.Limits, 0, []int{4})
	if err != nil {
		t.Fatal(err)
	}
	hover := p.Hover()
	p.Net.Init(rand.New(rand.NewPCG(1, 1)), hover[:])
	p.Net.Refresh()
	b := &bundle.Bundle{Robot: quadrotor.Name, Dt: c.Nominal.Dt}
	if err := policy.Put(b, p, "hover"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Encode(); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestRecordAll: every scenario and task is flown once, under names that tell rounds apart, and the same again from
// the same seed.
func TestRecordAll(t *testing.T) {
	c := hovering(t, 1)
	b, r := idle(t, c), &Rounds{Scenarios: winds(t)[:2], Seconds: 0.5}
	fly := func(round int) []Recorded {
		out, err := c.recordAll(context.Background(), b, r, round)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	first, again, next := fly(0), fly(0), fly(1)
	for i, f := range first {
		if f.At != i || f.Task != "hover" || f.Name != "round0 hover winds "+r.Scenarios[i].Condition ||
			len(f.Segments) == 0 || f.Trace == nil {
			t.Errorf("flight %d: %q of scenario %d, %d segments", i, f.Name, f.At, len(f.Segments))
		}
		if !slices.Equal(f.Segments[0], again[i].Segments[0]) || slices.Equal(f.Segments[0], next[i].Segments[0]) ||
			next[i].Name[:6] != "round1" {
			t.Errorf("flight %d is not the same again, or that of the next round is", i)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := c.recordAll(ctx, b, r, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestLearnEnds: with the first error, whose round it names.
func TestLearnEnds(t *testing.T) {
	c := hovering(t, 1)
	b, enough := idle(t, c), errors.New("seen enough")
	flown := 0
	r := &Rounds{Rounds: 3, Flown: func(int, *bundle.Bundle, []Recorded) error { flown++; return nil },
		Learned: func(*continual.Round) error { return nil }}
	if _, err := c.Learn(context.Background(), b, r); !errors.Is(err, continual.ErrTooLittle) ||
		!strings.HasPrefix(err.Error(), "round 1: ") || flown != 1 {
		t.Errorf("from nothing, after %d turns: %v", flown, err)
	}
	r.Flown = func(int, *bundle.Bundle, []Recorded) error { return enough }
	if _, err := c.Learn(context.Background(), b, r); !errors.Is(err, enough) {
		t.Errorf("told that it was enough: %v", err)
	}
	if _, err := c.Learn(context.Background(), &bundle.Bundle{Robot: quadrotor.Name, Dt: 0.02}, r); err == nil ||
		!strings.Contains(err.Error(), "learn:") {
		t.Errorf("from a bundle without a policy: %v", err)
	}
}
