package estimator

import "vnd/pkg/core/so3"

// fit is a least-squares polynomial Σ c_k·π_k(τ) in the basis that is orthogonal on the window's own stamps (Forsythe
// 1957), with τ = (t − t_newest)/window ∈ [−1, 0]:
//
//	π_0 = 1,  π_{k+1}(τ) = (τ − α_k)·π_k(τ) − β_k·π_{k−1}(τ)
//
// Unlike normal equations it stays well-conditioned for any stamps, and each degree can be left out by itself.
type fit struct {
	degree      int // the highest k in use
	alpha, beta [maxOrder + 1]float64
	c           [maxOrder + 1]so3.Vec3
}

// evenNorm[k] is the mean of π_k² for stamps that fill the window evenly: 1/((2k+1)·binom(2k,k)²).
var evenNorm = [maxOrder + 1]float64{1, 1.0 / 12, 1.0 / 180, 1.0 / 2800}

// resolvable is the share of evenNorm below which the stamps hardly tell degree k from lower ones, and the noise of
// its coefficient would rule the slope.
const resolvable = 0.01

// refit fits the window's positions, relative to the newest, with as many degrees as the stamps resolve.
func (e *Estimator) refit() {
	f, newest := &e.fit, *e.at(e.n - 1)
	f.degree = 0
	var now, before [capacity]float64 // π_k and π_{k−1} at the poses
	for i := range e.n {
		now[i] = 1
	}
	norm2Before := 0.0
	for k := 0; k <= e.params.Order; k++ {
		norm2, moment, c := 0.0, 0.0, so3.Vec3{}
		for i := range e.n {
			pose := e.at(i)
			w := now[i] * now[i]
			norm2 += w
			moment += w * (pose.T - newest.T) / e.params.Window
			c = c.Add(pose.P.Sub(newest.P).Scale(now[i]))
		}
		if e.n <= k || norm2 < resolvable*evenNorm[k]*float64(e.n) {
			return
		}
		f.degree, f.c[k], f.alpha[k], f.beta[k] = k, c.Scale(1/norm2), moment/norm2, 0
		if k > 0 {
			f.beta[k] = norm2 / norm2Before
		}
		norm2Before = norm2
		for i := range e.n {
			tau := (e.at(i).T - newest.T) / e.params.Window
			now[i], before[i] = (tau-f.alpha[k])*now[i]-f.beta[k]*before[i], now[i]
		}
	}
}

// slope returns the polynomial's derivative by τ, in m.
func (f *fit) slope(tau float64) so3.Vec3 {
	var sum so3.Vec3
	p, dp, pBefore, dpBefore := 1.0, 0.0, 0.0, 0.0
	for k := 0; k < f.degree; k++ {
		next := (tau-f.alpha[k])*p - f.beta[k]*pBefore
		dNext := p + (tau-f.alpha[k])*dp - f.beta[k]*dpBefore
		p, dp, pBefore, dpBefore = next, dNext, p, dp
		sum = sum.Add(f.c[k+1].Scale(dp))
	}
	return sum
}
