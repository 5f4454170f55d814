package pushing

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"vnd/pkg/core/param"
	"vnd/pkg/learning/fit"
	"vnd/pkg/learning/ppo"
	"vnd/pkg/nn/kernel"
	"vnd/pkg/robot/pusher"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// Budget sizes learning.
type Budget struct {
	Seed                  uint64
	Task                  Task
	Worlds, Steps         int   // side by side, and steps of each in an iteration
	Rounds                int   // of recording, fitting and improving
	Base, Improve, Oracle int   // iterations in the prior, in each learned model, and in MuJoCo
	Policy, Critic        []int // units of hidden layers
	Latent, Nets          int   // size of the latent, units of the encoder; the residual has twice as many
	Recorded              int   // worlds in which the base policy is recorded for an episode's length
	Updates               int   // of the fit
	Progress              func(format string, a ...any)
}

// DefaultBudget is that of the benchmarks.
func DefaultBudget() Budget {
	return Budget{Seed: 1, Task: DefaultTask, Worlds: 256, Steps: 32, Rounds: 1, Base: 620, Improve: 900, Oracle: 60,
		Policy: []int{64, 64, 64, 64}, Critic: []int{64, 64}, Latent: 4, Nets: 64, Recorded: 128, Updates: 1000,
		Progress: func(string, ...any) {}}
}

// Learned is what learning leads to: the policy of the prior, the model of what that did under hidden conditions, and
// the policy improved in it.
type Learned struct {
	Base, Improved *vnd.Actor[float32]
	Model          *vnd.Model[float32]
}

// Learn trains a policy in the prior. In each round it records the policy in MuJoCo, fits a model to all recordings,
// and improves the policy in the model.
func (b *Budget) Learn(ctx context.Context) (*Learned, error) {
	w, err := NewWorlds(1, 1) // without MuJoCo that is said now, not in half an hour
	if err != nil {
		return nil, err
	}
	w.Close()
	l := &Learned{}
	if l.Base, err = b.TrainBase(ctx); err != nil {
		return nil, err
	}
	l.Improved = l.Base
	var all []fit.Recording
	for round := range b.Rounds {
		more, err := b.Record(l.Improved, round)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
		f, err := b.Fit(ctx, all)
		if err != nil {
			return nil, err
		}
		l.Model = f.Model
		if l.Improved, err = b.TrainOurs(ctx, l.Model, l.Improved); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// Pack makes a bundle of a model and a policy.
func Pack(m *vnd.Model[float32], p *vnd.Actor[float32]) (*bundle.Bundle, error) {
	return vnd.Pack(m, Prior, p, "push")
}

// Train trains a policy on a plant by PPO, from nothing or from another one.
func (b *Budget) Train(ctx context.Context, t Task, p Plant, iterations int, from *vnd.Actor[float32]) (
	*vnd.Actor[float32], error) {
	e, err := NewEpisodes(t, p, rand.New(rand.NewPCG(b.Seed, 5)))
	if err != nil {
		return nil, err
	}
	ended, won := 0, 0
	e.Ended = func(_ int, success bool) {
		if ended++; success {
			won++
		}
	}
	c := b.ppo(from)
	c.Iterations = iterations
	c.Progress = func(g ppo.Progress) {
		if g.Iteration%20 == 19 {
			b.Progress("iteration %d: reward %.4f, success %.3f of %d, deviation %.2f", g.Iteration+1, g.Reward,
				float64(won)/float64(ended), ended, g.Deviation)
			ended, won = 0, 0
		}
	}
	return ppo.Train(ctx, c, e, from)
}

func (b *Budget) ppo(from *vnd.Actor[float32]) ppo.Config {
	c := ppo.Defaults()
	c.Seed, c.Steps, c.KL, c.Policy, c.Critic = b.Seed, b.Steps, 0.02, b.Policy, b.Critic
	if from != nil {
		c.Warmup, c.KL, c.Deviation = 15, 0.01, 0.2 // the critic is new
	}
	return c
}

// TrainBase trains a policy in the prior of the nominal world.
func (b *Budget) TrainBase(ctx context.Context) (*vnd.Actor[float32], error) {
	return b.Train(ctx, b.Task, NewImagined(b.Worlds, nil), b.Base, nil)
}

// TrainOurs goes on from a policy in a learned model, under latents that are drawn of those that were met.
func (b *Budget) TrainOurs(ctx context.Context, m *vnd.Model[float32], base *vnd.Actor[float32]) (*vnd.Actor[float32],
	error) {
	return b.Train(ctx, b.Task, NewImagined(b.Worlds, m), b.Improve, base)
}

// TrainOracle goes on from a policy in MuJoCo, and is informed of the hidden conditions.
func (b *Budget) TrainOracle(ctx context.Context, from *vnd.Actor[float32]) (*vnd.Actor[float32], error) {
	real, err := NewReal(b.Worlds, kernel.Workers(), func(_ int, rng *rand.Rand) Condition { return Draw(rng) })
	if err != nil {
		return nil, err
	}
	defer real.Close()
	t := b.Task
	t.Informed = true
	informed, err := b.informed(from, real.HiddenSize())
	if err != nil {
		return nil, err
	}
	return b.Train(ctx, t, real, b.Oracle, informed)
}

// informed returns a policy that sees so many numbers more, which make no difference to what it does so far.
func (b *Budget) informed(from *vnd.Actor[float32], more int) (*vnd.Actor[float32], error) {
	p, err := vnd.NewActor(from.Size()+more, 0, from.Middle, from.Half, b.Policy)
	if err != nil {
		return nil, err
	}
	first, width := from.Size(), b.Policy[0]
	copy(p.Net.Params, from.Net.Params[:first*width])
	copy(p.Net.Params[(first+more)*width:], from.Net.Params[first*width:])
	copy(p.Norm.Mean, from.Norm.Mean)
	copy(p.Norm.Scale, from.Norm.Scale)
	return p, nil
}

// Record pushes boxes of MuJoCo by a policy under hidden conditions, with actions that are off by noise.
func (b *Budget) Record(p *vnd.Actor[float32], round int) (out []fit.Recording, err error) {
	real, err := NewReal(b.Recorded, kernel.Workers(), func(_ int, rng *rand.Rand) Condition { return Draw(rng) })
	if err != nil {
		return nil, err
	}
	defer real.Close()
	rng := rand.New(rand.NewPCG(b.Seed, 100+uint64(round)))
	e, err := NewEpisodes(b.Task, real, rng)
	if err != nil {
		return nil, err
	}
	now := make([]fit.Recording, b.Recorded)
	keep := func(i int, _ bool) {
		const least = 60 // rows, a window and a rollout
		if r := now[i]; len(r.Actions) >= 2*least {
			r.Name = fmt.Sprintf("round %d, box %d, %d", round, i, len(out))
			r.Weight = slices.Repeat([]float32{1}, len(r.Actions)/2)
			out = append(out, r)
		}
		now[i] = fit.Recording{}
	}
	e.Ended = keep
	e.Seen = func(i int, s *pusher.State, c pusher.Command) {
		r, at := &now[i], len(now[i].Measured)
		r.Measured = append(r.Measured, make([]float32, Prior.System().Dims().Measured)...)
		s.Write(r.Measured[at:])
		r.Actions = append(r.Actions, float32(c[0]), float32(c[1]))
	}
	a := newActing(p, e)
	for range b.Task.Steps {
		a.decide()
		for i := range a.u {
			a.u[i] = min(max(a.u[i]+float32(0.3*rng.NormFloat64()), -1), 1)
		}
		if err := a.step(); err != nil {
			return nil, err
		}
	}
	for i := range now {
		keep(i, false)
	}
	return out, nil
}

// Fit fits a model to recordings.
func (b *Budget) Fit(ctx context.Context, recordings []fit.Recording) (*fit.Fit, error) {
	var c fit.Config
	param.Default(&c)
	c.Model.Latent, c.Model.EncoderDense, c.Model.EncoderHidden, c.Model.Hidden = b.Latent, b.Nets, b.Nets, 2*b.Nets
	c.Loss.Steps, c.Train.Updates, c.Train.Passes, c.Train.Minutes = 20, b.Updates, 1000, 60
	return fit.Run(ctx, c, fit.KnownRobot(Prior, recordings), fit.Options{Seed: b.Seed,
		Progress: func(g fit.Progress) {
			if g.Update%250 == 0 {
				b.Progress("update %d: loss %.4f, validation %.4f", g.Update, g.Losses.Total, g.Validation)
			}
		}})
}
