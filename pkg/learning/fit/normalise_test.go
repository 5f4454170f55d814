package fit

import (
	"math"
	"slices"
	"testing"
)

// TestWiden: a channel of which flights in calm hover say hardly anything keeps a spread, one that is off stays off,
// and one that varies is left alone.
func TestWiden(t *testing.T) {
	spans := slices.Clone(vehicle.System().InputSpans()[:3]) // position, velocity, attitude, here of fewer channels
	for i, hi := range []int{1, 3, 5} {
		spans[i].Lo, spans[i].Hi = max(0, hi-2), hi
	}
	m := newMoments(5)
	for i := range 1000 {
		x := math.Sin(float64(i))
		m.add([]float32{float32(1e-3 * x), float32(0.03 * x), float32(1.5 * x), 1, float32(1 + 5e-4*x)})
	}
	n := m.norm()
	was := n.Scale[2]
	widen(spans, n.Scale)
	for j, want := range []float32{n.Scale[0], 1 / float32(0.2), was, 0, 1 / float32(0.05)} {
		if n.Scale[j] != want {
			t.Errorf("channel %d: scale %v, expected %v", j, n.Scale[j], want)
		}
	}
	if n.Scale[0] < 1000 {
		t.Errorf("position, which has no least spread, has scale %v", n.Scale[0])
	}
}
