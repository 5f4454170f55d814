package train

import (
	"math/rand/v2"

	"vnd/pkg/nn/kernel"
	"vnd/pkg/robot"
	"vnd/pkg/vnd"
)

// transitions is the frozen model that a policy learns to fly: a batch of
// rollouts forth and back. vnd.Rollout is one.
type transitions[F kernel.Float] interface {
	Step(h int, s, a, next []F)
	Backward(h int, dnext, ds, da []F)
}

// World is what a policy is trained in.
type World[F kernel.Float] interface {
	System() robot.System[F]
	Latent() int // Z of the model, 0 without
	// Sample draws the latent of an episode.
	Sample(rng *rand.Rand, z []F)
	// tile makes space for rollouts of up to maxB robots and maxH steps.
	tile(maxB, maxH int) worldTile[F]
	// reduced returns the world with its nets, if it has any, in bfloat16.
	reduced() World[F]
}

// disturbanceSource is a worldTile with a disturbance that is measured.
type disturbanceSource[F kernel.Float] interface {
	// measured returns the numbers of step h, [B][n].
	measured(h int) []F
}

type worldTile[F kernel.Float] interface {
	// begin draws an epoch's conditions for B robots.
	begin(B, H int, z latents[F], rng *rand.Rand) transitions[F]
}

// latents are those of a batch of episodes, [B][Z]. Where a condition changes in
// mid-episode, second holds from step `at` on; at is 0 where none does.
type latents[F kernel.Float] struct {
	first, second []F
	at            int
}

// Learned is a fitted model, for good: φ and ψ are frozen.
type Learned[F kernel.Float] struct {
	Model *vnd.Model[F]
	// Through lets gradients flow through the residual; else it is a constant on
	// the way back, and the mean of the ensemble.
	Through bool
	// Push draws what a constant disturbance that neither model nor policy is told adds to a state in a step, m[M];
	// nil: none.
	Push func(rng *rand.Rand, m []F)
	// Measured is in place of Push where the policy sees the disturbance.
	Measured MeasuredDisturbance[F]
}

// MeasuredDisturbance is a constant disturbance that a policy sees.
type MeasuredDisturbance[F kernel.Float] struct {
	Size int // how many numbers the policy sees; 0: there is none
	// Draw draws those, x[Size], and what the disturbance adds to a state in a step, m[M].
	Draw func(rng *rand.Rand, x, m []F)
	// Share of a change that is measured after each step.
	Share F
}

func (w *Learned[F]) reduced() World[F] {
	r := *w
	r.Model = w.Model.BFloat16()
	return &r
}

// System implements World.
func (w *Learned[F]) System() robot.System[F] { return w.Model.System }

// Latent implements World.
func (w *Learned[F]) Latent() int { return w.Model.Net.Latent }

// Sample implements World: it draws of the model's latent prior.
func (w *Learned[F]) Sample(rng *rand.Rand, z []F) { w.Model.Sample(rng, z) }

func (w *Learned[F]) tile(maxB, maxH int) worldTile[F] {
	d := w.System().Dims()
	t := &learnedTile[F]{world: w, members: 1, push: newPush[F](maxB, d)}
	if n := maxB * w.Measured.Size; n > 0 {
		t.then, t.first, t.second, t.now = newPush[F](maxB, d), make([]F, n), make([]F, n), make([]F, n)
	}
	for i := range t.rollouts {
		if w.Through {
			t.rollouts[i], t.members = w.Model.NewPassRollout(maxB, maxH), w.Model.Net.Members
		} else {
			t.rollouts[i] = w.Model.NewFrozenRollout(maxB, maxH)
		}
	}
	return t
}

type learnedTile[F kernel.Float] struct {
	world    *Learned[F]
	rollouts [2]*vnd.Rollout[F] // before and after the condition changes
	members  int
	at       int
	push     push[F]
	then     push[F] // after the condition changes, where it is measured

	first, second, now []F // [B][n] what is measured before and after, and in the step
}

func (t *learnedTile[F]) begin(B, H int, z latents[F], rng *rand.Rand) transitions[F] {
	t.at = H
	if z.at > 0 {
		t.at = z.at
		t.rollouts[1].Begin(rng.IntN(t.members), B, H-z.at, z.second)
	}
	t.rollouts[0].Begin(rng.IntN(t.members), B, t.at, z.first)
	t.push.begin(B)
	for b := range B {
		if t.world.Push != nil {
			t.world.Push(rng, t.push.of(b))
		}
	}
	t.drawMeasured(B, rng)
	return t
}

// drawMeasured draws the disturbances that are measured: one robot of two has another one after the change.
func (t *learnedTile[F]) drawMeasured(B int, rng *rand.Rand) {
	n := t.world.Measured.Size
	if n == 0 {
		return
	}
	t.then.begin(B)
	for b := range B {
		first, second := t.first[b*n:][:n], t.second[b*n:][:n]
		t.world.Measured.Draw(rng, first, t.push.of(b))
		copy(second, first)
		copy(t.then.of(b), t.push.of(b))
		if rng.IntN(2) == 0 {
			t.world.Measured.Draw(rng, second, t.then.of(b))
		}
	}
}

// measured implements disturbanceSource: what is measured follows late.
func (t *learnedTile[F]) measured(h int) []F {
	n := t.push.B * t.world.Measured.Size
	if h == 0 {
		copy(t.now[:n], t.first)
	}
	if h > t.at {
		for i, x := range t.second[:n] {
			t.now[i] += t.world.Measured.Share * (x - t.now[i])
		}
	}
	return t.now[:n]
}

// of returns the rollout of step h, and its step there.
func (t *learnedTile[F]) of(h int) (*vnd.Rollout[F], int) {
	if h < t.at {
		return t.rollouts[0], h
	}
	return t.rollouts[1], h - t.at
}

// Step implements transitions.
func (t *learnedTile[F]) Step(h int, s, a, next []F) {
	r, k := t.of(h)
	r.Step(k, s, a, next)
	if h >= t.at && t.world.Measured.Size > 0 {
		t.then.add(next)
		return
	}
	t.push.add(next)
}

// Backward implements transitions: the push is a constant.
func (t *learnedTile[F]) Backward(h int, dnext, ds, da []F) {
	r, k := t.of(h)
	r.Backward(k, dnext, ds, da)
}

// push is what constant disturbances add to the states of a batch in a step.
type push[F kernel.Float] struct {
	B, M, S int
	each    []F // [B][M]
}

func newPush[F kernel.Float](maxB int, d robot.Dims) push[F] {
	return push[F]{M: d.Measured, S: d.State, each: make([]F, maxB*d.Measured)}
}

func (p *push[F]) begin(B int) { p.B = B }

// of returns the row of robot b.
func (p *push[F]) of(b int) []F { return p.each[b*p.M:][:p.M] }

func (p *push[F]) add(next []F) {
	for b := range p.B {
		row := next[b*p.S:][:p.M]
		for j, x := range p.each[b*p.M:][:p.M] {
			row[j] += x
		}
	}
}

// Prior is a world without anything learned: the System alone, as each tile of an epoch draws it anew. A policy
// over-trained on one lag shakes on another.
type Prior[F kernel.Float] struct {
	Nominal robot.System[F]
	Draw    func(rng *rand.Rand) robot.System[F] // of the sizes of Nominal; nil: Nominal
	// Push draws what a constant disturbance adds in a step, the tangent w[U] with its vectors in the world; nil: none.
	Push func(rng *rand.Rand, w []F)
}

// System implements World.
func (w *Prior[F]) System() robot.System[F] { return w.Nominal }

// Latent implements World.
func (w *Prior[F]) Latent() int { return 0 }

// Sample implements World: nothing is known of a latent.
func (w *Prior[F]) Sample(_ *rand.Rand, z []F) { clear(z) }

func (w *Prior[F]) reduced() World[F] { return w }

func (w *Prior[F]) tile(maxB, maxH int) worldTile[F] {
	n := maxB * w.Nominal.Dims().Tangent
	t := &priorTile[F]{world: w, push: make([]F, n), dd: make([]F, n), steps: make([]priorStep[F], maxH)}
	for h := range t.steps {
		t.steps[h].d = make([]F, n)
	}
	return t
}

type priorTile[F kernel.Float] struct {
	world  *Prior[F]
	system robot.System[F]
	B, U   int
	push   []F // [B][U] per step, its vectors in the world
	dd     []F // [B][U]
	steps  []priorStep[F]
}

type priorStep[F kernel.Float] struct{ s, a, d []F }

func (t *priorTile[F]) begin(B, H int, z latents[F], rng *rand.Rand) transitions[F] {
	if t.system = t.world.Nominal; t.world.Draw != nil {
		t.system = t.world.Draw(rng)
	}
	t.B, t.U = B, t.system.Dims().Tangent
	for b := range B {
		if t.world.Push != nil {
			t.world.Push(rng, t.push[b*t.U:][:t.U])
		}
	}
	return t
}

// Step implements transitions.
func (t *priorTile[F]) Step(h int, s, a, next []F) {
	st := &t.steps[h]
	st.s, st.a = s, a
	d := st.d[:t.B*t.U]
	clear(d)
	t.system.ToBody(t.B, s, t.push, d)
	t.system.Step(t.B, s, a, d, next)
}

// Backward implements transitions.
func (t *priorTile[F]) Backward(h int, dnext, ds, da []F) {
	st, dd := &t.steps[h], t.dd[:t.B*t.U]
	clear(dd)
	t.system.StepVJP(t.B, st.s, st.a, st.d, dnext, ds, da, dd)
	t.system.ToBodyVJP(t.B, st.s, t.push, dd, ds)
}

// Privileged is a world whose System each tile of an epoch draws anew, with numbers of it that the policy sees in place
// of a latent.
type Privileged[F kernel.Float] struct {
	Nominal robot.System[F]
	Size    int
	Draw    func(rng *rand.Rand, z []F) robot.System[F] // which is of the sizes of Nominal, and z[Size] tells
}

// System implements World.
func (w *Privileged[F]) System() robot.System[F] { return w.Nominal }

// Latent implements World.
func (w *Privileged[F]) Latent() int { return w.Size }

// Sample implements World: begin draws.
func (w *Privileged[F]) Sample(_ *rand.Rand, z []F) { clear(z) }

func (w *Privileged[F]) reduced() World[F] { return w }

func (w *Privileged[F]) tile(maxB, maxH int) worldTile[F] {
	t := &privilegedTile[F]{z: make([]F, w.Size)}
	known := &Prior[F]{Nominal: w.Nominal, Draw: func(rng *rand.Rand) robot.System[F] { return w.Draw(rng, t.z) }}
	t.worldTile = known.tile(maxB, maxH)
	return t
}

type privilegedTile[F kernel.Float] struct {
	worldTile[F]
	z []F
}

func (t *privilegedTile[F]) begin(B, H int, z latents[F], rng *rand.Rand) transitions[F] {
	steps := t.worldTile.begin(B, H, z, rng)
	for b := range B {
		copy(z.first[b*len(t.z):], t.z)
		copy(z.second[b*len(t.z):], t.z)
	}
	return steps
}
