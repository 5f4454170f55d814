package pushing

import (
	"context"
	"math/rand/v2"

	"vnd/pkg/core/param"
	"vnd/pkg/learning/continual"
	"vnd/pkg/learning/continual/stretches"
	"vnd/pkg/learning/pushlearning"
	"vnd/pkg/nn/kernel"
	"vnd/pkg/robot/pusher"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// Budget sizes learning.
type Budget struct {
	pushlearning.Rounds
	Seed     uint64
	Task     pushlearning.Task
	Times    int                   // rounds of recording and learning
	Oracle   pushlearning.Training // in MuJoCo
	Recorded int                   // worlds in which a policy is recorded for an episode's length
	Progress func(format string, a ...any)

	boxes func(i int, rng *rand.Rand) Condition // that are recorded
}

// DefaultBudget is that of the benchmarks.
func DefaultBudget() Budget {
	b := Budget{Seed: 1, Task: pushlearning.DefaultTask, Times: 1, Recorded: 128, Progress: func(string, ...any) {},
		boxes: drawn}
	param.Default(&b.Rounds)
	b.Oracle = b.Policy
	return b
}

// Learned is what learning leads to: the policy of the prior, the one that is at work in the end, and its bundle.
type Learned struct {
	Base, Improved *vnd.Actor[float32]
	Bundle         *bundle.Bundle
	Rounds         []*continual.Round
}

// Learn trains a policy in the prior. In each round it records the policy at work in MuJoCo, fits a model to all
// recordings, improves the policy in the model, and asks the gate.
func (b *Budget) Learn(ctx context.Context) (*Learned, error) {
	if _, err := NewJudging(); err != nil { // without MuJoCo that is said now, not in half an hour
		return nil, err
	}
	base, err := b.TrainBase(ctx, b.Task, b.Seed, b.trained)
	if err != nil {
		return nil, err
	}
	return b.learn(ctx, base)
}

// learn goes on from a policy of the prior.
func (b *Budget) learn(ctx context.Context, base *vnd.Actor[float32]) (*Learned, error) {
	first, err := pushlearning.First(base, "push")
	if err != nil {
		return nil, err
	}
	out := &Learned{Base: base, Improved: base, Bundle: first}
	l, err := pushlearning.New(b.Rounds, first, b.Task, Judging, stretches.Options{Seed: b.Seed, Maker: "push",
		Status: b.learned()})
	if err != nil {
		return nil, err
	}
	for k := range b.Times {
		rows, err := b.Record(out.Improved, k)
		if err != nil {
			return nil, err
		}
		l.Add(rows...)
		r, err := l.Round(ctx)
		if err != nil {
			return nil, err
		}
		out.Rounds, out.Bundle = append(out.Rounds, r), l.Current()
		if out.Improved, err = vnd.ActorFromBundle(out.Bundle); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// trained reports a training now and then.
func (b *Budget) trained(p pushlearning.Progress) {
	if p.Iteration%20 == 19 {
		b.Progress("iteration %d of %d: reward %.4f, %d of %d episodes succeeded", p.Iteration+1, p.Iterations,
			p.Reward, p.Succeeded, p.Ended)
	}
}

// learned reports rounds now and then.
func (b *Budget) learned() func(continual.Status) {
	var last continual.Status
	return func(s continual.Status) {
		if s.Phase != last.Phase || s.Share >= last.Share+0.1 {
			last = s
			b.Progress("%s, %.0f %%: loss %.4f, validation %.4f", s.Phase, 100*s.Share, s.Loss, s.Validation)
		}
	}
}

// trainOracle goes on from a policy in MuJoCo, and is informed of the hidden conditions.
func (b *Budget) trainOracle(ctx context.Context, from *vnd.Actor[float32]) (*vnd.Actor[float32], error) {
	real, err := NewReal(b.Oracle.Worlds, kernel.Workers(), drawn)
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
	return pushlearning.Train(ctx, &b.Oracle, t, real, informed,
		pushlearning.Options{Seed: b.Seed, Show: b.trained})
}

// drawn is a condition of its own for each world.
func drawn(_ int, rng *rand.Rand) Condition { return Draw(rng) }

// informed returns a policy that sees so many numbers more, which make no difference to what it does so far.
func (b *Budget) informed(from *vnd.Actor[float32], more int) (*vnd.Actor[float32], error) {
	p, err := vnd.NewActor(from.Size()+more, 0, from.Middle, from.Half, from.Net.Hidden)
	if err != nil {
		return nil, err
	}
	first, width := from.Size(), from.Net.Hidden[0]
	copy(p.Net.Params, from.Net.Params[:first*width])
	copy(p.Net.Params[(first+more)*width:], from.Net.Params[first*width:])
	copy(p.Norm.Mean, from.Norm.Mean)
	copy(p.Norm.Scale, from.Norm.Scale)
	return p, nil
}

// Record pushes boxes of MuJoCo by a policy under hidden conditions, with actions that are off by noise.
func (b *Budget) Record(p *vnd.Actor[float32], round int) (out [][]pusher.Row, err error) {
	real, err := NewReal(b.Recorded, kernel.Workers(), b.boxes)
	if err != nil {
		return nil, err
	}
	defer real.Close()
	rng := rand.New(rand.NewPCG(b.Seed, 100+uint64(round)))
	e, err := pushlearning.NewEpisodes(b.Task, real, rng)
	if err != nil {
		return nil, err
	}
	now := make([][]pusher.Row, b.Recorded)
	keep := func(i int, _ bool) {
		if len(now[i]) >= pushlearning.LeastRows {
			out = append(out, now[i])
		}
		now[i] = nil
	}
	e.Ended = keep
	e.Seen = func(i int, s *pusher.State, c pusher.Command) {
		now[i] = append(now[i], pusher.Row{T: Dt * float64(len(now[i])), State: *s, Command: c})
	}
	a := pushlearning.NewActing(p, e)
	for range b.Task.Steps {
		a.Decide()
		for i := range a.U {
			a.U[i] = min(max(a.U[i]+float32(0.3*rng.NormFloat64()), -1), 1)
		}
		if err := a.Step(); err != nil {
			return nil, err
		}
	}
	for i := range now {
		keep(i, false)
	}
	return out, nil
}
