package vnd

import "math"

// ratioOfNovel is the ResidualRatio from which on novelty is 1. Measured on wind-tunnel flights at 1 s: for
// a wind a third stronger than any in the training, 1.5 to 2 are alike and 3 is 5 % worse.
const ratioOfNovel = 1.5

// disturbance names the span of the tangent in which an unknown force shows.
const disturbance = "velocity"

// ResidualRatio is the size of a window's residual mean [U] in units of what known flights leave: 1 where only one
// known window in fifty leaves more.
func (m *Model[F]) ResidualRatio(residualMean []F) F {
	sum := 0.
	for _, sp := range m.System.TangentSpans() {
		if sp.Name != disturbance {
			continue
		}
		for j := sp.Lo; j < sp.Hi; j++ {
			if known := m.ResidualScale[j]; known > 0 {
				x := float64(residualMean[j] / known)
				sum += x * x / float64(sp.Hi-sp.Lo)
			}
		}
	}
	return F(math.Sqrt(sum))
}

// Novelty is 0 where the model knows the condition of a window and 1 where it does not.
func (m *Model[F]) Novelty(residualMean []F) F {
	return min(1, max(0, (m.ResidualRatio(residualMean)-1)/(ratioOfNovel-1)))
}

// BiasWeight is the weight of a residual mean in prediction: Known where the condition is known, 1 where it is new, so
// that an unseen wind is predicted no worse than by the recent mean.
func (m *Model[F]) BiasWeight(residualMean []F) F {
	return m.Known + (1-m.Known)*m.Novelty(residualMean)
}
