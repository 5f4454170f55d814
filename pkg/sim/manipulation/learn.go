package manipulation

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"vnd/pkg/learning/armlearning"
	"vnd/pkg/learning/continual/stretches"
	"vnd/pkg/learning/fit"
	"vnd/pkg/learning/gate"
	"vnd/pkg/learning/train"
	"vnd/pkg/robot"
	"vnd/pkg/robot/arm"
	"vnd/pkg/vnd"
)

// Budget sizes learning.
type Budget struct {
	armlearning.Config
	World    World[float32] // whose arm is recorded and judged
	Seed     uint64
	Masses   []float64 // recorded under, kg
	Shapes   []string  // of references
	Speeds   []float64 // along each, m/s
	Seconds  float64   // recorded under each payload along each reference
	Progress func(format string, a ...any)
}

// SmallBudget is one of minutes on a core. Its recordings have more to teach than smooth ones.
func SmallBudget() Budget {
	b := Budget{Config: armlearning.Default(), World: NewOwn[float32](), Seed: 1, Masses: Masses, Shapes: arm.Shapes,
		Speeds: []float64{0.25, 0.5}, Seconds: 10, Progress: func(string, ...any) {}}
	b.Policy.Epochs, b.Fit.Train.Updates, b.Fit.Train.Minutes = 6000, 6000, 60
	return b
}

// QuickBudget is one of seconds along one reference: enough to see that it learns.
func QuickBudget() Budget {
	b := SmallBudget()
	b.Shapes, b.Speeds, b.Seconds = arm.Shapes[:1], []float64{0.25}, 4
	for _, c := range []*train.Config{&b.Base, &b.Policy} {
		c.Envs, c.Horizon, c.Hidden = 32, 40, 32
	}
	b.Base.Epochs, b.Base.Rate, b.Policy.Epochs, b.Policy.Rate = 200, 0.005, 80, 0.0015
	m := &b.Fit.Model
	m.EncoderDense, m.EncoderHidden, m.Hidden, b.Fit.Train.Updates = 16, 16, 32, 120
	return b
}

// References are those that are learned.
func (b *Budget) References() ([]*arm.Reference, error) {
	return armlearning.References(b.Shapes, b.Speeds...)
}

// Learned is what learning leads to: the policy of the prior, the model of what that flew, the policy improved in it,
// and what the gate says of that.
type Learned struct {
	Base, Improved *vnd.Actor[float32]
	Model          *vnd.Model[float32]
	Verdict        *gate.Verdict
}

// Learn trains a policy in the prior, flies it under hidden payloads, fits a model to its flights, improves the policy
// in the model, and asks the gate.
func (b *Budget) Learn(ctx context.Context, references []*arm.Reference) (*Learned, error) {
	task := armlearning.Task(armlearning.Spread, references...)
	base, err := b.base(ctx, task)
	if err != nil {
		return nil, err
	}
	recordings, arms := b.record(base, references)
	f, err := b.fit(ctx, recordings)
	if err != nil {
		return nil, err
	}
	better, err := b.improve(ctx, &train.Learned[float32]{Model: f.Model, Through: true}, task, base)
	if err != nil {
		return nil, err
	}
	out := &Learned{Base: base, Improved: better, Model: f.Model}
	out.Verdict, err = b.judge(ctx, out, task, arms)
	return out, err
}

// base trains a policy in the prior.
func (b *Budget) base(ctx context.Context, task robot.Task[float32]) (*vnd.Actor[float32], error) {
	return armlearning.Train(ctx, b.Base, armlearning.PriorWorld(), nil, b.training(task))
}

// improve trains a policy on in a world.
func (b *Budget) improve(ctx context.Context, w train.World[float32], task robot.Task[float32],
	from *vnd.Actor[float32]) (*vnd.Actor[float32], error) {
	return armlearning.Train(ctx, b.Policy, w, from, b.training(task))
}

func (b *Budget) training(task robot.Task[float32]) train.Options {
	return train.Options{Seed: b.Seed, Task: task, Progress: func(g train.Progress) {
		if g.Epoch%50 == 0 {
			b.Progress("epoch %d: %.2f mm", g.Epoch, 1000*g.Figures.Error)
		}
	}}
}

// record flies a policy under the payloads along references. It also returns the arms that the flights show.
func (b *Budget) record(p *vnd.Actor[float32], references []*arm.Reference) (out []fit.Recording, arms []arm.Robot) {
	for i, mass := range b.Masses {
		for j, r := range references {
			rows := b.fly(p, nil, mass, r, b.drawn(i, j))
			out = append(out, stretches.Recordings(armlearning.Prior, fmt.Sprintf("%g kg, %d", mass, j),
				[][]arm.Row{rows}, nil)...)
			if a, err := arm.Identify(rows, Dt); err == nil { // else it is too short
				arms = append(arms, a)
			}
		}
	}
	return out, arms
}

// drawn is what the flight under payload i along reference j draws from.
func (b *Budget) drawn(i, j int) *rand.Rand { return rand.New(rand.NewPCG(b.Seed, uint64(100*i+j))) }

// fly flies a policy, under the latents of a model or the prior mean, with a payload, kg, and random torques beside its
// own, until it is lost or its world has no next state, which is reported.
func (b *Budget) fly(p *vnd.Actor[float32], m *vnd.Model[float32], mass float64, r *arm.Reference,
	rng *rand.Rand) (rows []arm.Row) {
	truth, steps := Truth(mass), int(b.Seconds/Dt)
	s, a, err := newState(), make([]float32, arm.Joints), b.World.Set(truth)
	f := armlearning.Vehicle(armlearning.Task(armlearning.Spread, r)).Begin(p, m, truth, rng, steps, s)
	var extra arm.Torque
	for k := 0; k < steps && err == nil; k++ {
		row := arm.Row{T: float64(k) * Dt, State: truth.State(s)}
		if crash := f.Tick(row.T, s, a).Crash; crash != "" {
			err = errors.New(crash)
			break
		}
		for j := range a {
			extra[j] += 0.02*float64(armlearning.Torques[j])*rng.NormFloat64() - 0.1*extra[j]
			a[j] += float32(extra[j])
			row.Torque[j] = float64(a[j])
		}
		rows = append(rows, row)
		err = b.World.Step(s, a)
	}
	if err != nil {
		b.Progress("a recording under %g kg ends after %.2f s of %g: %v", mass, Dt*float64(len(rows)), b.Seconds, err)
	}
	return rows
}

// fit fits a model to recordings.
func (b *Budget) fit(ctx context.Context, recordings []fit.Recording) (*fit.Fit, error) {
	return fit.Run(ctx, b.Fit.Config, fit.KnownRobot(armlearning.Prior, recordings), fit.Options{Seed: b.Seed,
		Progress: func(g fit.Progress) {
			if g.Update%250 == 0 {
				b.Progress("update %d: loss %.4f, validation %.4f", g.Update, g.Losses.Total, g.Validation)
			}
		}})
}

// judge asks the gate whether the improved policy may follow the base, on arms.
func (b *Budget) judge(ctx context.Context, l *Learned, task robot.Task[float32], arms []arm.Robot) (*gate.Verdict,
	error) {
	candidate, err := armlearning.Pack(l.Model, l.Improved)
	if err != nil {
		return nil, err
	}
	current, err := armlearning.Pack(l.Model, l.Base)
	if err != nil {
		return nil, err
	}
	return armlearning.NewGate(b.Gate.Config, task, arms, b.Seed).Evaluate(ctx, candidate, current, nil)
}
