// Package nn builds nets from layers that are offsets into one flat parameter
// slice, with losses, an optimiser, schedules and initialisers over it.
//
// A layer owns no memory: parameters, gradients and activations are passed in.
// Gradients of parameters lie at the same offsets in a slice of the same length
// and are always added to. Shapes: B rows of a batch, I inputs, O outputs, H
// hidden units; row-major, batch first.
package nn

import "vnd/pkg/kernel"

// Dense is y = x·W + b with W [I×O] and b [O] at offsets into the parameters.
type Dense[F kernel.Float] struct {
	In, Out      int
	Weight, Bias int
}

// Product writes y = x·W for x [B×I], y [B×O]: the bias is left to a fused
// kernel that follows.
func (d Dense[F]) Product(params []F, rows int, x, y []F) {
	kernel.Gemm(false, false, rows, d.Out, d.In, x, d.In, params[d.Weight:], d.Out, 0, y, d.Out)
}

// BiasOf is b [O].
func (d Dense[F]) BiasOf(params []F) []F { return params[d.Bias : d.Bias+d.Out] }

// Forward writes y = x·W + b for x [B×I], y [B×O].
func (d Dense[F]) Forward(params []F, rows int, x, y []F) {
	d.Product(params, rows, x, y)
	kernel.AddBias(rows, d.Out, y, d.BiasOf(params))
}

// BackwardInput computes dx = dy·Wᵀ + beta·dx for dy [B×O], dx [B×I].
func (d Dense[F]) BackwardInput(params []F, rows int, dy []F, beta F, dx []F) {
	kernel.Gemm(false, true, rows, d.In, d.Out, dy, d.Out, params[d.Weight:], d.Out, beta, dx, d.In)
}

// BackwardParams adds xᵀ·dy and the column sums of dy to the gradient.
func (d Dense[F]) BackwardParams(grad []F, rows int, x, dy []F) {
	kernel.Gemm(true, false, d.In, d.Out, rows, x, d.In, dy, d.Out, 1, grad[d.Weight:], d.Out)
	kernel.ColumnSums(rows, d.Out, dy, grad[d.Bias:])
}

// GRU is a gated recurrent unit of I inputs and H hidden units:
//
//	gi = x·Wi + bi    gh = h·Wh + bh    (each r | u | n, [3H])
//	r = σ(gi_r + gh_r)   u = σ(gi_u + gh_u)   c = tanh(gi_n + r·gh_n)
//	h' = (1-u)·c + u·h
type GRU[F kernel.Float] struct {
	Input  Dense[F] // I → 3H
	Hidden Dense[F] // H → 3H
}

// Run steps the unit through T rows of time from h_0 = 0. gi [T×B×3H] holds
// x·Wi without bias on entry and r, u, c on return; gh [T×B×3H] is written; h
// [(T+1)×B×H] receives h_0 … h_T. The three are the tape of Backward.
func (g GRU[F]) Run(params []F, steps, rows int, gi, gh, h []F) {
	n := g.Hidden.In
	clear(h[:rows*n])
	for t := range steps {
		g.step(params, rows, gi[t*rows*3*n:], gh[t*rows*3*n:], h[t*rows*n:], h[(t+1)*rows*n:])
	}
}

// RunLast is Run without a tape: gh [B×3H] and h [2×B×H] are scratch. It returns
// h_T, a part of h. The numbers are those of Run, bit for bit.
func (g GRU[F]) RunLast(params []F, steps, rows int, gi, gh, h []F) []F {
	n := g.Hidden.In
	now, next := h[:rows*n], h[rows*n:2*rows*n]
	clear(now)
	for t := range steps {
		g.step(params, rows, gi[t*rows*3*n:], gh, now, next)
		now, next = next, now
	}
	return now
}

func (g GRU[F]) step(params []F, rows int, gi, gh, h, next []F) {
	g.Hidden.Product(params, rows, h, gh)
	kernel.GruGates(rows, g.Hidden.In, gi, g.Input.BiasOf(params), gh, g.Hidden.BiasOf(params), h, next)
}

// Backward takes the tape of Run and dh [B×H], the gradient of h_T. It turns gi
// and gh into their gradients, adds the gradients of Wh and bh, and leaves in dh
// the gradient of h_0; work [B×H] is scratch. The gradients of Wi, bi and x follow
// from gi by Input's own backward passes.
func (g GRU[F]) Backward(params []F, steps, rows int, gi, gh, h, dh, work, grad []F) {
	n := g.Hidden.In
	for t := steps - 1; t >= 0; t-- {
		gt, ht := gh[t*rows*3*n:], h[t*rows*n:]
		kernel.GruGatesBackward(rows, n, gi[t*rows*3*n:], gt, ht, dh, work)
		g.Hidden.BackwardInput(params, rows, gt, 1, work)
		copy(dh[:rows*n], work)
	}
	g.Hidden.BackwardParams(grad, steps*rows, h, gh)
}
