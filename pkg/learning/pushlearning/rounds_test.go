package pushlearning

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"vnd/pkg/core/param"
	"vnd/pkg/learning/continual"
	"vnd/pkg/learning/continual/rounds"
	"vnd/pkg/learning/continual/stretches"
	"vnd/pkg/learning/gate"
	"vnd/pkg/robot/pusher"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// heavy is a box that nobody expects: it takes 15 N to push it.
var heavy = pusher.Robot{Dt: Dt, Mass: 1.7, Friction: 0.9}

// brief is a task that is learned in seconds.
var brief = Task{Nearest: 0.03, Farthest: 0.08, Turn: 0.1, Steps: 120}

// quick is a budget of seconds.
func quick() (c Rounds) {
	param.Default(&c)
	for _, t := range []*Training{&c.Base, &c.Policy} {
		t.Worlds, t.Iterations, t.Hidden, t.Layers = 64, 200, 32, 2
	}
	c.Policy.Iterations, c.NewRows = 500, 1e6
	m := &c.Fit.Model
	m.EncoderDense, m.EncoderHidden, m.Hidden = 16, 16, 32
	c.Fit.Loss.Steps, c.Fit.Train.Updates, c.Gate.Shadow.Seconds, c.Gate.Canary.Settle = 10, 200, 2.4, 1
	c.Gate.Shadow.Settle = 1
	return c
}

// pushed has a policy push a box in n episodes, and returns their rows and the share that succeeded.
func pushed(t *testing.T, p *vnd.Actor[float32], box pusher.Robot, n int) (rows [][]pusher.Row, share float64) {
	t.Helper()
	rng := random(7, 7)
	e, err := NewEpisodes(brief, NewImagined(n, box.System(), nil), rng)
	if err != nil {
		t.Fatal(err)
	}
	e.Together()
	rows, over := make([][]pusher.Row, n), make([]bool, n)
	e.Seen = func(i int, s *pusher.State, c pusher.Command) {
		if !over[i] {
			rows[i] = append(rows[i], pusher.Row{T: Dt * float64(len(rows[i])), State: *s, Command: c})
		}
	}
	e.Ended = func(i int, success bool) {
		if !over[i] && success {
			share += 1 / float64(n)
		}
		over[i] = true
	}
	a := NewActing(p, e)
	for range brief.Steps {
		a.Decide()
		for j := range a.U {
			a.U[j] += float32(0.1 * rng.NormFloat64())
		}
		if err := a.Step(); err != nil {
			t.Fatal(err)
		}
	}
	return rows, share
}

// begin runs rounds of a configuration in a folder, and returns the bundles that go out.
func begin(t *testing.T, c Rounds) (*rounds.Runner[[]pusher.Row], <-chan *bundle.Bundle) {
	t.Helper()
	out := make(chan *bundle.Bundle, 10)
	r, err := Open(func() *Rounds { return &c }, rounds.Common{Dir: t.TempDir(), Seed: 1, Dt: Dt,
		Publish: func(b *bundle.Bundle, _ []byte) { out <- b },
		Log:     func(_ bool, line string) { t.Log(line) }}, brief, InPrior, "test")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- r.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return r, out
}

// next is the policy that goes out next.
func next(t *testing.T, out <-chan *bundle.Bundle) (*bundle.Bundle, *vnd.Actor[float32]) {
	t.Helper()
	select {
	case b := <-out:
		p, err := vnd.ActorFromBundle(b)
		if err != nil {
			t.Fatal(err)
		}
		return b, p
	case <-time.After(5 * time.Minute):
		t.Fatal("no bundle goes out")
		return nil, nil
	}
}

// TestRoundsImprove: of what was pushed, a heavy box, a round makes a policy that succeeds more often. One that a
// training has spoilt is refused.
func TestRoundsImprove(t *testing.T) {
	if testing.Short() {
		t.Skip("learns for seconds")
	}
	cfg := quick()
	runner, out := begin(t, cfg)
	first, base := next(t, out)
	rows, before := pushed(t, base, heavy, 40)
	for i, r := range rows {
		if err := runner.Take(t.Context(), fmt.Sprint(i), len(r), r); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := runner.TrainNow(t.Context()); err != nil {
		t.Fatal(err)
	}
	b, p := next(t, out)
	if _, after := pushed(t, p, heavy, 40); !(after > before+0.05) || b.Parent != first.ID || !vnd.In(b) {
		t.Errorf("%.2f succeeded, before %.2f; bundle %s follows %s", after, before, b.ID, b.Parent)
	}
	cfg.Policy.Rate, cfg.Policy.KL, cfg.Policy.Iterations = 0.3, 0, 20
	l, err := New(cfg, first, brief, InPrior, stretches.Options{Seed: 1, Status: func(continual.Status) {}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Round(t.Context()); !errors.Is(err, continual.ErrTooLittle) {
		t.Errorf("of nothing: %v", err)
	}
	l.Add(rows...)
	r, err := l.Round(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if stages := r.Verdict.Stages; r.Verdict.Pass || l.Current() != first || !stages[0].Pass ||
		stages[len(stages)-1].Name != gate.StageShadow {
		t.Errorf("spoilt: passes %t: %q", r.Verdict.Pass, r.Verdict.Reasons())
	}
}
