// Package rotorfit fits models of package rotors to recordings: through many steps, to the mean norms of the errors.
package rotorfit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"vnd/pkg/nn/layers"
	"vnd/pkg/robot/rotors"
)

// Options are how a model is fitted.
type Options struct {
	Steps   int               // of the longest rollout
	Updates int               // of the parameters
	Blocks  int               // of rotors.Lanes starts each, for one update
	Rate    float64           // of Adam, at its highest
	Weights [Channels]float64 // of p, v, R, w, beside their natural scales
	// Even is the power of a flight's own mean loss that its weight falls with: 0 takes every row alike, 1 is the
	// likelihood of errors whose size differs from flight to flight.
	Even float64
	// Only are the indices of the numbers that are fitted; nil fits all.
	Only    []int
	Seed    uint64
	Threads int
	Report  func(Progress) // may be nil
}

// What fits take by default: blocks of an update, the highest rate of Adam, filters of an observer.
const (
	Blocks  = 8
	Rate    = .01
	Filters = 24
)

// Progress is where a fit stands.
type Progress struct {
	Update, Updates int
	Loss            float64
}

// trainer is a fit under way.
type trainer struct {
	m       *rotors.Model
	o       Options
	starts  []rotors.Start
	weights [][Channels]float64 // [steps], divided by scales
	rng     *rand.Rand
	adam    *layers.Adam[float64]
	blocks  []*block
	scale   map[*rotors.Flight]float64 // running mean loss of each flight
	mean    float64                    // of all
}

// block is one rollout with its gradient.
type block struct {
	roll   *rotors.Rollout
	starts [rotors.Lanes]rotors.Start
	weight [rotors.Lanes]float64
	loss   [rotors.Lanes]float64 // without weight
	dtheta []float64
}

// Run fits the model to the flights.
func Run(ctx context.Context, m *rotors.Model, flights []*rotors.Flight, o Options) error {
	t := &trainer{m: m, o: o, rng: rand.New(rand.NewPCG(o.Seed, 0x726f746f7273)),
		adam: layers.NewAdam[float64](len(m.Theta)), scale: map[*rotors.Flight]float64{}}
	t.adam.Beta2, t.adam.Clip = .99, 5
	for _, f := range flights {
		t.starts = append(t.starts, f.Starts(m.Config.History, 1, o.Steps)...)
	}
	if len(t.starts) == 0 {
		return fmt.Errorf("no flight has %d rows without a gap", m.Config.History+o.Steps+1)
	}
	t.weights = scaled(t.starts, o)
	for range o.Blocks {
		t.blocks = append(t.blocks, &block{roll: m.NewRollout(o.Steps), dtheta: make([]float64, len(m.Theta))})
	}
	for u := range o.Updates {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := t.update(u); err != nil {
			return err
		}
		if o.Report != nil {
			o.Report(Progress{u + 1, o.Updates, t.mean})
		}
	}
	return nil
}

// scaled divides the weights by the mean error of a naive prediction at each step: constant velocity for the
// position, constant attitude, velocity and rates.
func scaled(starts []rotors.Start, o Options) [][Channels]float64 {
	w := make([][Channels]float64, o.Steps)
	stride := max(1, len(starts)/2000)
	for h := range w {
		var sum [Channels]float64
		n := 0.
		for i := 0; i < len(starts); i += stride {
			f, k := starts[i].Flight, starts[i].Row
			x := f.State[k]
			for j := range 3 {
				x[j] += x[7+j] * (f.Time[k+h+1] - f.Time[k])
			}
			for c, e := range Errors(&x, &f.State[k+h+1]) {
				sum[c] += e
			}
			n++
		}
		for c := range w[h] {
			w[h][c] = o.Weights[c] / (sum[c]/n + 1e-6) / float64(o.Steps)
		}
	}
	return w
}

// Shares of the updates with short rollouts, and from where the rate falls.
const (
	shortShare, middleShare, fallShare = .1, .2, .3
	shortSteps, middleSteps            = 10, 25
	warmUpdates                        = 50
)

// at returns the rollout's steps and the learning rate of an update.
func (o *Options) at(update int) (steps int, rate float64) {
	share, steps := float64(update)/float64(o.Updates), o.Steps
	switch {
	case share < shortShare:
		steps = min(steps, shortSteps)
	case share < middleShare:
		steps = min(steps, middleSteps)
	}
	rate = o.Rate * min(1, float64(update+1)/warmUpdates)
	if share > fallShare {
		rate *= .5 * (1 + math.Cos(math.Pi*(share-fallShare)/(1-fallShare)))
	}
	return steps, rate
}

// Of the running means: of all starts per update, and of a flight per start of its own.
const meanRate, flightRate = .02, .005

// largestWeight bounds that of a flight.
const largestWeight = 4

func (t *trainer) update(u int) error {
	steps, rate := t.o.at(u)
	for _, b := range t.blocks { // in order: randomness does not depend on threads
		for l := range b.starts {
			b.starts[l] = t.starts[t.rng.IntN(len(t.starts))]
			b.weight[l] = t.weightOf(b.starts[l].Flight, u)
		}
	}
	t.gradients(steps)
	gradient := t.blocks[0].dtheta
	loss, n := 0., float64(len(t.blocks)*rotors.Lanes)
	for i, b := range t.blocks {
		for l, e := range b.loss {
			loss += e / n
			t.observe(b.starts[l].Flight, e)
		}
		for j, g := range b.dtheta {
			if i > 0 {
				gradient[j] += g
			}
		}
	}
	for j := range gradient {
		gradient[j] /= n
	}
	if t.o.Only != nil {
		keepOnly(gradient, t.o.Only)
	}
	if t.mean += meanRate * (loss - t.mean); u == 0 {
		t.mean = loss
	}
	if norm := t.adam.Update(t.m.Theta, gradient, rate); math.IsNaN(norm) || math.IsInf(norm, 0) {
		return errors.New("the fit diverged: a gradient is not finite; check units and motor order of the flights")
	}
	return nil
}

// keepOnly sets all of x to 0 but the indices.
func keepOnly(x []float64, indices []int) {
	kept := make([]float64, len(indices))
	for i, at := range indices {
		kept[i] = x[at]
	}
	clear(x)
	for i, at := range indices {
		x[at] = kept[i]
	}
}

func (t *trainer) weightOf(f *rotors.Flight, update int) float64 {
	if own := t.scale[f]; update >= 2*warmUpdates && own > 0 {
		return min(largestWeight, math.Pow(t.mean/own, t.o.Even))
	}
	return 1
}

func (t *trainer) observe(f *rotors.Flight, loss float64) {
	if own, ok := t.scale[f]; ok {
		t.scale[f] = own + flightRate*(loss-own)
	} else {
		t.scale[f] = loss
	}
}

// gradients runs the blocks, on the threads.
func (t *trainer) gradients(steps int) {
	var wait sync.WaitGroup
	free := make(chan struct{}, max(1, t.o.Threads))
	for _, b := range t.blocks {
		wait.Add(1)
		free <- struct{}{}
		go func() {
			defer wait.Done()
			b.gradient(steps, t.weights)
			<-free
		}()
	}
	wait.Wait()
}

func (b *block) gradient(steps int, weights [][Channels]float64) {
	clear(b.dtheta)
	clear(b.loss[:])
	b.roll.Forward(b.starts, steps)
	b.roll.Backward(steps, b.dtheta, func(h int, states, ds []float64) {
		for l, s := range b.starts {
			w := weights[h-1]
			for c := range w {
				w[c] *= b.weight[l]
			}
			b.loss[l] += pull(states, ds, l, &s.Flight.State[s.Row+h], &w) / b.weight[l]
		}
	})
}
