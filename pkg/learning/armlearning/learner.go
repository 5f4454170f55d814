package armlearning

import (
	"context"

	"vnd/pkg/flight/armcontrol"
	"vnd/pkg/learning/continual"
	"vnd/pkg/learning/continual/rounds"
	"vnd/pkg/learning/continual/stretches"
	"vnd/pkg/learning/gate"
	"vnd/pkg/learning/train"
	"vnd/pkg/robot"
	"vnd/pkg/robot/arm"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// Rounds configures learning beside an arm that moves.
type Rounds struct {
	rounds.Schedule
	Supervision
	Config
	Stride int `param:"latent_stride" default:"10" min:"1" max:"10000" unit:"rows" doc:"rows from one re-encoded latent to the next"`
	continual.Data
}

// Supervision has places as of Place, and errors of millimetres.
type Supervision struct {
	rounds.Supervision `defaults:"evidence.radius=0.5 evidence.tolerance=5e-4"`
}

// Open opens the bundles on disk of an arm that follows references. cfg gives the present configuration.
func Open(cfg func() *Rounds, o rounds.Common, references []*arm.Reference, maker string) (*rounds.Runner[[]arm.Row],
	error) {
	task := Task(Spread, references...)
	if o.BasePolicy == nil {
		o.BasePolicy = func(ctx context.Context, progress func(train.Progress)) (*bundle.Bundle, error) {
			return base(ctx, cfg().Base, train.Options{Seed: o.Seed, Task: task, Progress: progress}, maker)
		}
	}
	r := rounds.Robot[[]arm.Row]{Name: arm.Name,
		Begin: func(start *bundle.Bundle, seed uint64, report func(continual.Status)) (rounds.Learner[[]arm.Row],
			error) {
			return New(*cfg(), start, task, stretches.Options{Seed: seed, Maker: maker, Status: report, Now: o.Now})
		},
		Gate: func() *gate.Gate { return NewGate(cfg().Gate.Config, task, nil, o.Seed) }}
	l, err := rounds.New(func() rounds.Settings { return cfg() }, o, r)
	if err == nil {
		l.Supervise(func() *rounds.Supervision { return &cfg().Supervision.Supervision })
	}
	return l, err
}

// base makes a bundle of a policy of the prior.
func base(ctx context.Context, c train.Config, o train.Options, maker string) (*bundle.Bundle, error) {
	p, err := Train(ctx, c, PriorWorld(), nil, o)
	if err != nil {
		return nil, err
	}
	b := &bundle.Bundle{Robot: arm.Name, Dt: Dt, CreatedBy: maker}
	err = vnd.PutActor(b, p, nil, armcontrol.Task)
	return b, err
}

// New makes a learner for a task that begins with a bundle.
func New(cfg Rounds, start *bundle.Bundle, task robot.Task[float32], o stretches.Options) (
	*stretches.Learner[arm.Row], error) {
	kind := stretches.Kind[arm.Row]{Prior: Prior, Vehicle: Vehicle(task), Task: armcontrol.Task,
		Latent: cfg.Fit.Model.Latent, Predict: Predict,
		HoldOut: func(_ int, rows []arm.Row) (learned, held [][]arm.Row) {
			return stretches.HoldOut(rows, stretches.Block(&cfg.Fit.Config), cfg.Fit.Train.Validation)
		},
		Improve: func(ctx context.Context, m *vnd.Model[float32], from *vnd.Actor[float32], o train.Options) (
			*vnd.Actor[float32], error) {
			o.Task = task
			return Train(ctx, cfg.Policy, &train.Learned[float32]{Model: m, Through: cfg.Policy.ResidualGradient}, from,
				o)
		},
		Gate: func(all [][]arm.Row, seed uint64) *gate.Gate {
			var arms []arm.Robot
			for _, s := range all {
				if a, err := arm.Identify(s, Dt); err == nil { // else it is too short, or tells of no arm
					arms = append(arms, a)
				}
			}
			return NewGate(cfg.Gate.Config, task, arms, seed)
		}}
	return stretches.New(kind, stretches.Config{Fit: &cfg.Fit.Config, Warm: &cfg.Fit.WarmStart, Stride: cfg.Stride,
		Data: cfg.Data}, start, o)
}

// Predict is stretches.Predict of an arm, by the place of its tool.
func Predict(m *vnd.Model[float32], held [][]arm.Row) (stretches.Prediction, error) {
	return stretches.Predict(Prior, m, held)
}

var _ rounds.Learner[[]arm.Row] = (*stretches.Learner[arm.Row])(nil)
