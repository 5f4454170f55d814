package layers

import (
	"math"

	"vnd/pkg/nn/kernel"
)

// Adam is the optimiser of Kingma and Ba over one flat parameter slice, with
// the gradient clipped by its global norm and weight decay decoupled from it
// (Loshchilov and Hutter). All fields are its state: saved and restored, training
// resumes with the same bytes.
type Adam[F kernel.Float] struct {
	Beta1, Beta2 float64 // decay of the moments
	Epsilon      float64
	WeightDecay  float64 // taken away per step, times the learning rate; 0: none
	Clip         float64 // largest global norm of the gradient; 0: no clipping
	Steps        int     // updates so far
	M, V         []F     // first and second moment
}

// NewAdam is Adam for n parameters with β1 = 0.9, β2 = 0.999, ε = 1e-8, no
// clipping and no weight decay.
func NewAdam[F kernel.Float](n int) *Adam[F] {
	return &Adam[F]{Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8, M: make([]F, n), V: make([]F, n)}
}

// Update moves params along grad with learning rate rate and returns the global
// norm of grad before clipping. A gradient that is not finite changes nothing:
// the caller sees it in the norm.
func (a *Adam[F]) Update(params, grad []F, rate float64) (norm float64) {
	norm = math.Sqrt(kernel.SquaredNorm(grad))
	if math.IsNaN(norm) || math.IsInf(norm, 0) {
		return norm
	}
	scale := 1.0
	if a.Clip > 0 && norm > a.Clip {
		scale = a.Clip / norm
	}
	a.Steps++
	t := float64(a.Steps)
	kernel.Adam(kernel.AdamStep{
		Rate:  rate / (1 - math.Pow(a.Beta1, t)),
		Beta1: a.Beta1, Beta2: a.Beta2,
		Correct2:  1 / (1 - math.Pow(a.Beta2, t)),
		Epsilon:   a.Epsilon,
		Decay:     rate * a.WeightDecay,
		GradScale: scale,
	}, params, grad, a.M, a.V)
	return norm
}
