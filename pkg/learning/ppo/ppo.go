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
	"time"

	"vnd/pkg/core/atomicfile"
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
	Progress            func(Progress) `json:"-"`
	// Checkpoint is a file that keeps the training, in a world that is Kept, until its caller removes it; empty keeps
	// none. The same training goes on from it. Key names what else decides the training: the world.
	Checkpoint string `json:"-"`
	Key        string
}

// Progress is that of an iteration.
type Progress struct {
	Iteration       int
	Reward, Return  float64 // mean of a step, and of the episodes that ended, which may be none: NaN
	Episodes        int
	KL, Rate        float64
	Deviation, Loss float64             // of actions; of the critic
	Elapsed         time.Duration       // interruptions left out
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
	if _, ok := w.(Kept); c.Checkpoint != "" && !ok {
		return fmt.Errorf("checkpoint %s: the state of this world cannot be kept, expected none", c.Checkpoint)
	}
	return nil
}

// training is one under way.
type training struct {
	*Config
	world  World
	source *rand.PCG
	rng    *rand.Rand // of source
	l      *learner[float32]
	b      *batch
	fresh  bool // the policy began from nothing
	at     int  // iteration
	key    string
	before time.Duration // that it took until it was interrupted
	began  time.Time
}

// Train trains a policy in a world, from nothing or from another one, which stays as it is. The same seed and world
// give the same bytes, on any number of processors. ctx ends it early with ctx's error; a checkpoint, if asked for, is
// then whole.
func Train(ctx context.Context, c Config, w World, from *vnd.Actor[float32]) (*vnd.Actor[float32], error) {
	if err := c.check(w); err != nil {
		return nil, err
	}
	t := &training{Config: &c, world: w, source: rand.NewPCG(c.Seed, 1), fresh: from == nil, key: keyOf(&c, from),
		began: time.Now()}
	t.rng = rand.New(t.source)
	if err := t.begin(from); err != nil {
		return nil, err
	}
	saved := time.Now()
	for t.at < c.Iterations {
		if ctx.Err() != nil {
			return nil, t.stop(ctx)
		}
		if err := t.iterate(); err != nil {
			return nil, err
		}
		if time.Since(saved) > atomicfile.Every {
			if err := t.save(); err != nil {
				return nil, err
			}
			saved = time.Now()
		}
	}
	return t.l.actor, nil
}

// begin makes the nets, and takes up what was kept.
func (t *training) begin(from *vnd.Actor[float32]) (err error) {
	if t.l, err = newLearner[float32](t.Config, t.world, t.rng); err != nil {
		return err
	}
	if actor := t.l.actor; from != nil {
		if len(from.Net.Params) != len(actor.Net.Params) {
			return fmt.Errorf("a policy of %d numbers to begin with, expected %d", len(from.Net.Params),
				len(actor.Net.Params))
		}
		copy(actor.Net.Params, from.Net.Params)
		actor.Net.Refresh()
		actor.Norm = from.Norm // under which its weights were learned
	}
	t.b = newBatch(t.world, t.Steps)
	if found, err := t.resume(); found || err != nil {
		return err
	}
	return t.b.collect(t.l, t.world, t.rng) // for the normalisers alone
}

// iterate collects steps and learns from them.
func (t *training) iterate() error {
	l, b := t.l, t.b
	if t.fresh {
		b.seen.write(&l.actor.Norm)
	}
	b.known.write(&l.norm)
	if err := b.collect(l, t.world, t.rng); err != nil {
		return err
	}
	b.estimate(t.Config)
	l.waits = t.at < t.Warmup
	kl, loss := l.improve(t.Config, b, t.rng)
	if math.IsNaN(kl + loss) {
		return fmt.Errorf("iteration %d: the loss is not a number", t.at)
	}
	p := b.progress()
	p.Iteration, p.KL, p.Loss, p.Rate, p.Policy, p.Elapsed = t.at, kl, loss, l.rate, l.actor, t.elapsed()
	p.Deviation = math.Exp(float64(l.logStd[0]))
	t.at++
	t.Progress(p)
	return nil
}

func (t *training) elapsed() time.Duration { return t.before + time.Since(t.began) }
