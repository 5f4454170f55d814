package train

import (
	"math"
	"slices"
	"testing"

	"vnd/pkg/core/dist"
	"vnd/pkg/nn/kernel"
)

// afterOneEpoch is a trainer in the prior that has taken one step.
func afterOneEpoch(t *testing.T, change func(*Config)) *trainer {
	t.Helper()
	c := small(t)
	change(&c)
	k := holding[float32](4)
	opt := Options{Seed: 5, Task: k, Actor: untrained[float32](t, k, 0, 32, 32), New: true, Ranks: dist.Solo{}}
	tr, err := newTrainer(&c, prior[float32](), nominal.Dt, &opt)
	if err != nil {
		t.Fatal(err)
	}
	if err := tr.epoch(); err != nil {
		t.Fatal(err)
	}
	return tr
}

// TestDiscountWeighsTheGradient: without a discount later steps count more, in the same episodes.
func TestDiscountWeighsTheGradient(t *testing.T) {
	norm := func(discount float64) float64 {
		tr := afterOneEpoch(t, func(c *Config) { c.Discount = discount })
		return math.Sqrt(kernel.SquaredNorm(tr.grad))
	}
	if half, most, all := norm(0.5), norm(0.99), norm(1); !(half < most && most < all) {
		t.Errorf("norms of the gradient with discounts of 0.5, 0.99 and 1: %.4f, %.4f, %.4f, want them to rise",
			half, most, all)
	}
}

// TestGradientIsClipped: what Adam takes of a long gradient has the configured norm.
func TestGradientIsClipped(t *testing.T) {
	const clip = 0.001
	tr := afterOneEpoch(t, func(c *Config) { c.Clip = clip })
	long := math.Sqrt(kernel.SquaredNorm(tr.grad))
	taken := math.Sqrt(kernel.SquaredNorm(tr.adam.M)) / (1 - tr.adam.Beta1)
	if !(long > 2*clip) || math.Abs(taken-clip) > 1e-3*clip {
		t.Errorf("of a gradient of norm %.4f Adam took one of %.4f, want %.4f", long, taken, clip)
	}
	free := afterOneEpoch(t, func(c *Config) { c.Clip = 0 })
	if slices.Equal(free.adam.M, tr.adam.M) {
		t.Error("a clip of 0 clips")
	}
}
