package vnd

import (
	"math"
	"slices"
	"testing"
)

// TestLatentAges: from the eleventh step on a rollout runs under what is left of its latent after ten steps.
func TestLatentAges(t *testing.T) {
	ageing, held := random(t, vehicle, netConfig(1)), random(t, vehicle, netConfig(1))
	held.Age = 0
	const later = 10
	d, z := ageing.System.Dims(), []float32{2, -1, 1.5}
	s, hover := make([]float32, d.State), []float32{9.81, 0, 0, 0}
	s[3] = 1
	step := func(m *Model[float32], h int, z []float32) []float32 {
		next := make([]float32, d.State)
		r := m.NewMeanRollout(1, later+1)
		r.Begin(0, 1, later+1, z)
		r.Step(h, s, hover, next)
		return next
	}
	left := make([]float32, len(z))
	for i := range z {
		left[i] = z[i] * float32(math.Exp(-later/float64(ageing.Age)))
	}
	if got, want := step(ageing, 0, z), step(held, 0, z); !slices.Equal(got, want) {
		t.Errorf("the first step is %v, want that under the whole latent, %v", got, want)
	}
	if got, want := step(ageing, later, z), step(held, 0, left); !slices.Equal(got, want) {
		t.Errorf("step %d is %v, want that under the aged latent, %v", later, got, want)
	}
	if got := step(held, later, z); !slices.Equal(got, step(held, 0, z)) {
		t.Errorf("a latent that is held changes: step %d is %v", later, got)
	}
}
