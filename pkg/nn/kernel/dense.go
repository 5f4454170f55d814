package kernel

import "unsafe"

// Weights is a matrix W [K×N] that many rows are multiplied with: a copy, in the order in which the kernels read it.
type Weights[F Float] struct {
	K, N    int
	panels  []F
	reduced bool // to bfloat16, as every row that is multiplied with them will be
}

// HasBFloat16 reports whether the kernels in use multiply bfloat16.
func HasBFloat16() bool { return native && panelsC(true, 1, 1) > 0 }

// Set copies W = op(b) [k×n]; ldb is the length of the rows of b as stored. If it is to be reduced, W, and each row in
// its products, are rounded to bfloat16, to 8 bits. That is half the memory, and twice as fast. Sums stay in float32.
// Nothing is rounded where HasBFloat16 is false, for float64, and for K above 1024.
func (w *Weights[F]) Set(reduced, trans bool, k, n int, b []F, ldb int) {
	b = Need(b, extent(trans, k, n, ldb))
	w.K, w.N = k, n
	if Native[F]() {
		w.reduced = reduced && panelsC(true, k, n) > 0
		w.alignPanels(panelsC(w.reduced, k, n))
		packPanelsC(w.reduced, trans, k, n, Float32s(b), ldb, Float32s(w.panels))
		return
	}
	w.alignPanels(k * n)
	for p := range k {
		for j := range n {
			if trans {
				w.panels[p*n+j] = b[j*ldb+p]
			} else {
				w.panels[p*n+j] = b[p*ldb+j]
			}
		}
	}
}

// Gradient adds to those of a layer y = x·W + b: xᵀ·dy to dw [k×n], and the column sums of dy to db [n], for x [rows×k]
// and dy [rows×n]. If it is to be reduced, products round x and dy to bfloat16, where the kernels have that and the two
// are not too wide: at 2048 numbers together, on any processor, they are not.
func Gradient[F Float](reduced bool, rows, k, n int, x, dy, dw, db []F) {
	x, dy, dw, db = Need(x, rows*k), Need(dy, rows*n), Need(dw, k*n), Need(db, n)
	if reduced && Native[F]() &&
		gradientReducedC(rows, k, n, Float32s(x), Float32s(dy), Float32s(dw), Float32s(db)) {
		return
	}
	Gemm(true, false, k, n, rows, x, k, dy, n, 1, dw, n)
	ColumnSums(rows, n, dy, db)
}

// alignPanels makes panels n numbers long, from the beginning of a cache line on.
func (w *Weights[F]) alignPanels(n int) {
	if len(w.panels) == n {
		return
	}
	const line = 64
	var zero F
	each := int(unsafe.Sizeof(zero))
	x := make([]F, n+line/each)
	skip := 0
	for uintptr(unsafe.Pointer(&x[skip]))%line != 0 {
		skip++
	}
	w.panels = x[skip : skip+n : skip+n]
}

// Maybe is Need for an argument that may be nil.
func Maybe[F Float](x []F, n int) []F {
	if x == nil {
		return nil
	}
	return Need(x, n)
}

// Dense writes y = x·W + bias + add for x [rows×K], bias [N], add and y [rows×N]. bias and add may be nil; add may be
// y.
func Dense[F Float](rows int, x []F, w *Weights[F], bias, add, y []F) {
	k, n := w.K, w.N
	x, bias, add, y = Need(x, rows*k), Maybe(bias, n), Maybe(add, rows*n), Need(y, rows*n)
	if Native[F]() {
		denseC(w.reduced, rows, k, n, Float32s(x), Float32s(w.panels), Float32s(bias), Float32s(add), Float32s(y))
		return
	}
	denseGo(rows, w, x, bias, add, y)
}

// DenseTanh writes y = tanh(x·W + bias).
func DenseTanh[F Float](rows int, x []F, w *Weights[F], bias, y []F) {
	k, n := w.K, w.N
	x, bias, y = Need(x, rows*k), Need(bias, n), Need(y, rows*n)
	if Native[F]() {
		denseTanhC(w.reduced, rows, k, n, Float32s(x), Float32s(w.panels), Float32s(bias), Float32s(y))
		return
	}
	denseTanhGo(rows, w, x, bias, y)
}

// DenseGelu writes y = GELU(u) and slope = GELU'(u), u = x·W + bias + add, with the tanh form of GELU:
// ½u(1 + tanh(√(2/π)(u + 0.044715u³))). add [rows×N] may be nil.
func DenseGelu[F Float](rows int, x []F, w *Weights[F], bias, add, y, slope []F) {
	k, n := w.K, w.N
	x, bias, add, y, slope = Need(x, rows*k), Need(bias, n), Maybe(add, rows*n), Need(y, rows*n), Need(slope, rows*n)
	if Native[F]() {
		denseGeluC(w.reduced, rows, k, n, Float32s(x), Float32s(w.panels),
			Float32s(bias), Float32s(add), Float32s(y), Float32s(slope))
		return
	}
	denseGeluGo(rows, w, x, bias, add, y, slope)
}

// DenseFilm writes y = GELU(u) and slope = GELU'(u), u = (1+γ)·p + β with p = x·W + bias; film [rows×2N] holds γ then β
// in each row. p goes to pre [rows×N], which may be nil.
func DenseFilm[F Float](rows int, x []F, w *Weights[F], bias, film, pre, y, slope []F) {
	k, n := w.K, w.N
	x, bias, film, pre = Need(x, rows*k), Need(bias, n), Need(film, rows*2*n), Maybe(pre, rows*n)
	y, slope = Need(y, rows*n), Need(slope, rows*n)
	if Native[F]() {
		denseFilmC(w.reduced, rows, k, n, Float32s(x), Float32s(w.panels),
			Float32s(bias), Float32s(film), Float32s(pre), Float32s(y), Float32s(slope))
		return
	}
	denseFilmGo(rows, w, x, bias, film, pre, y, slope)
}

// GruSequence runs a GRU of w.K hidden units through rows of time, from h = 0, and returns the last h, a part of h: see
// GruGates. gi [steps×3K] holds the products of the inputs, w [K×3K] are the weights of h. gh [3K] and h [2×K] are
// scratch, and gi afterwards too.
func GruSequence[F Float](steps int, gi, bi []F, w *Weights[F], gh, bh, h []F) []F {
	n := w.K
	if w.N != 3*n {
		panic("kernel: weights of a GRU with other than three gates")
	}
	gi, bi, gh, bh, h = Need(gi, steps*3*n), Need(bi, 3*n), Need(gh, 3*n), Need(bh, 3*n), Need(h, 2*n)
	if Native[F]() {
		gruSequenceC(w.reduced, steps, n, Float32s(gi), Float32s(bi), Float32s(w.panels), Float32s(gh), Float32s(bh),
			Float32s(h))
	} else {
		gruSequenceGo(steps, gi, bi, w, gh, bh, h)
	}
	return h[steps%2*n:][:n]
}

// DenseGeluBackward turns the slope that DenseGelu wrote into the gradient of u: slope ← slope·(dy·W). dy [rows×K] is
// the gradient past the layer that read y, and W that layer's weights, transposed.
func DenseGeluBackward[F Float](rows int, dy []F, w *Weights[F], slope []F) {
	k, n := w.K, w.N
	dy, slope = Need(dy, rows*k), Need(slope, rows*n)
	if Native[F]() {
		denseGeluBackwardC(w.reduced, rows, k, n, Float32s(dy), Float32s(w.panels), Float32s(slope))
		return
	}
	denseGeluBackwardGo(rows, w, dy, slope)
}

// DenseFilmBackward turns the slope that DenseFilm wrote into the gradient of p: slope ← slope·(1+γ)·(dy·W). Unless pre
// is nil, it adds the gradients of γ and β to dfilm [rows×2N].
func DenseFilmBackward[F Float](rows int, dy []F, w *Weights[F], film, pre, slope, dfilm []F) {
	k, n := w.K, w.N
	dy, film, slope = Need(dy, rows*k), Need(film, rows*2*n), Need(slope, rows*n)
	if pre = Maybe(pre, rows*n); pre != nil {
		dfilm = Need(dfilm, rows*2*n)
	}
	if Native[F]() {
		denseFilmBackwardC(w.reduced, rows, k, n, Float32s(dy), Float32s(w.panels),
			Float32s(film), Float32s(pre), Float32s(slope), Float32s(dfilm))
		return
	}
	denseFilmBackwardGo(rows, w, dy, film, pre, slope, dfilm)
}
