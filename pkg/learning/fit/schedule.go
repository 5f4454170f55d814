package fit

import (
	"math"

	"vnd/pkg/nn/layers"
)

// curriculum is the share of the training in which the horizon grows.
const curriculum = .4

// slack is how far time may run ahead of the updates, as a share of the training, before it counts: a slow start on a
// machine that is fast enough must not change the numbers.
const slack = .05

// share is how far the schedule has come: by updates, or by time where that runs out first.
func (t *trainer) share() float64 {
	byTime := t.state.Elapsed.Minutes() / t.cfg.Train.Minutes
	byTime -= slack * (1 - byTime)
	return math.Min(1, math.Max(float64(t.state.Update)/float64(t.updates()), byTime))
}

// updates is the planned number: as configured, or less where the buffer is small.
func (t *trainer) updates() int {
	passes := t.cfg.Train.Passes * float64(len(t.train)) / float64(t.cfg.Train.Batch)
	return max(1, min(t.cfg.Train.Updates, int(passes)))
}

// horizon is the rollout length of the curriculum.
func (t *trainer) horizon(share float64) int {
	c := t.cfg.Train.Horizon
	i := min(int(share/curriculum*float64(len(c)-1)), len(c)-1)
	return max(1, int(c[i]*float64(t.cfg.Loss.Steps)+.5))
}

// rate is Adam's learning rate: a linear rise, then half a cosine.
func (t *trainer) rate(share float64) float64 {
	const parts = 1 << 20 // of the schedule
	s := layers.Schedule{Rate: t.cfg.Train.Rate, Warmup: int(parts * t.cfg.Train.Warmup), Total: parts}
	return s.At(int(parts * share))
}

// mmdWeight is the paper's annealed λ_mmd(e).
func (t *trainer) mmdWeight(share float64) float64 {
	l := &t.cfg.Loss
	return l.MMD * math.Min(1, math.Max(0, (share-l.MMDStart)/l.MMDRamp))
}
