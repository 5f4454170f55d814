package continual

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"vnd/pkg/core/quad"
	"vnd/pkg/learning/gate/quadgate"
	"vnd/pkg/robot/quadrotor"
)

// TestBudgetFollowsThePace: on a machine that is slow a round does less of both, so that it takes the time that it may;
// on one that is fast it does all, and never less than a tenth.
func TestBudgetFollowsThePace(t *testing.T) {
	slow := Pace{Update: 0.1, Epoch: 0.05, Rest: 4} // 200 of each take 34 s
	for _, c := range []struct {
		pace    Pace
		seconds float64
		want    float64
	}{{slow, 19, 0.5}, {slow, 34, 1}, {slow, 60, 1}, {slow, 3, 0.1}, {slow, 0, 1}, {Pace{}, 5, 1},
		{Pace{Update: 0.05, Epoch: 0.025, Rest: 2}, 19, 1}} {
		got := c.pace.share(c.seconds, 200, 200)
		if d := got - c.want; d > 1e-9 || d < -1e-9 {
			t.Errorf("%+v in %g s: a share of %g, want %g", c.pace, c.seconds, got, c.want)
		}
	}
	want := "a round with 200 updates and 200 epochs takes 34.0 s on this machine: the next does 100 and 100, in 19.0 s"
	if got := slow.outlook(19, 200, 200); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := slow.outlook(0, 200, 200); !strings.HasSuffix(got, "34.0 s on this machine") {
		t.Errorf("%q", got)
	}
}

// TestRoundsKeepTheirTime: rounds of a learner whose every step takes a while by its clock come down to their time, and
// go up again where the machine is faster.
func TestRoundsKeepTheirTime(t *testing.T) {
	cfg, now, step := tiny(), time.Unix(0, 0), 50*time.Millisecond
	cfg.Fit.Train.Updates, cfg.Fit.WarmStart.Updates = 40, 40
	cfg.Policy.Epochs, cfg.FineTune.Epochs = 20, 20
	cfg.Seconds = 4
	l, err := New(cfg, base(t), Options{Tasks: tasks(t), Task: "hover", Seed: 1,
		Vehicle: quadgate.Vehicle{Robot: quadrotor.Name, Limits: limits()},
		Status: func(s Status) { // once after each update and each epoch
			if s.Phase == Fitting || s.Phase == Improving {
				now = now.Add(step)
			}
		}, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	rows, _ := fly(controller(t, l.Current()), winds[1], 25, rand.New(rand.NewPCG(1, 1)))
	l.Collect(quad.Flight{Name: "f", Segments: [][]quad.Row{rows}})
	for _, c := range []struct {
		step    time.Duration
		least   float64 // seconds that the round takes by the learner's clock
		most    float64
		updates int // 0: fewer than all
	}{{200 * time.Millisecond, 12, 14, 40}, {200 * time.Millisecond, 3.5, 4.5, 0}, {10 * time.Millisecond, 0, 0.5, 0},
		{10 * time.Millisecond, 0.5, 1, 40}} {
		step = c.step
		r, err := l.Round(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		total, n := 0.0, l.model.Metrics.Updates
		for _, s := range r.Seconds {
			total += s
		}
		if total < c.least || total > c.most || c.updates > 0 && n != c.updates || c.updates == 0 && n >= 40 {
			t.Errorf("at %v a step: %d updates in %.2f s, want %.1f to %.1f s (%s)", c.step, n, total, c.least, c.most,
				r.Outlook)
		}
	}
}
