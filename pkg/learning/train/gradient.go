package train

import (
	"math/rand/v2"

	"vnd/pkg/nn/kernel"
	"vnd/pkg/robot"
	"vnd/pkg/vnd"
)

// Check is a batch of episodes whose gradient a test compares with central differences: those of a new System or Task.
type Check[F kernel.Float] struct {
	Actor *vnd.Actor[F]
	World World[F]
	Task  robot.Task[F]
	Dt    float64 // s
	B, H  int     // episodes and their steps
	Seed  uint64
	Gamma float64 // discount of a step
	// As of Config.
	Jitter, SwitchShare float64
	BFloat16            bool
}

// Gradient returns the discounted cost of the episodes under latents of N(0, I), per episode and without steps that
// ended in a collision, its gradient in the actor's parameters, and the number of collisions.
func (c *Check[F]) Gradient() (cost float64, grad []F, collided int) {
	p, w := *c.Actor, c.World
	if c.BFloat16 {
		p.Net, w = p.Net.BFloat16(), w.reduced()
	}
	p.Net.Refresh()
	t := newTile(&p, w, c.Task, c.Dt, c.B, c.H)
	t.randomisation = randomisation{c.Jitter, c.SwitchShare}
	t.begin(c.B, c.H, rand.New(rand.NewPCG(c.Seed, c.Seed)), func(rng *rand.Rand, z []F) {
		for i := range z {
			z[i] = F(rng.NormFloat64())
		}
	})
	e := epoch{H: c.H, gamma: c.Gamma, scale: 1 / float64(c.B)}
	collided = int(t.forward(e).Collided)
	for h := range c.H {
		tr := t.transition(h)
		t.episodes.Costs(h, &tr, t.cost[:c.B], t.off[:c.B])
		for b, x := range t.cost[:c.B] {
			if t.alive[(h+1)*c.B+b] != 0 {
				cost += float64(t.alive[h*c.B+b]*x) * e.scale
			}
		}
	}
	t.backward(e)
	return cost, t.grad, collided
}
