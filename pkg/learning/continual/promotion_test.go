package continual

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/learning/gate"
	"vnd/pkg/learning/gate/quadgate"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd/bundle"
)

// partial is a judge under whom one bundle flies well, and others as well or not at all.
type partial struct {
	good   string // ID
	others bool
}

func (p partial) Fly(_ context.Context, b *bundle.Bundle, _ gate.Trial) (*gate.Flight, error) {
	f, l := &gate.Flight{Dt: dt}, limits()
	for range 100 {
		u := l.Units(quad.Command{Thrust: quad.Gravity})
		f.Errors, f.Actions = append(f.Errors, 0.01), append(f.Actions, u[:])
	}
	if b.ID != p.good && !p.others {
		f.Crash = "hit the ground"
	}
	return f, nil
}

// TestOnlyWhatPassesTheGateFlies: a candidate that crashes before the judge is not the current bundle,
// one that flies is.
func TestOnlyWhatPassesTheGateFlies(t *testing.T) {
	for name, flies := range map[string]bool{"refused": false, "passed": true} {
		t.Run(name, func(t *testing.T) {
			cfg := tiny()
			start := untrained(t, cfg)
			l, err := New(cfg, start, Options{Tasks: tasks(t), Task: "hover", Judge: partial{start.ID, flies},
				Vehicle: quadgate.Vehicle{Robot: quadrotor.Name, Limits: limits()}})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := l.Round(t.Context()); !errors.Is(err, ErrTooLittle) {
				t.Errorf("without a flight: error %v", err)
			}
			rows, _ := fly(still{}, so3.Vec3{}, cfg.Least+1, rand.New(rand.NewPCG(1, 1)))
			l.Collect(quad.Flight{Name: "f", Segments: [][]quad.Row{rows}})
			r, err := l.Round(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			want := start
			if flies {
				want = r.Candidate
			}
			if r.Verdict.Pass != flies || l.Current() != want {
				t.Errorf("passed %v, %s is the current bundle, want %s; %q",
					r.Verdict.Pass, l.Current().ID, want.ID, r.Verdict.Reasons())
			}
		})
	}
}

// TestNotEnoughGoodData: where most of what was flown in poor state lies in pieces too short to be smoothed, nothing is
// learned, however long the rest is. With good data beside it a round goes on.
func TestNotEnoughGoodData(t *testing.T) {
	cfg := tiny()
	start := untrained(t, cfg)
	l, err := New(cfg, start, Options{Tasks: tasks(t), Task: "hover", Judge: partial{start.ID, true},
		Vehicle: quadgate.Vehicle{Robot: quadrotor.Name, Limits: limits()}})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	rows, _ := fly(still{}, so3.Vec3{}, 2*cfg.Least, rng)
	good := slices.Clone(rows)
	for k := range rows {
		v := &rows[k].State.V
		*v = v.Add(so3.Vec3{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}.Scale(0.2))
	}
	whole := len(rows) / 5 * 2
	pieces := [][]quad.Row{rows[:whole]}
	for k := whole; k+20 <= len(rows); k += 20 {
		pieces = append(pieces, rows[k:k+20])
	}
	l.Collect(quad.Flight{Name: "f", Segments: pieces})
	if _, err := l.Round(t.Context()); !errors.Is(err, ErrNotEnoughGood) || errors.Is(err, ErrTooLittle) {
		t.Fatalf("error %v", err)
	}
	l.Collect(quad.Flight{Name: "g", Segments: [][]quad.Row{good[:len(good)/2]}})
	if _, err := l.Round(t.Context()); err != nil {
		t.Errorf("with good data: %v", err)
	}
}

// TestFineTuneHasItsOwnBudget: a policy that was improved in a model before takes the rate and epochs of fine-tuning.
func TestFineTuneHasItsOwnBudget(t *testing.T) {
	c := small()
	c.FineTune.Rate, c.FineTune.Epochs = 1e-4, 7
	if again := c.training(true); again.Rate != 1e-4 || again.Epochs != 7 || again.Hidden != c.Policy.Hidden {
		t.Errorf("fine-tuning: %+v", again)
	}
	if first := c.training(false); first.Rate != c.Policy.Rate || first.Epochs != c.Policy.Epochs {
		t.Errorf("the first improvement: %+v", first)
	}
}
