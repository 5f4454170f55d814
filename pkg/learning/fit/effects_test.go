package fit

import (
	"math"
	"slices"
	"testing"

	"vnd/pkg/nn/kernel"
)

// begun is a trainer of a small model with a batch drawn at the end of its schedule.
func begun(t *testing.T, change func(*Config)) *trainer {
	t.Helper()
	cfg := quick()
	change(&cfg)
	tr, err := newTrainer(&cfg, vehicleWith(3, 80), Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	tr.draw(1)
	return tr
}

// TestMMDTakesPart: at the end of the schedule the MMD has its whole weight, a value, and a part in the gradient.
func TestMMDTakesPart(t *testing.T) {
	tr := begun(t, func(c *Config) { c.Loss.MMD = 0.7 })
	if tr.batch.mmd != 0.7 {
		t.Errorf("weight %g, want 0.7", tr.batch.mmd)
	}
	gradient := func() (mmd float64, grad []float32) {
		losses, err := tr.pool.gradients(&tr.batch, tr.grad)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range losses {
			mmd += l.MMD
		}
		return mmd, slices.Clone(tr.grad)
	}
	with, grad := gradient()
	tr.batch.mmd = 0
	without, bare := gradient()
	if !(with > 0) || without != 0 || slices.Equal(grad, bare) {
		t.Errorf("loss %g with the term and %g without; the same gradient: %v",
			with, without, slices.Equal(grad, bare))
	}
	if err := tr.update(1); err != nil {
		t.Fatal(err)
	}
	l := tr.state.Recent
	want := l.Dynamics + tr.cfg.Loss.Reconstruction*l.Reconstruction + 0.7*l.MMD
	if math.Abs(l.Total-want) > 1e-9*want {
		t.Errorf("the total of %+v is not %g", l, want)
	}
}

// TestGainJitterScalesThrust: contexts are trained under thrust gains of the configured spread; rates stay.
func TestGainJitterScalesThrust(t *testing.T) {
	tr := begun(t, func(c *Config) { c.Train.GainJitter, c.Train.Batch = 0.15, 512 })
	var mean, square float64
	for _, g := range tr.batch.gains {
		mean += math.Log(g) / 512
		square += math.Log(g) * math.Log(g) / 512
	}
	if sigma := math.Sqrt(square - mean*mean); math.Abs(mean) > 0.02 || math.Abs(sigma-0.15) > 0.02 {
		t.Errorf("logarithms of the gains: mean %.3f, spread %.3f, want 0 and 0.15", mean, sigma)
	}
	actions := []float32{9, 1, 2, 3, 10, 4, 5, 6}
	w := tr.pool.workers[0]
	if w.vary(actions, []float64{1, 2}, 1); !slices.Equal(actions, []float32{18, 1, 2, 3, 20, 4, 5, 6}) {
		t.Errorf("under a gain of 2: %v", actions)
	}
	p := newShard(tr.model, 0, 1, nil)
	w.read(p, tr.train[:1], []float64{1})
	plain := slices.Clone(p.windows.Actions)
	if w.read(p, tr.train[:1], []float64{2}); p.windows.Actions[0] != 2*plain[0] || p.windows.Actions[1] != plain[1] {
		t.Errorf("a window under a gain of 2 begins with %v, want twice the thrust of %v",
			p.windows.Actions[:4], plain[:4])
	}
	none := begun(t, func(c *Config) { c.Train.GainJitter = 0 }).batch.gains
	if slices.Max(none) != 1 || slices.Min(none) != 1 {
		t.Errorf("without jitter the gains are %v", none)
	}
}

// TestWindowsAreMeasuredOrKnown: in training windows are in turn as measured and as known afterwards, in validation as
// measured.
func TestWindowsAreMeasuredOrKnown(t *testing.T) {
	tr := begun(t, func(*Config) {})
	g, T := &tr.pool.workers[0].data.segments[0], int32(tr.model.Net.Context)
	g.True = slices.Clone(g.Measured)
	for k := 0; k < len(g.True); k += 10 {
		g.True[k+7]++ // m/s
	}
	p := newShard(tr.model, 0, 1, nil)
	read := func(at int32, gains []float64) []float32 {
		tr.pool.workers[0].read(p, []start{{0, at}}, gains)
		return slices.Clone(p.windows.Start)
	}
	for _, at := range []int32{T + 2, T + 3} {
		known := !slices.Equal(read(at, []float64{1}), read(at, nil))
		if want := at%2 == 1; known != want {
			t.Errorf("row %d: as known %v", at, known)
		}
	}
}

// TestGradientIsClipped: what Adam takes of a long gradient has the configured norm.
func TestGradientIsClipped(t *testing.T) {
	const clip = 0.01
	tr := begun(t, func(c *Config) { c.Train.Clip = clip })
	if err := tr.update(0.5); err != nil {
		t.Fatal(err)
	}
	long := math.Sqrt(kernel.SquaredNorm(tr.grad))
	taken := math.Sqrt(kernel.SquaredNorm(tr.adam.M)) / (1 - tr.adam.Beta1)
	if !(long > 2*clip) || math.Abs(taken-clip) > 1e-3*clip {
		t.Errorf("of a gradient of norm %.4f Adam took one of %.4f, want %.4f", long, taken, clip)
	}
}

// TestFitKeepsTheBestWeights: the model of a fit has the averaged weights with the least validation loss, not the last.
func TestFitKeepsTheBestWeights(t *testing.T) {
	cfg := quick()
	cfg.Train.Updates = 40
	tr, err := newTrainer(&cfg, vehicleWith(5, 100), Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	tr.state.Best, tr.state.BestLoss = slices.Clone(tr.model.Net.Params), 0 // none is better
	best := slices.Clone(tr.state.Best)
	if err := tr.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(tr.model.Net.Params, best) || slices.Equal(tr.state.Average, best) {
		t.Error("the model does not have the best weights")
	}
}
