package learned

import "math"

// A window whose mean leftover is this many times its RMS on flights that the model knows begins to be new, and is
// wholly new at the second. Measured on wind-tunnel flights: winds of the training have a median of 0.9 and a 99 % quantile
// of 2.6, a wind a third stronger than any in the training has 7.4, and 4 at its 5 % quantile.
const (
	beginsNew = 2
	whollyNew = 4
)

// Surprise is how many times its RMS on known flights the window's mean leftover [U] is, in the quantity where that is
// most.
func (m *Model[F]) Surprise(leftover []F) F {
	farthest := 0.
	for _, sp := range m.System.TangentSpans() {
		sum := 0.
		for j := sp.Lo; j < sp.Hi; j++ {
			if known := m.Leftover[j]; known > 0 {
				x := float64(leftover[j] / known)
				sum += x * x / float64(sp.Hi-sp.Lo)
			}
		}
		farthest = max(farthest, math.Sqrt(sum))
	}
	return F(farthest)
}

// Novelty is 0 where the model knows the condition of a window and 1 where it does not.
func (m *Model[F]) Novelty(leftover []F) F {
	return min(1, max(0, (m.Surprise(leftover)-beginsNew)/(whollyNew-beginsNew)))
}

// AnchorWeight is the weight of a leftover in prediction: Known where the condition is known, 1 where it is new, so that
// an unseen wind is predicted no worse than by the recent mean.
func (m *Model[F]) AnchorWeight(leftover []F) F { return m.Known + (1-m.Known)*m.Novelty(leftover) }
