package train

import (
	"math/rand/v2"

	"vnd/pkg/dynamics"
	"vnd/pkg/kernel"
	"vnd/pkg/quad"
	"vnd/pkg/so3"
)

// Informed is another world under a constant wind that the policy is told instead of a latent: the world of an oracle
// (paper, "GT-Dist"). A latent of the other world's own stays at the prior mean. An oracle wants a world that knows all but
// the wind, such as a residual fitted to flights in calm: in the full simulator, hovering in 3 m/s², one of the nominal world
// erred by 0.020 m and, improved in such a residual, by 0.008 m.
type Informed[F kernel.Float] struct {
	World World[F]
	Dt    float64 // s
	// Spread is the unit of the policy's input, m/s²: under z ~ N(0, I) the standard deviation of the wind on each axis.
	Spread float64
}

// Told is what a policy of Informed sees in place of a latent under a wind, an acceleration in the world, m/s².
func Told[F kernel.Float](wind so3.Vec3, spread float64) [3]F {
	return [3]F{F(wind.X / spread), F(wind.Y / spread), F(wind.Z / spread)}
}

// System implements World.
func (w *Informed[F]) System() dynamics.System[F] { return w.World.System() }

// Latent implements World.
func (w *Informed[F]) Latent() int { return 3 }

func (w *Informed[F]) tile(maxB, maxH int) worldTile[F] {
	d := w.System().Dims()
	return &informedTile[F]{informed: w, inner: w.World.tile(maxB, maxH), dims: d, push: make([]F, maxB*d.Measured)}
}

type informedTile[F kernel.Float] struct {
	informed *Informed[F]
	inner    worldTile[F]
	steps    transitions[F]
	dims     dynamics.Dims
	B        int
	push     []F // [B][M] what the wind adds to the measured part in a step
}

func (t *informedTile[F]) begin(B, H int, z []F, rng *rand.Rand) transitions[F] {
	t.B = B
	dt, spread := t.informed.Dt, t.informed.Spread
	for b := range B {
		wind := so3.Vec3{X: float64(z[3*b]), Y: float64(z[3*b+1]), Z: float64(z[3*b+2])}.Scale(spread)
		dynamics.Measured(&quad.State{P: wind.Scale(dt * dt / 2), V: wind.Scale(dt)}, t.push[b*t.dims.Measured:])
	}
	t.steps = t.inner.begin(B, H, nil, rng)
	return t
}

// Step implements transitions.
func (t *informedTile[F]) Step(h int, s, a, next []F) {
	t.steps.Step(h, s, a, next)
	for b := range t.B {
		row := next[b*t.dims.State:][:t.dims.Measured]
		for j, x := range t.push[b*t.dims.Measured:][:t.dims.Measured] {
			row[j] += x
		}
	}
}

// Backward implements transitions: the wind is a constant.
func (t *informedTile[F]) Backward(h int, dnext, ds, da []F) { t.steps.Backward(h, dnext, ds, da) }
