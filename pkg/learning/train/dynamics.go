package train

import (
	"math/rand/v2"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/nn/kernel"
	"vnd/pkg/robot"
	"vnd/pkg/robot/quadrotor"
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
	// tile makes space for rollouts of up to maxB robots and maxH steps.
	tile(maxB, maxH int) worldTile[F]
	// reduced returns the world with its nets, if it has any, in bfloat16.
	reduced() World[F]
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
	Dt    float64 // s
	// Through lets gradients flow through the residual; else it is a constant on
	// the way back, and the mean of the ensemble.
	Through bool
	// Wind is the spread of a constant acceleration on each axis (m/s², standard
	// deviation) that neither model nor policy is told: what is not known yet.
	Wind float64
}

func (w *Learned[F]) reduced() World[F] {
	r := *w
	r.Model = w.Model.Reduced()
	return &r
}

// System implements World.
func (w *Learned[F]) System() robot.System[F] { return w.Model.System }

// Latent implements World.
func (w *Learned[F]) Latent() int { return w.Model.Net.Latent }

func (w *Learned[F]) tile(maxB, maxH int) worldTile[F] {
	d := w.System().Dims()
	t := &learnedTile[F]{world: w, members: 1, push: newPush[F](maxB, d)}
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
		t.push.set(b, so3.Vec3{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}.Scale(t.world.Wind),
			t.world.Dt)
	}
	return t
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
	t.push.add(next)
}

// Backward implements transitions: the wind is a constant.
func (t *learnedTile[F]) Backward(h int, dnext, ds, da []F) {
	r, k := t.of(h)
	r.Backward(k, dnext, ds, da)
}

// push is what constant accelerations add to the states of a batch in a step.
type push[F kernel.Float] struct {
	B, M, S int
	each    []F // [B][M]
}

func newPush[F kernel.Float](maxB int, d robot.Dims) push[F] {
	return push[F]{M: d.Measured, S: d.State, each: make([]F, maxB*d.Measured)}
}

func (p *push[F]) begin(B int) { p.B = B }

func (p *push[F]) set(b int, wind so3.Vec3, dt float64) {
	quadrotor.Measured(&quad.State{P: wind.Scale(dt * dt / 2), V: wind.Scale(dt)}, p.each[b*p.M:])
}

func (p *push[F]) add(next []F) {
	for b := range p.B {
		row := next[b*p.S:][:p.M]
		for j, x := range p.each[b*p.M:][:p.M] {
			row[j] += x
		}
	}
}

// Nominal is the physics prior alone, with an actuator drawn anew for each tile
// and epoch: a policy over-trained on one lag shakes on another.
type Nominal struct {
	Dt       float64 `param:"dt" default:"0.02" min:"0.001" max:"0.1" unit:"s" doc:"Δt of a step"`
	MinLag   float64 `param:"min_lag" default:"0.01" min:"0" max:"0.3" unit:"s" doc:"least lag of thrust and rates"`
	MaxLag   float64 `param:"max_lag" default:"0.06" min:"0" max:"0.3" unit:"s" doc:"greatest lag"`
	MaxDelay float64 `param:"max_delay" default:"1.0" min:"0" max:"4" unit:"steps" doc:"greatest delay of commands"`
	Gain     float64 `param:"gain" default:"0.05" min:"0" max:"0.5" doc:"spread of the thrust gain around 1 (standard deviation)"`
	Wind     float64 `param:"wind" default:"0.0" min:"0" max:"20" unit:"m/s²" doc:"spread of a constant acceleration on each axis (standard deviation)"`
}

// draw returns some actuator of the range.
func (n *Nominal) draw(rng *rand.Rand) quadrotor.Actuator {
	lag := func() float64 { return n.MinLag + (max(n.MaxLag, n.MinLag)-n.MinLag)*rng.Float64() }
	delay := n.MaxDelay * rng.Float64()
	return quadrotor.Actuator{ThrustGain: max(0.1, 1+n.Gain*rng.NormFloat64()), RateGain: 1,
		ThrustLag: lag(), RateLag: lag(), ThrustDelay: delay, RateDelay: delay}
}

// NominalWorld is Nominal in the arithmetic of F.
type NominalWorld[F kernel.Float] struct{ Nominal Nominal }

// System implements World.
func (w *NominalWorld[F]) System() robot.System[F] {
	return quadrotor.NewQuadrotor[F](w.Nominal.Dt, quadrotor.NominalActuator())
}

// Latent implements World.
func (w *NominalWorld[F]) Latent() int { return 0 }

func (w *NominalWorld[F]) reduced() World[F] { return w }

func (w *NominalWorld[F]) tile(maxB, maxH int) worldTile[F] {
	d := w.System().Dims()
	t := &nominalTile[F]{nominal: &w.Nominal, wind: make([]F, maxB*d.Tangent), dd: make([]F, maxB*d.Tangent),
		steps: make([]nominalStep[F], maxH)}
	for h := range t.steps {
		t.steps[h].d = make([]F, maxB*d.Tangent)
	}
	return t
}

type nominalTile[F kernel.Float] struct {
	nominal *Nominal
	system  robot.System[F]
	B, U    int
	wind    []F // [B][U] its push per step, a vector of the world
	dd      []F // [B][U]
	steps   []nominalStep[F]
}

type nominalStep[F kernel.Float] struct{ s, a, d []F }

func (t *nominalTile[F]) begin(B, H int, z latents[F], rng *rand.Rand) transitions[F] {
	n := t.nominal
	t.system = quadrotor.NewQuadrotor[F](n.Dt, n.draw(rng))
	t.B, t.U = B, t.system.Dims().Tangent
	for b := range B {
		row := t.wind[b*t.U:][:t.U]
		for j := range 3 {
			push := n.Wind * n.Dt * rng.NormFloat64()
			row[j], row[3+j], row[6+j] = F(push*n.Dt/2), F(push), 0
		}
	}
	return t
}

// Step implements transitions.
func (t *nominalTile[F]) Step(h int, s, a, next []F) {
	st := &t.steps[h]
	st.s, st.a = s, a
	d := st.d[:t.B*t.U]
	clear(d)
	t.system.Carry(t.B, s, t.wind, d)
	t.system.Step(t.B, s, a, d, next)
}

// Backward implements transitions.
func (t *nominalTile[F]) Backward(h int, dnext, ds, da []F) {
	st, dd := &t.steps[h], t.dd[:t.B*t.U]
	clear(dd)
	t.system.StepVJP(t.B, st.s, st.a, st.d, dnext, ds, da, dd)
	t.system.CarryVJP(t.B, st.s, t.wind, dd, ds)
}
