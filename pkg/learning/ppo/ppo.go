// Package ppo trains policies by proximal policy optimisation (Schulman et al., 2017). It asks no gradients of a world:
// those of contacts tell little.
//
// Shapes: N worlds, H steps of each in an iteration, O numbers that the policy sees, V that its critic sees, A actions.
// Arrays are row-major, H first, then N.
package ppo

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"vnd/pkg/vnd"
)

// World is N worlds side by side, in which episodes begin anew by themselves.
type World interface {
	Size() int // N
	Sizes() (observation, critic, actions int)
	// Observe writes what the policy sees, x[N][O], and what its critic sees, v[N][V], which may be hidden from the
	// policy.
	Observe(x, v []float32)
	// Step takes a step under actions u[N][A] within ±1, and writes reward[N] and end[N].
	Step(u, reward []float32, end []End) error
}

// End says whether an episode has ended with a step.
type End uint8

// Ends of an episode. One that is cut would have gone on: its value is not 0.
const (
	GoesOn End = iota
	Over
	Cut
)

// Config sizes a training.
type Config struct {
	Iterations, Steps   int     // H steps of every world in each iteration
	Epochs, Minibatches int     // of an iteration
	Discount, Lambda    float64 // of rewards, and of the generalised advantage
	Warmup              int     // iterations at first in which the critic alone learns
	Clip                float64 // of the ratio of probabilities
	Entropy             float64 // weight of the policy's
	Rate, KL            float64 // of learning, and the divergence of an iteration that it is adapted to; 0: it is not
	Deviation           float64 // of actions, at first
	Policy, Critic      []int   // units of hidden layers
	Seed                uint64
	Progress            func(Progress)
}

// Progress is that of an iteration.
type Progress struct {
	Iteration       int
	Reward, Return  float64 // mean of a step, and of the episodes that ended, which may be none: NaN
	Episodes        int
	KL, Rate        float64
	Deviation, Loss float64             // of actions; of the critic
	Policy          *vnd.Actor[float32] // as it is now: it goes on to change
}

// Defaults are those that the tests learn with.
func Defaults() Config {
	return Config{Iterations: 100, Steps: 64, Epochs: 4, Minibatches: 4, Discount: 0.99, Lambda: 0.95, Clip: 0.2,
		Entropy: 0.001, Rate: 6e-4, KL: 0.01, Deviation: 0.6, Policy: []int{64, 64}, Critic: []int{64, 64},
		Progress: func(Progress) {}}
}

func (c *Config) check(w World) error {
	rows := w.Size() * c.Steps
	if c.Iterations < 1 || c.Epochs < 1 || c.Minibatches < 1 || rows < 1 || rows%(c.Minibatches*shards) != 0 {
		return fmt.Errorf("%d iterations of %d worlds, %d steps, %d epochs, %d minibatches: expected at least one of "+
			"each, and minibatches of whole %d rows", c.Iterations, w.Size(), c.Steps, c.Epochs, c.Minibatches, shards)
	}
	within := func(x, most float64) bool { return x > 0 && x < most }
	if !within(c.Rate, 1) || !within(c.Clip, 1) || !within(c.Deviation, 10) || !within(c.Discount, 1) ||
		!within(c.Lambda, 1) {
		return fmt.Errorf("rate %g, clip %g, deviation %g, discount %g, lambda %g: expected more than 0 and less than "+
			"1, the deviation less than 10", c.Rate, c.Clip, c.Deviation, c.Discount, c.Lambda)
	}
	return nil
}

// Train trains a policy in a world, from nothing or from another one, which stays as it is. The same seed and world
// give the same bytes, on any number of processors.
func Train(ctx context.Context, c Config, w World, from *vnd.Actor[float32]) (*vnd.Actor[float32], error) {
	if err := c.check(w); err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(c.Seed, 1))
	l, err := newLearner[float32](&c, w, rng)
	if err != nil {
		return nil, err
	}
	if from != nil {
		if len(from.Net.Params) != len(l.actor.Net.Params) {
			return nil, fmt.Errorf("a policy of %d numbers to begin with, expected %d", len(from.Net.Params),
				len(l.actor.Net.Params))
		}
		copy(l.actor.Net.Params, from.Net.Params)
		l.actor.Net.Refresh()
		l.actor.Norm = from.Norm // under which its weights were learned
	}
	b := newBatch(w, c.Steps)
	if err := b.collect(l, w, rng); err != nil { // for the normalisers alone
		return nil, err
	}
	for i := range c.Iterations {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if from == nil {
			b.seen.write(&l.actor.Norm)
		}
		b.known.write(&l.norm)
		if err := b.collect(l, w, rng); err != nil {
			return nil, err
		}
		b.estimate(&c)
		l.waits = i < c.Warmup
		kl, loss := l.improve(&c, b, rng)
		if math.IsNaN(kl + loss) {
			return nil, fmt.Errorf("iteration %d: the loss is not a number", i)
		}
		p := b.progress()
		p.Iteration, p.KL, p.Loss, p.Rate, p.Policy = i, kl, loss, l.rate, l.actor
		p.Deviation = math.Exp(float64(l.logStd[0]))
		c.Progress(p)
	}
	return l.actor, nil
}
