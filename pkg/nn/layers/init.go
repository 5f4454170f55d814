package layers

import (
	"math"
	"math/rand/v2"

	"vnd/pkg/nn/kernel"
)

// LeCunUniform fills w with uniform numbers of variance gain²/fanIn, which keeps
// the variance of a linear layer's input.
func LeCunUniform[F kernel.Float](rng *rand.Rand, w []F, fanIn int, gain float64) {
	uniform(rng, w, gain*math.Sqrt(3/float64(fanIn)))
}

// GlorotUniform fills w with uniform numbers of variance 2·gain²/(fanIn+fanOut),
// which balances the variance forward and backward.
func GlorotUniform[F kernel.Float](rng *rand.Rand, w []F, fanIn, fanOut int, gain float64) {
	uniform(rng, w, gain*math.Sqrt(6/float64(fanIn+fanOut)))
}

func uniform[F kernel.Float](rng *rand.Rand, w []F, limit float64) {
	for i := range w {
		w[i] = F(limit * (2*rng.Float64() - 1))
	}
}
