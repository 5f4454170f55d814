package pushlearning

import (
	"context"

	"vnd/pkg/learning/continual"
	"vnd/pkg/learning/continual/rounds"
	"vnd/pkg/learning/continual/stretches"
	"vnd/pkg/learning/dataset"
	"vnd/pkg/learning/gate"
	"vnd/pkg/learning/train"
	"vnd/pkg/robot/pusher"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// Rounds configures learning from what is pushed.
type Rounds struct {
	rounds.Schedule
	Supervision
	Config
	Stride int `param:"latent_stride" default:"10" min:"1" max:"10000" unit:"rows" doc:"rows from one re-encoded latent to the next"`
	continual.Data
}

// Open opens the bundles on disk of a pusher at a task. cfg gives the present configuration.
func Open(cfg func() *Rounds, o rounds.Common, t Task, by Judging, maker string) (*rounds.Runner[[]pusher.Row], error) {
	if o.BasePolicy == nil {
		o.BasePolicy = func(ctx context.Context, progress func(train.Progress)) (*bundle.Bundle, error) {
			p, err := cfg().TrainBase(ctx, t, o.Seed, reporting(progress))
			if err != nil {
				return nil, err
			}
			return First(p, maker)
		}
	}
	l, err := rounds.New(func() rounds.Settings { return cfg() }, o, rounds.Robot[[]pusher.Row]{Name: pusher.Name,
		Begin: func(start *bundle.Bundle, seed uint64, report func(continual.Status)) (rounds.Learner[[]pusher.Row],
			error) {
			return New(*cfg(), start, t, by, stretches.Options{Seed: seed, Maker: maker, Status: report, Now: o.Now})
		},
		Gate: func() *gate.Gate { return newGate(cfg().Gate.Config, t, by, nil, o.Seed) }})
	if err == nil {
		l.Supervise(func() *rounds.Supervision { return cfg().Supervision.of() })
	}
	return l, err
}

// First makes a bundle of a policy of the prior.
func First(p *vnd.Actor[float32], maker string) (*bundle.Bundle, error) {
	b := &bundle.Bundle{Robot: pusher.Name, Dt: Dt, CreatedBy: maker}
	err := vnd.PutActor(b, p, nil, Name)
	if err == nil {
		_, err = b.Encode() // which names it
	}
	return b, err
}

// reporting makes progress of that of PPO.
func reporting(progress func(train.Progress)) func(Progress) {
	return func(p Progress) {
		progress(train.Progress{Epoch: p.Iteration + 1, Epochs: p.Iterations,
			Figures: train.Figures{Cost: -p.Reward}})
	}
}

// New makes a learner for a task that begins with a bundle.
func New(cfg Rounds, start *bundle.Bundle, t Task, by Judging, o stretches.Options) (
	*stretches.Learner[pusher.Row], error) {
	kind := stretches.Kind[pusher.Row]{Prior: Prior, Vehicle: Vehicle{t}, Task: Name, HoldOut: HoldOut,
		Predict: func(m *vnd.Model[float32], held [][]pusher.Row) (stretches.Prediction, error) {
			return stretches.Predict(Prior, m, held)
		},
		Improve: func(ctx context.Context, m *vnd.Model[float32], from *vnd.Actor[float32], o train.Options) (
			*vnd.Actor[float32], error) {
			return Train(ctx, &cfg.Policy, t, NewImagined(cfg.Policy.Worlds, m.System, m), from,
				Options{Seed: o.Seed, Show: reporting(o.Progress)})
		},
		Gate: func(all [][]pusher.Row, seed uint64) *gate.Gate {
			var boxes []pusher.Robot
			for _, s := range all {
				if box, err := pusher.Identify(s, Dt, Prior.Mass); err == nil { // else it was hardly pushed
					boxes = append(boxes, box)
				}
			}
			return newGate(cfg.Gate.Config, t, by, boxes, seed)
		}}
	return stretches.New(kind, stretches.Config{Fit: &cfg.Fit.Config, Warm: &cfg.Fit.WarmStart, Stride: cfg.Stride,
		Data: cfg.Data}, start, o)
}

// LeastRows are those of a stretch: a window, and a rollout.
const LeastRows = 60

// HoldOut holds every tenth stretch out: each has a box of its own.
func HoldOut(number int, rows []pusher.Row) (learned, held [][]pusher.Row) {
	const every = 10
	if number%every == every/2 {
		return nil, [][]pusher.Row{rows}
	}
	return [][]pusher.Row{rows}, nil
}

// Rows is how rows of pushes lie in segment files: time, state and command. They are described by the force that it
// takes to push the box, N.
var Rows = dataset.Numbers(3, func(rows []pusher.Row, dt float64) (all []float32, D int) {
	if box, err := pusher.Identify(rows, dt, Prior.Mass); err == nil { // else it was hardly pushed
		all = append(all, float32(box.Force()))
	}
	return all, 1
})
