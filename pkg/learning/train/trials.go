package train

import (
	"errors"
	"math/rand/v2"

	"vnd/pkg/robot"
	"vnd/pkg/vnd"
)

// Trials are flights in a world, always the same ones, that tell which of a
// training's policies to keep: over-trained in a world without lag or noise, a
// policy shakes in another.
type Trials struct {
	World   World[float32]
	Task    robot.Task[float32]
	Dt      float64 // s
	Flights int
	Steps   int // of each
	Seed    uint64
	Sample  func(rng *rand.Rand, z []float32) // draws a latent; nil is 0
}

// Number and length of the trial flights of every training.
const (
	TrialFlights = 16
	TrialSteps   = 200
)

// NewTrials returns the trial flights of a training, under the prior mean of the latent.
func NewTrials(w World[float32], k robot.Task[float32], dt float64, seed uint64) *Trials {
	return &Trials{World: w, Task: k, Dt: dt, Flights: TrialFlights, Steps: TrialSteps, Seed: seed}
}

// Fly returns the mean distance from the reference; after a collision a flight counts with
// its task's radius.
func (t *Trials) Fly(p *vnd.Actor[float32]) (float64, error) {
	sample := t.Sample
	if sample == nil {
		sample = func(rng *rand.Rand, z []float32) { clear(z) }
	}
	var f Figures
	for lo := 0; lo < t.Flights; lo += trialRows { // each with an actuator of its own
		n := min(trialRows, t.Flights-lo)
		tl := newTile(p, t.World, t.Task, t.Dt, n, t.Steps)
		tl.begin(n, t.Steps, rand.New(rand.NewPCG(t.Seed, uint64(lo))), sample)
		part := tl.forward(epoch{H: t.Steps, gamma: 1})
		f.Error += part.Error
	}
	if f.Error*0 != 0 {
		return 0, errors.New("a trial flight has no finite error")
	}
	return f.Error / float64(t.Flights*t.Steps), nil
}

// trialRows is how many trials share an actuator.
const trialRows = 4
