package baseline

import (
	"context"
	"errors"

	"vnd/pkg/core/param"
	"vnd/pkg/flight/policy"
	"vnd/pkg/learning/dataset"
	"vnd/pkg/learning/fit"
	"vnd/pkg/learning/fit/quadfit"
	"vnd/pkg/learning/task"
	"vnd/pkg/learning/train"
	"vnd/pkg/learning/train/quadtrain"
	"vnd/pkg/robot"
	"vnd/pkg/vnd"
)

// Blind returns a policy that does what p does under the prior mean. In place of the latent it takes other numbers,
// which it does not heed yet.
func Blind(p *policy.Policy[float32], size int) (*policy.Policy[float32], error) {
	b, err := policy.New[float32](p.Observation, p.Limits, size, p.Net.Hidden)
	if err != nil {
		return nil, err
	}
	b.Steady = p.Steady
	n := p.Observation.Size()
	copy(b.Norm.Mean, p.Norm.Mean[:n])
	copy(b.Norm.Scale, p.Norm.Scale[:n])
	from, to := p.Net.Tensors(), b.Net.Tensors()
	for i, t := range to {
		copy(b.Net.Params[t.Offset:][:t.Size()], p.Net.Params[from[i].Offset:])
	}
	H := p.Net.Hidden[0]
	clear(b.Net.Params[to[0].Offset:][n*H : to[0].Size()])
	// What the latents at 0 added to the first layer becomes bias.
	bias := b.Net.Params[to[1].Offset:][:H]
	for j := n; j < p.Net.Inputs; j++ {
		x := -p.Norm.Mean[j] * p.Norm.Scale[j]
		for k, w := range p.Net.Params[from[0].Offset+j*H:][:H] {
			bias[k] += x * w
		}
	}
	return b, nil
}

// Trainer is how a residual without a latent is fitted and a policy improved in it: fitted to flights under all winds
// it is the simple residual, to those under one wind the single condition, to the newest seconds the re-fit.
type Trainer struct {
	Fit    fit.Config
	Policy quadtrain.Config
	Tasks  []*task.Task
	Dt     float64 // s
	Seed   uint64
}

// Small sets a trainer to sizes that are fitted and refined in seconds.
func (s *Trainer) Small() {
	param.Default(&s.Fit)
	param.Default(&s.Policy)
	s.Fit.Model.Context, s.Fit.Model.Hidden, s.Fit.Model.Blocks = 10, 32, 1
	s.Fit.Loss.Steps = 10
	s.Fit.Train.Updates, s.Fit.Train.Passes, s.Fit.Train.Batch, s.Fit.Train.Rate = 150, 1e5, 64, 0.005
	s.Fit.Train.Validation, s.Fit.Train.GainJitter = 0, 0
	s.Policy.Horizon, s.Policy.Epochs, s.Policy.Rate, s.Policy.Flights = 50, 50, 0.003, 0
}

// Improve fits a residual to the segments and improves a policy without a latent in it. The fit goes on from the one of
// before, nil for a first.
func (s *Trainer) Improve(ctx context.Context, segments []dataset.Segment, before *fit.Fit,
	from *policy.Policy[float32]) (*fit.Fit, *policy.Policy[float32], error) {
	if from.Latent != 0 {
		return nil, nil, errors.New("the policy to improve has room for a latent that no residual here makes: " +
			"take Blind of it")
	}
	fitted, err := s.fit(ctx, segments, before)
	if err != nil {
		return nil, nil, err
	}
	world := s.world(fitted)
	r, err := quadtrain.Run(ctx, s.Policy, world, s.Dt,
		quadtrain.Options{Seed: s.Seed, Tasks: s.Tasks, Limits: from.Limits, From: from, Fly: s.Trials(world).Fly})
	if err != nil {
		return nil, nil, err
	}
	return fitted, r.Policy, nil
}

// Trials are the flights in a world that choose the policy to keep, as those of a round are.
func (s *Trainer) Trials(w train.World[float32]) *quadtrain.Trials {
	return quadtrain.NewTrials(w, s.Tasks, s.Dt, s.Seed)
}

// World is the residual that is fitted to segments, and the world to train in that it makes.
func (s *Trainer) World(ctx context.Context, segments []dataset.Segment) (*fit.Fit, train.World[float32], error) {
	fitted, err := s.fit(ctx, segments, nil)
	if err != nil {
		return nil, nil, err
	}
	return fitted, s.world(fitted), nil
}

func (s *Trainer) world(fitted *fit.Fit) train.World[float32] {
	return quadtrain.Learned(fitted.Model, s.Dt, s.Policy.ResidualGradient, quadtrain.Pushes{}, s.Policy.Margins)
}

func (s *Trainer) fit(ctx context.Context, segments []dataset.Segment, before *fit.Fit) (*fit.Fit, error) {
	cfg := s.Fit
	cfg.Model.Latent, cfg.BiasCorrection.Share, cfg.BiasCorrection.Known = 0, 0, 0
	fitted, err := quadfit.Run(ctx, cfg, s.Dt, segments, fit.Options{Seed: s.Seed, From: before})
	if err != nil {
		return nil, err
	}
	widen(fitted.Model)
	return fitted, nil
}

// widen has the inputs of a residual count in units of at least what they differ by in a flight that moves. Fitted to
// a few seconds of hovering, whose inputs stood still, a residual would else take each step aside for one of hundreds
// of standard deviations, and the policy would learn to fly on what it makes up there.
func widen(m *vnd.Model[float32]) {
	least := func(span robot.Span, j int) float32 {
		switch span.Name {
		case "velocity":
			return 0.5 // m/s
		case "attitude":
			return 0.2
		case "actuator", "command", "last_command": // thrust, m/s², then rates, rad/s
			if j == span.Lo {
				return 1.5
			}
		}
		return 1
	}
	for _, span := range m.System.InputSpans() {
		for j := span.Lo; j < span.Hi; j++ {
			m.Inputs.Scale[j] = min(m.Inputs.Scale[j], 1/least(span, j))
		}
	}
}
