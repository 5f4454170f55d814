package manipulation

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"vnd/pkg/core/param"
	"vnd/pkg/learning/fit"
	"vnd/pkg/learning/gate"
	"vnd/pkg/learning/train"
	"vnd/pkg/robot"
	"vnd/pkg/robot/arm"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// Budget sizes learning.
type Budget struct {
	Seed          uint64
	Masses        []float64 // recorded under, kg
	Shapes        []string  // of references
	Speeds        []float64 // along each, m/s
	Base, Improve int       // epochs of a policy from nothing, and in a learned model
	Envs, Horizon int       // episodes of an epoch, and their steps
	Rate          float64   // of learning from nothing; three tenths of it in a learned model
	Policy        int       // units of each of a policy's two layers
	Latent, Nets  int       // size of the latent, units of the encoder; the residual has twice as many
	Seconds       float64   // recorded under each payload along each reference
	Updates       int       // of the fit
	Progress      func(format string, a ...any)
}

// SmallBudget is one of minutes on a core.
func SmallBudget() Budget {
	return Budget{Seed: 1, Masses: Masses, Shapes: arm.Shapes, Speeds: []float64{0.25, 0.5}, Base: 300, Improve: 3000,
		Envs: 64, Horizon: 50, Rate: 0.002, Policy: 128, Latent: 2, Nets: 64, Seconds: 10, Updates: 3000,
		Progress: func(string, ...any) {}}
}

// QuickBudget is one of seconds along one reference: enough to see that it learns.
func QuickBudget() Budget {
	return Budget{Seed: 1, Masses: Masses, Shapes: arm.Shapes[:1],
		Speeds: []float64{0.25}, Base: 200, Improve: 80, Envs: 32,
		Horizon: 40, Rate: 0.005, Policy: 32, Latent: 2, Nets: 16, Seconds: 4, Updates: 120,
		Progress: func(string, ...any) {}}
}

// References are those that are learned.
func (b *Budget) References() (all []*arm.Reference, err error) {
	for _, shape := range b.Shapes {
		for _, speed := range b.Speeds {
			r, err := arm.NewReference(shape, speed, Dt)
			if err != nil {
				return nil, err
			}
			all = append(all, r)
		}
	}
	return all, nil
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
	task := Task(Spread, references...)
	base, err := b.improve(ctx, &train.Prior[float32]{Nominal: Prior.System()}, task, nil)
	if err != nil {
		return nil, err
	}
	f, err := b.fit(ctx, b.record(base, references))
	if err != nil {
		return nil, err
	}
	better, err := b.improve(ctx, &train.Learned[float32]{Model: f.Model, Through: true}, task, base)
	if err != nil {
		return nil, err
	}
	out := &Learned{Base: base, Improved: better, Model: f.Model}
	out.Verdict, err = b.judge(ctx, out, task)
	return out, err
}

// TrainConfig are defaults of the training of an arm's policy, from nothing or on from another: smooth recordings have
// less to teach than those of Learn.
func TrainConfig(improve bool) train.Config {
	b := SmallBudget()
	b.Improve = b.Base
	return b.training(improve)
}

func (b *Budget) training(improve bool) (c train.Config) {
	param.Default(&c)
	c.Envs, c.Horizon, c.Epochs, c.Rate, c.Flights = b.Envs, b.Horizon, b.Base, b.Rate, 0
	c.Hidden, c.Latent, c.ResidualGradient = b.Policy, b.Latent, true
	if improve {
		c.Epochs, c.Rate = b.Improve, 0.3*b.Rate
	}
	return c
}

// NewPolicy is one with weights to be drawn, or a copy of another.
func NewPolicy(c *train.Config, task robot.Task[float32], from *vnd.Actor[float32]) (*vnd.Actor[float32], error) {
	latent, hidden := c.Latent, slices.Repeat([]int{c.Hidden}, c.Layers)
	middle, half := make([]float32, arm.Joints), Torques
	if from != nil {
		latent, hidden, middle, half = from.Latent, from.Net.Hidden, from.Middle, from.Half
	}
	p, err := vnd.NewActor(task.Size(), latent, middle, half, hidden)
	if err != nil {
		return nil, err
	}
	if from != nil {
		if len(p.Net.Params) != len(from.Net.Params) {
			return nil, fmt.Errorf("a policy that sees %d numbers, expected %d", from.Size(), task.Size())
		}
		copy(p.Net.Params, from.Net.Params)
		p.Norm = from.Norm
	}
	return p, nil
}

// improve trains a policy in a world, from nothing or from another, which stays as it is.
func (b *Budget) improve(ctx context.Context, w train.World[float32], task robot.Task[float32],
	from *vnd.Actor[float32]) (*vnd.Actor[float32], error) {
	c := b.training(from != nil)
	p, err := NewPolicy(&c, task, from)
	if err != nil {
		return nil, err
	}
	_, err = train.Run(ctx, c, w, Dt, train.Options{Seed: b.Seed, Task: task, Actor: p, New: from == nil,
		Progress: func(g train.Progress) {
			if g.Epoch%50 == 0 {
				b.Progress("epoch %d: %.2f mm", g.Epoch, 1000*g.Figures.Error)
			}
		}})
	return p, err
}

// record flies a policy under the payloads along references.
func (b *Budget) record(p *vnd.Actor[float32], references []*arm.Reference) (out []fit.Recording) {
	for i, mass := range b.Masses {
		for j, r := range references {
			out = append(out, recording(fmt.Sprintf("%g kg, %d", mass, j), b.fly(p, mass, r, b.drawn(i, j))))
		}
	}
	return out
}

// drawn is what the flight under payload i along reference j draws from.
func (b *Budget) drawn(i, j int) *rand.Rand { return rand.New(rand.NewPCG(b.Seed, uint64(100*i+j))) }

// fly flies a policy under a payload, kg, with random torques beside its own, until it is lost.
func (b *Budget) fly(p *vnd.Actor[float32], mass float64, r *arm.Reference, rng *rand.Rand) (rows []arm.Row) {
	truth, steps := Truth(mass), int(b.Seconds/Dt)
	sys, s, a, none := truth.System(), newState(), make([]float32, arm.Joints), newState()
	f := vehicle(Task(Spread, r)).Begin(p, nil, truth, rng, steps, s)
	var extra arm.Torque
	for k := range steps {
		row := arm.Row{T: float64(k) * Dt, State: truth.State(s)}
		if f.Tick(row.T, s, a).Crash != "" {
			break
		}
		for j := range a {
			extra[j] += 0.02*float64(Torques[j])*rng.NormFloat64() - 0.1*extra[j]
			a[j] += float32(extra[j])
			row.Torque[j] = float64(a[j])
		}
		rows = append(rows, row)
		sys.Step(1, s, a, none, s)
	}
	return rows
}

// FitConfig are defaults of a fit of an arm.
func FitConfig() (c fit.Config) {
	param.Default(&c)
	b := SmallBudget()
	b.set(&c)
	c.Loss.Steps, c.Train.Passes, c.Train.Rate = 5, 30, 0.004
	c.Loss.Reconstruction = 0 // it would keep in the latent how the arm moves, beside what it carries
	return c
}

// set has a fit make models of the budget's sizes in its updates.
func (b *Budget) set(c *fit.Config) {
	c.Model.Latent, c.Model.EncoderDense, c.Model.EncoderHidden, c.Model.Hidden = b.Latent, b.Nets, b.Nets, 2*b.Nets
	c.Train.Updates = b.Updates
}

// fit fits a model to recordings.
func (b *Budget) fit(ctx context.Context, recordings []fit.Recording) (*fit.Fit, error) {
	c := FitConfig()
	b.set(&c)
	c.Train.Minutes = 60
	return fit.Run(ctx, c, fit.KnownRobot(Prior, recordings), fit.Options{Seed: b.Seed,
		Progress: func(g fit.Progress) {
			if g.Update%250 == 0 {
				b.Progress("update %d: loss %.4f, validation %.4f", g.Update, g.Losses.Total, g.Validation)
			}
		}})
}

// Pack makes a bundle of a model and a policy.
func Pack(m *vnd.Model[float32], p *vnd.Actor[float32]) (*bundle.Bundle, error) {
	return vnd.Pack(m, Prior, p, "track_pose")
}

// judge asks the gate whether the improved policy may follow the base.
func (b *Budget) judge(ctx context.Context, l *Learned, task robot.Task[float32]) (*gate.Verdict, error) {
	candidate, err := Pack(l.Model, l.Improved)
	if err != nil {
		return nil, err
	}
	current, err := Pack(l.Model, l.Base)
	if err != nil {
		return nil, err
	}
	v := vehicle(task)
	g := &gate.Gate{Vehicle: v, Judge: judge{v}, Seed: b.Seed}
	param.Default(&g.Config)
	g.Config.Shadow.Seconds, g.Config.Rate = trialSteps*Dt, 100
	return g.Evaluate(ctx, candidate, current, nil)
}

// trialSteps is the length of a flight of the gate.
const trialSteps = 200

// judge flies bundles under hidden payloads. It implements gate.Judge.
type judge struct{ gate.TaskVehicle[arm.Robot] }

// Fly implements gate.Judge.
func (j judge) Fly(ctx context.Context, b *bundle.Bundle, t gate.Trial) (*gate.Flight, error) {
	l, err := j.Load(b)
	if err != nil {
		return nil, err
	}
	truth := Truth(Masses[t.Number%uint64(len(Masses))])
	return gate.Fly(ctx, truth.System(), truth, l, rand.New(rand.NewPCG(t.Number, 1)), trialSteps)
}

// vehicle is the arm at a task, as the gate takes it.
func vehicle(task robot.Task[float32]) gate.TaskVehicle[arm.Robot] {
	return gate.TaskVehicle[arm.Robot]{Robot: arm.Reader, Task: task}
}

// Spread is that of states in which episodes begin, rad and rad/s.
const Spread = 0.05
