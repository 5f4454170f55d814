package vnd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"vnd/pkg/nn/kernel"
	"vnd/pkg/vnd/bundle"
)

// LatentPrior is the distribution that training draws latents from: a kernel density estimate over recorded windows,
// with a Gaussian around each of K latents. Beside it is one Gaussian over all of them, for what lies between and
// beyond the conditions met. Tails are cut.
type LatentPrior struct {
	Centres []float32 // [K][Z]
	Mean    []float32 // [Z] of the wide Gaussian
	Near    []float32 // [Z(Z+1)/2] factor of the covariance around each centre: lower triangular, row after row
	Wide    []float32 // [Z(Z+1)/2] that of the wide Gaussian
}

const (
	// LatentCentres is the most that K is: more were no better by what samples do, and make bundles larger.
	LatentCentres = 512
	// wideShare is how many samples are of the wide Gaussian.
	wideShare = 0.2
	// farthestLatent is the greatest number that a bundle's prior may hold.
	farthestLatent = 1e3
)

// triangle is how many numbers a lower triangle of Z rows has.
func triangle(Z int) int { return Z * (Z + 1) / 2 }

// NewLatentPrior estimates the prior of latents z[N][Z]. Its centres are LatentCentres of them, evenly taken; the shape
// of their Gaussians is that of the distances of centres from their nearest neighbours. It is nil without latents that
// are finite.
func NewLatentPrior(z []float32, Z int) *LatentPrior {
	if Z == 0 || len(z) < Z {
		return nil
	}
	N := len(z) / Z
	K := min(N, LatentCentres)
	p := &LatentPrior{Centres: make([]float32, 0, K*Z), Mean: make([]float32, Z)}
	for k := range K {
		p.Centres = append(p.Centres, z[k*N/K*Z:][:Z]...)
		kernel.Axpy(1/float32(K), p.centre(k, Z), p.Mean)
	}
	near, wide := mat.NewSymDense(Z, nil), mat.NewSymDense(Z, nil)
	for j := range Z { // where all centres are one, too, there is a factor
		near.SetSym(j, j, 1e-6)
		wide.SetSym(j, j, 1e-6)
	}
	for k := range K {
		addSquare(near, .5/float64(K), p.centre(k, Z), p.centre(p.neighbour(k, Z), Z))
		addSquare(wide, 1/float64(K), p.centre(k, Z), p.Mean)
	}
	if p.Near, p.Wide = factor(near), factor(wide); p.Near == nil || p.Wide == nil {
		return nil
	}
	return p
}

// addSquare adds weight (a−b)(a−b)ᵀ.
func addSquare(to *mat.SymDense, weight float64, a, b []float32) {
	d := mat.NewVecDense(len(a), nil)
	for j := range a {
		d.SetVec(j, float64(a[j]-b[j]))
	}
	to.SymRankOne(to, weight, d)
}

// factor is the lower triangular L with L Lᵀ the covariance, row after row; nil where that is not finite.
func factor(covariance *mat.SymDense) (packed []float32) {
	var c mat.Cholesky
	var L mat.TriDense
	if !c.Factorize(covariance) {
		return nil
	}
	c.LTo(&L)
	for i := range covariance.SymmetricDim() {
		for j := range i + 1 {
			packed = append(packed, float32(L.At(i, j)))
		}
	}
	return packed
}

func (p *LatentPrior) centre(k, Z int) []float32 { return p.Centres[k*Z:][:Z] }

// neighbour is the centre nearest to centre k; k where there is no other.
func (p *LatentPrior) neighbour(k, Z int) int {
	nearest, least := k, float32(math.Inf(1))
	for i := range len(p.Centres) / Z {
		var square float32
		for j, x := range p.centre(i, Z) {
			d := x - p.Centres[k*Z+j]
			square += d * d
		}
		if i != k && square < least {
			nearest, least = i, square
		}
	}
	return nearest
}

// Bounds is the box that holds each centre and the samples around it, [Z] from least to most.
func (p *LatentPrior) Bounds() (least, most []float32) {
	Z := len(p.Mean)
	least, most = slices.Clone(p.centre(0, Z)), slices.Clone(p.centre(0, Z))
	for i, x := range p.Centres {
		least[i%Z], most[i%Z] = min(least[i%Z], x), max(most[i%Z], x)
	}
	for i := range Z {
		row := p.Near[triangle(i):][:i+1]
		reach := float32(longest(Z) * math.Sqrt(kernel.SquaredNorm(row)))
		least[i], most[i] = least[i]-reach, most[i]+reach
	}
	return least, most
}

// longest is the greatest length of a standard normal vector that is drawn: 1.5 times what is usual.
func longest(Z int) float64 { return 1.5 * math.Sqrt(float64(Z+1)) }

// Sample draws z[Z] of the model's latent prior; of N(0, I) where it has none, as those of bundles of before.
func (m *Model[F]) Sample(rng *rand.Rand, z []F) {
	if m.LatentPrior == nil {
		Standard(rng, z)
		return
	}
	draw(m.LatentPrior, rng, z)
}

// Standard draws z[Z] of N(0, I).
func Standard[F kernel.Float](rng *rand.Rand, z []F) {
	for i := range z {
		z[i] = F(rng.NormFloat64())
	}
}

// draw takes one of the Gaussians, and of it a vector that is not too long.
func draw[F kernel.Float](p *LatentPrior, rng *rand.Rand, z []F) {
	Z := len(z)
	n, mean, L := make([]float64, Z), p.centre(rng.IntN(len(p.Centres)/Z), Z), p.Near
	if rng.Float64() < wideShare {
		mean, L = p.Mean, p.Wide
	}
	for square := math.Inf(1); square > longest(Z)*longest(Z); {
		square = 0
		for i := range n {
			n[i] = rng.NormFloat64()
			square += n[i] * n[i]
		}
	}
	for i := range z {
		x := float64(mean[i])
		for j, l := range L[triangle(i):][:i+1] {
			x += float64(l) * n[j]
		}
		z[i] = F(x)
	}
}

// centres is the dimension of a bundle that says how many centres its latent prior has.
const centres = "latent_centres"

// tensors lists what a bundle keeps of the prior of latents of Z numbers.
func (p *LatentPrior) tensors(Z int) []bundle.Tensor {
	return []bundle.Tensor{{Name: "latent_prior.centres", Shape: []int{len(p.Centres) / Z, Z}, Data: p.Centres},
		{Name: "latent_prior.mean", Shape: []int{Z}, Data: p.Mean},
		{Name: "latent_prior.near", Shape: []int{triangle(Z)}, Data: p.Near},
		{Name: "latent_prior.wide", Shape: []int{triangle(Z)}, Data: p.Wide}}
}

// readLatentPrior unpacks the prior of latents of Z numbers; nil where the bundle has none, as those of before.
func readLatentPrior(b *bundle.Bundle, Z int) (*LatentPrior, error) {
	K := b.Dimensions[centres]
	if K == 0 {
		return nil, nil
	}
	if K < 0 || K > LatentCentres || Z == 0 {
		return nil, fmt.Errorf("bundle %s: dimension %q is %d for a latent of %d, want 1 to %d for one of at least 1",
			b.ID, centres, K, Z, LatentCentres)
	}
	p := &LatentPrior{Centres: make([]float32, K*Z), Mean: make([]float32, Z), Near: make([]float32, triangle(Z)),
		Wide: make([]float32, triangle(Z))}
	for _, t := range p.tensors(Z) {
		data, err := b.Tensor(t.Name, t.Shape...)
		if err != nil {
			return nil, err
		}
		for i, x := range data {
			if !(math.Abs(float64(x)) <= farthestLatent) {
				return nil, fmt.Errorf("bundle %s: tensor %q: number %d is %g, want at most %g either way", b.ID,
					t.Name, i, x, farthestLatent)
			}
		}
		copy(t.Data, data)
	}
	return p, nil
}
