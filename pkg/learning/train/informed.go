package train

import (
	"math/rand/v2"

	"vnd/pkg/nn/kernel"
	"vnd/pkg/robot"
	"vnd/pkg/vnd"
)

// Informed is another world under a constant disturbance that the policy is told instead of a latent (paper,
// "GT-Dist"). A latent of the other world's own stays at the prior mean. It wants a world that knows all but the
// disturbance, such as a residual fitted to flights in calm: in the full simulator, hovering in 3 m/s², one of the
// nominal world erred by 0.020 m and, improved in such a residual, by 0.008 m.
type Informed[F kernel.Float] struct {
	World World[F]
	Size  int // of what the policy is told; under z ~ N(0, I) it is drawn as a latent is
	// Push writes what the disturbance of z[Size] adds to a state in a step, m[M].
	Push func(z, m []F)
}

// System implements World.
func (w *Informed[F]) System() robot.System[F] { return w.World.System() }

// Latent implements World.
func (w *Informed[F]) Latent() int { return w.Size }

// Sample implements World: it draws of N(0, I).
func (w *Informed[F]) Sample(rng *rand.Rand, z []F) { vnd.Standard(rng, z) }

func (w *Informed[F]) reduced() World[F] {
	r := *w
	r.World = w.World.reduced()
	return &r
}

func (w *Informed[F]) tile(maxB, maxH int) worldTile[F] {
	d := w.System().Dims()
	return &informedTile[F]{informed: w, inner: w.World.tile(maxB, maxH), first: newPush[F](maxB, d),
		second: newPush[F](maxB, d)}
}

type informedTile[F kernel.Float] struct {
	informed      *Informed[F]
	inner         worldTile[F]
	steps         transitions[F]
	first, second push[F] // before and after the disturbance changes
	at            int
}

func (t *informedTile[F]) begin(B, H int, z latents[F], rng *rand.Rand) transitions[F] {
	t.at = H
	t.set(&t.first, B, z.first)
	if z.at > 0 {
		t.at = z.at
		t.set(&t.second, B, z.second)
	}
	t.steps = t.inner.begin(B, H, latents[F]{}, rng)
	return t
}

func (t *informedTile[F]) set(p *push[F], B int, z []F) {
	p.begin(B)
	for b := range B {
		t.informed.Push(z[t.informed.Size*b:][:t.informed.Size], p.of(b))
	}
}

// Step implements transitions.
func (t *informedTile[F]) Step(h int, s, a, next []F) {
	t.steps.Step(h, s, a, next)
	if h < t.at {
		t.first.add(next)
	} else {
		t.second.add(next)
	}
}

// Backward implements transitions: the disturbance is a constant.
func (t *informedTile[F]) Backward(h int, dnext, ds, da []F) { t.steps.Backward(h, dnext, ds, da) }
