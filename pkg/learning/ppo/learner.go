package ppo

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"vnd/pkg/nn/kernel"
	"vnd/pkg/nn/layers"
	"vnd/pkg/nn/nets"
	"vnd/pkg/vnd"
)

// shards of a minibatch are computed side by side. Their number is fixed, so that sums do not depend on the machine.
const shards = 4

// learner is a policy with its critic, and what both are trained with. The policy draws actions of a normal
// distribution around its output, with a deviation that does not depend on what it sees.
type learner[F kernel.Float] struct {
	actor  *vnd.Actor[F]
	logStd []F // [A]
	critic *nets.Policy[F]
	norm   vnd.Norm[F] // of the critic's inputs

	waits                      bool // the policy, for its critic
	rate                       float64
	forActor, forStd, forWorth *layers.Adam[F]

	rows           *shard[F] // of all worlds, for acting
	parts          [shards]*shard[F]
	grad, std, fit []F // gradients of the three
}

// shard is some rows of a batch on their way through the nets, with gradients of its own.
type shard[F kernel.Float] struct {
	x, v, u, mean, du, worth, dworth []F
	old, gain, target                []F
	dx                               []F // of the inputs, which nobody asks for
	policy, critic                   *nets.PolicyTape[F]
	grad, std, fit                   []F
	kl, loss                         float64 // sums
}

func newLearner[F kernel.Float](c *Config, w World, rng *rand.Rand) (*learner[F], error) {
	O, V, A := w.Sizes()
	half := slices.Repeat([]F{1}, A)
	actor, err := vnd.NewActor(O, 0, make([]F, A), half, c.Policy)
	if err != nil {
		return nil, err
	}
	critic, err := nets.NewPolicy[F](nets.PolicyConfig{Inputs: V, Actions: 1, Hidden: c.Critic, Linear: true})
	if err != nil {
		return nil, err
	}
	actor.Net.Init(rng, make([]F, A))
	critic.Init(rng, make([]F, 1))
	l := &learner[F]{actor: actor, critic: critic, logStd: slices.Repeat([]F{F(math.Log(c.Deviation))}, A),
		norm: vnd.Norm[F]{Mean: make([]F, V), Scale: slices.Repeat([]F{1}, V)}, rate: c.Rate,
		grad: make([]F, len(actor.Net.Params)), std: make([]F, A), fit: make([]F, len(critic.Params))}
	adam := func(n int) *layers.Adam[F] {
		a := layers.NewAdam[F](n)
		a.Clip = 1
		return a
	}
	l.forActor, l.forStd, l.forWorth = adam(len(l.grad)), adam(A), adam(len(l.fit))
	l.rows = l.newShard(w.Size(), O, V, A)
	for k := range l.parts {
		l.parts[k] = l.newShard(w.Size()*c.Steps/c.Minibatches/shards, O, V, A)
	}
	return l, nil
}

func (l *learner[F]) newShard(rows, O, V, A int) *shard[F] {
	floats := func(n int) []F { return make([]F, rows*n) }
	return &shard[F]{x: floats(O), v: floats(V), u: floats(A), mean: floats(A), du: floats(A), worth: floats(1),
		dworth: floats(1), old: floats(1), gain: floats(1), target: floats(1), dx: floats(max(O, V)),
		policy: l.actor.Net.NewTape(rows, 1), critic: l.critic.NewTape(rows, 1), grad: make([]F, len(l.grad)),
		std: make([]F, A), fit: make([]F, len(l.fit))}
}

// logProbability is that of an action u[A] around mean[A], but for a constant.
func (l *learner[F]) logProbability(u, mean []F) (sum F) {
	for j, s := range l.logStd {
		off := (u[j] - mean[j]) / F(math.Exp(float64(s)))
		sum -= off*off/2 + s
	}
	return sum
}

// act normalises what is seen, x[N][O], draws actions u[N][A] for it, and writes their log-probabilities.
func (l *learner[F]) act(x []F, rng *rand.Rand, u, old []F) {
	s, A, N := l.rows, len(l.logStd), len(old)
	l.actor.Norm.ApplyCut(x)
	l.actor.Net.Forward(s.policy, 0, N, x, s.mean)
	for i := range u {
		u[i] = s.mean[i] + F(math.Exp(float64(l.logStd[i%A]))*rng.NormFloat64())
	}
	for i := range old {
		old[i] = l.logProbability(u[i*A:][:A], s.mean[i*A:][:A])
	}
}

// judge normalises v[N][V], and writes its values.
func (l *learner[F]) judge(v, value []F) {
	l.norm.ApplyCut(v)
	l.critic.Forward(l.rows.critic, 0, len(value), v, value)
}

// improve takes the epochs of an iteration. It returns the divergence of the new policy from the old, and the critic's
// loss.
func (l *learner[F]) improve(c *Config, b *batch, rng *rand.Rand) (kl, loss float64) {
	rows := b.N * b.H
	each := rows / c.Minibatches
	for range c.Epochs {
		order := rng.Perm(rows)
		kl, loss = 0, 0
		for m := range c.Minibatches {
			k, f := l.update(c, b, order[m*each:][:each])
			kl, loss = kl+k/float64(c.Minibatches), loss+f/float64(c.Minibatches)
		}
		l.adapt(c, kl)
	}
	return kl, loss
}

// adapt holds the divergence near the one that is wanted.
func (l *learner[F]) adapt(c *Config, kl float64) {
	const slowest, fastest, factor = 1e-5, 3e-3, 1.3
	switch {
	case c.KL == 0 || l.waits:
	case kl > 1.5*c.KL:
		l.rate = max(slowest, l.rate/factor)
	case kl < c.KL/1.5:
		l.rate = min(fastest, l.rate*factor)
	}
}

// update takes a step of Adam along the gradient of some rows of a batch.
func (l *learner[F]) update(c *Config, b *batch, rows []int) (kl, loss float64) {
	each := len(rows) / shards
	var wg sync.WaitGroup
	lane := max(1, shards/kernel.Workers())
	for from := 0; from < shards; from += lane {
		wg.Go(func() {
			for k := from; k < min(from+lane, shards); k++ {
				s := l.parts[k]
				s.gather(b, rows[k*each:][:each])
				l.gradient(c, s, each, len(rows))
			}
		})
	}
	wg.Wait()
	clear(l.grad)
	clear(l.std)
	clear(l.fit)
	for _, s := range l.parts {
		kernel.Axpy(1, s.grad, l.grad)
		kernel.Axpy(1, s.std, l.std)
		kernel.Axpy(1, s.fit, l.fit)
		kl, loss = kl+s.kl/float64(len(rows)), loss+s.loss/float64(len(rows))
	}
	l.forWorth.Update(l.critic.Params, l.fit, c.Rate)
	l.critic.Refresh()
	if !l.waits {
		l.forActor.Update(l.actor.Net.Params, l.grad, l.rate)
		l.forStd.Update(l.logStd, l.std, l.rate)
		l.actor.Net.Refresh()
	}
	return kl, loss
}

// gather copies rows of a batch.
func (s *shard[F]) gather(b *batch, rows []int) {
	for i, k := range rows {
		fill(s.x[i*b.O:][:b.O], b.x[k*b.O:])
		fill(s.v[i*b.V:][:b.V], b.v[k*b.V:])
		fill(s.u[i*b.A:][:b.A], b.u[k*b.A:])
		s.old[i], s.gain[i], s.target[i] = F(b.old[k]), F(b.gain[k]), F(b.target[k])
	}
}

func fill[F kernel.Float](to []F, from []float32) {
	if same, ok := any(to).([]float32); ok {
		copy(same, from)
		return
	}
	for i := range to {
		to[i] = F(from[i])
	}
}

// gradient writes those of the clipped objective, the entropy and the critic's squared error for the rows of a shard,
// as parts of means over all rows.
func (l *learner[F]) gradient(c *Config, s *shard[F], rows, all int) {
	A, weight := len(l.logStd), 1/F(all)
	clear(s.grad)
	clear(s.std)
	clear(s.fit)
	l.actor.Net.Forward(s.policy, 0, rows, s.x, s.mean)
	l.critic.Forward(s.critic, 0, rows, s.v, s.worth)
	s.kl, s.loss = 0, 0
	for i := range rows {
		u, mean, gain := s.u[i*A:][:A], s.mean[i*A:][:A], s.gain[i]
		log := float64(l.logProbability(u, mean) - s.old[i])
		ratio := F(math.Exp(log))
		s.kl += float64(ratio) - 1 - log
		g := -gain * ratio * weight
		if gain > 0 && float64(ratio) > 1+c.Clip || gain < 0 && float64(ratio) < 1-c.Clip {
			g = 0
		}
		for j, logStd := range l.logStd {
			deviation := F(math.Exp(float64(logStd)))
			off := (u[j] - mean[j]) / deviation
			s.du[i*A+j] = g * off / deviation
			s.std[j] += g*(off*off-1) - F(c.Entropy)*weight
		}
		off := s.worth[i] - s.target[i]
		s.dworth[i] = off * weight
		s.loss += float64(off*off) / 2
	}
	l.actor.Net.Backward(s.policy, 0, s.du, s.dx)
	l.actor.Net.Grads(s.policy, 1, s.grad)
	l.critic.Backward(s.critic, 0, s.dworth, s.dx)
	l.critic.Grads(s.critic, 1, s.fit)
}
