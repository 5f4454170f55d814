// Package layers builds nets from layers that are offsets into one flat parameter
// slice, with losses, an optimiser, schedules and initialisers over it.
//
// A layer owns no memory: parameters, gradients and activations are passed in.
// Gradients of parameters lie at the same offsets in a slice of the same length
// and are always added to. Shapes: B rows of a batch, I inputs, O outputs, H
// hidden units; row-major, batch first.
package layers

import "vnd/pkg/nn/kernel"

// Dense is y = x·W + b with W [I×O] and b [O] at offsets into the parameters. Its products read a copy of W, which
// Refresh makes.
type Dense[F kernel.Float] struct {
	In, Out      int
	Weight, Bias int
	BFloat16     bool // products with W and Wᵀ, and the gradient of W, in bfloat16, where the kernels have them

	forward, back kernel.Weights[F] // W, Wᵀ
}

// Refresh copies W out of the parameters into the order in which the products read it: whoever changes them calls it
// before the next pass.
func (d *Dense[F]) Refresh(params []F) {
	w := params[d.Weight : d.Weight+d.In*d.Out]
	d.forward.Set(d.BFloat16, false, d.In, d.Out, w, d.Out)
	d.back.Set(d.BFloat16, true, d.Out, d.In, w, d.Out)
}

// Product writes y = x·W for x [B×I], y [B×O]: the bias is left to a kernel that follows.
func (d *Dense[F]) Product(rows int, x, y []F) { kernel.Dense(rows, x, &d.forward, nil, nil, y) }

// BiasOf is b [O].
func (d *Dense[F]) BiasOf(params []F) []F { return params[d.Bias : d.Bias+d.Out] }

// Forward writes y = x·W + b for x [B×I], y [B×O].
func (d *Dense[F]) Forward(params []F, rows int, x, y []F) {
	kernel.Dense(rows, x, &d.forward, d.BiasOf(params), nil, y)
}

// Tanh writes y = tanh(x·W + b).
func (d *Dense[F]) Tanh(params []F, rows int, x, y []F) {
	kernel.DenseTanh(rows, x, &d.forward, d.BiasOf(params), y)
}

// Gelu writes y = GELU(u) and its slope, u = x·W + b + add; add [B×O] may be nil.
func (d *Dense[F]) Gelu(params []F, rows int, x, add, y, slope []F) {
	kernel.DenseGelu(rows, x, &d.forward, d.BiasOf(params), add, y, slope)
}

// Film writes y = GELU((1+γ)·p + β) and the slope of GELU there, p = x·W + b, for film [B×2O] of γ and β. pre takes p,
// unless it is nil.
func (d *Dense[F]) Film(params []F, rows int, x, film, pre, y, slope []F) {
	kernel.DenseFilm(rows, x, &d.forward, d.BiasOf(params), film, pre, y, slope)
}

// BackwardInput computes dx = dy·Wᵀ + add for dy [B×O], dx and add [B×I]; add may be nil, or dx.
func (d *Dense[F]) BackwardInput(rows int, dy, add, dx []F) {
	kernel.Dense(rows, dy, &d.back, nil, add, dx)
}

// BackwardGelu pulls dy on to u of the Gelu that made x: slope [B×I] becomes the gradient of u.
func (d *Dense[F]) BackwardGelu(rows int, dy, slope []F) {
	kernel.DenseGeluBackward(rows, dy, &d.back, slope)
}

// BackwardFilm pulls dy on to p of the Film that made x: slope [B×I] becomes the gradient of p. Unless pre is nil,
// those of γ and β are added to dfilm [B×2I].
func (d *Dense[F]) BackwardFilm(rows int, dy, film, pre, slope, dfilm []F) {
	kernel.DenseFilmBackward(rows, dy, &d.back, film, pre, slope, dfilm)
}

// BackwardParams adds xᵀ·dy and the column sums of dy to the gradient.
func (d *Dense[F]) BackwardParams(grad []F, rows int, x, dy []F) {
	kernel.Gradient(d.BFloat16, rows, d.In, d.Out, x, dy, grad[d.Weight:], grad[d.Bias:])
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
func (g *GRU[F]) Run(params []F, steps, rows int, gi, gh, h []F) {
	n := g.Hidden.In
	clear(h[:rows*n])
	for t := range steps {
		kernel.Pause()
		g.step(params, rows, gi[t*rows*3*n:], gh[t*rows*3*n:], h[t*rows*n:], h[(t+1)*rows*n:])
	}
}

// RunLast is Run without a tape: gh [B×3H] and h [2×B×H] are scratch. It returns
// h_T, a part of h. The numbers are those of Run, bit for bit.
func (g *GRU[F]) RunLast(params []F, steps, rows int, gi, gh, h []F) []F {
	if rows == 1 {
		wh, bi, bh := &g.Hidden.forward, g.Input.BiasOf(params), g.Hidden.BiasOf(params)
		return kernel.GruSequence(steps, gi, bi, wh, gh, bh, h)
	}
	n := g.Hidden.In
	now, next := h[:rows*n], h[rows*n:2*rows*n]
	clear(now)
	for t := range steps {
		g.step(params, rows, gi[t*rows*3*n:], gh, now, next)
		now, next = next, now
	}
	return now
}

func (g *GRU[F]) step(params []F, rows int, gi, gh, h, next []F) {
	g.Hidden.Product(rows, h, gh)
	kernel.GruGates(rows, g.Hidden.In, gi, g.Input.BiasOf(params), gh, g.Hidden.BiasOf(params), h, next)
}

// Backward takes the tape of Run and dh [B×H], the gradient of h_T. It turns gi
// and gh into their gradients, adds the gradients of Wh and bh, and leaves in dh
// the gradient of h_0; work [B×H] is scratch. The gradients of Wi, bi and x follow
// from gi by Input's own backward passes.
func (g *GRU[F]) Backward(steps, rows int, gi, gh, h, dh, work, grad []F) {
	n := g.Hidden.In
	for t := steps - 1; t >= 0; t-- {
		kernel.Pause()
		gt, ht := gh[t*rows*3*n:], h[t*rows*n:]
		kernel.GruGatesBackward(rows, n, gi[t*rows*3*n:], gt, ht, dh, work)
		g.Hidden.BackwardInput(rows, gt, work, dh)
	}
	g.Hidden.BackwardParams(grad, steps*rows, h, gh)
}
