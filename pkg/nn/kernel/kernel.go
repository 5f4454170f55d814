// Package kernel holds the hot loops of the nets, matrix products and the fused
// element-wise passes between them, and of the flight around them.
//
// Every function is written for float32 and float64. The Go reference in
// reference.go is always compiled and states what each kernel computes (those of
// flight, cost and observation report that they did nothing, and their callers state it); float64
// always runs it, so that gradients can be proved by finite differences. float32
// runs the C of the same signature where the binary was built with cgo.
//
// Matrices are dense and row-major. Slices may be longer than needed; a shorter
// one panics before any C code sees it. Unless said otherwise, slices of one
// call must not overlap.
package kernel

import "unsafe"

// Float is the element type of every kernel.
type Float interface{ float32 | float64 }

// native32 reports whether F is float32 and the C kernels are in use.
func native32[F Float]() bool {
	var zero F
	return unsafe.Sizeof(zero) == 4 && native
}

// f32 views a slice that native32 has shown to be of float32.
func f32[F Float](x []F) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}

// need cuts a slice to the length a kernel uses, or panics as Go's own bounds
// check does.
func need[F Float](x []F, n int) []F { return x[:n:n] }

// Gemm computes C = op(A)·op(B) + beta·C with op(A) [m×k], op(B) [k×n], C [m×n].
// lda, ldb, ldc are the row lengths of the matrices as stored. With beta = 0, C
// need not hold numbers before the call.
func Gemm[F Float](transA, transB bool, m, n, k int, a []F, lda int, b []F, ldb int, beta F, c []F, ldc int) {
	if m == 0 || n == 0 {
		return
	}
	a = need(a, extent(transA, m, k, lda))
	b = need(b, extent(transB, k, n, ldb))
	c = need(c, extent(false, m, n, ldc))
	if native32[F]() {
		gemmC(transA, transB, m, n, k, f32(a), lda, f32(b), ldb, float32(beta), f32(c), ldc)
		return
	}
	gemmGo(transA, transB, m, n, k, a, lda, b, ldb, beta, c, ldc)
}

// extent is the number of elements from the first to the last of a matrix whose
// op is [rows×cols] and whose stored rows are ld apart.
func extent(trans bool, rows, cols, ld int) int {
	if trans {
		rows, cols = cols, rows
	}
	if rows == 0 || cols == 0 {
		return 0
	}
	if ld < cols {
		panic("kernel: leading dimension shorter than a row")
	}
	return (rows-1)*ld + cols
}

// ColumnSums adds the sum over the rows of x [rows×n] to sum [n].
func ColumnSums[F Float](rows, n int, x, sum []F) {
	x, sum = need(x, rows*n), need(sum, n)
	if native32[F]() {
		columnSumsC(rows, n, f32(x), f32(sum))
		return
	}
	columnSumsGo(rows, n, x, sum)
}

// GruGates finishes one GRU step of n hidden units. gi, gh [rows×3n] hold the
// products of the input and of h with the weights, biases bi, bh [3n] not yet
// added, in the order reset, update, new:
//
//	r = σ(gi_r + gh_r)   u = σ(gi_u + gh_u)   c = tanh(gi_n + r·gh_n)
//	next = (1-u)·c + u·h
//
// On return gi holds r, u, c and the last third of gh holds gh_n with its bias;
// the first two thirds of gh keep what they held.
func GruGates[F Float](rows, n int, gi, bi, gh, bh, h, next []F) {
	gi, gh, bi, bh = need(gi, rows*3*n), need(gh, rows*3*n), need(bi, 3*n), need(bh, 3*n)
	h, next = need(h, rows*n), need(next, rows*n)
	if native32[F]() {
		gruGatesC(rows, n, f32(gi), f32(bi), f32(gh), f32(bh), f32(h), f32(next))
		return
	}
	gruGatesGo(rows, n, gi, bi, gh, bh, h, next)
}

// GruGatesBackward turns gi and gh, as GruGates left them, into the gradients of
// the two sums before the gates, and writes dh = dnext·u, the part of the
// gradient of h that does not pass through gh.
func GruGatesBackward[F Float](rows, n int, gi, gh, h, dnext, dh []F) {
	gi, gh, h = need(gi, rows*3*n), need(gh, rows*3*n), need(h, rows*n)
	dnext, dh = need(dnext, rows*n), need(dh, rows*n)
	if native32[F]() {
		gruGatesBackwardC(rows, n, f32(gi), f32(gh), f32(h), f32(dnext), f32(dh))
		return
	}
	gruGatesBackwardGo(rows, n, gi, gh, h, dnext, dh)
}

// Axpy computes y += a·x.
func Axpy[F Float](a F, x, y []F) {
	y = need(y, len(x))
	if native32[F]() {
		axpyC(float32(a), f32(x), f32(y))
		return
	}
	axpyGo(a, x, y)
}

// SquaredNorm is the sum of squares of x, accumulated in float64.
func SquaredNorm[F Float](x []F) float64 {
	if native32[F]() {
		return squaredNormC(f32(x))
	}
	return squaredNormGo(x)
}

// Rbf turns the inner products dot [rows×n] of two sets of points into the
// Gaussian kernel exp(-c·max(0, |x|² + |y|² - 2·dot)) in place, and writes the
// sum of each row to sums [rows]. x2 [rows] and y2 [n] are the squared norms.
func Rbf[F Float](rows, n int, dot, x2, y2 []F, c F, sums []F) {
	dot, x2, y2, sums = need(dot, rows*n), need(x2, rows), need(y2, n), need(sums, rows)
	if native32[F]() {
		rbfC(rows, n, f32(dot), f32(x2), f32(y2), float32(c), f32(sums))
		return
	}
	rbfGo(rows, n, dot, x2, y2, c, sums)
}

// AdamStep holds the numbers of one Adam update.
type AdamStep struct {
	Rate         float64 // learning rate over the bias correction of m: lr / (1 - β1^t)
	Beta1, Beta2 float64
	Correct2     float64 // bias correction of v: 1 / (1 - β2^t)
	Epsilon      float64
	Decay        float64 // share of each parameter taken away: lr · weight decay
	GradScale    float64 // factor on the gradient before use: clipping
}

// Adam updates parameters p and the moments m, v with gradient g, all of one
// length:
//
//	g' = GradScale·g    m = β1·m + (1-β1)·g'    v = β2·v + (1-β2)·g'²
//	p = p - Decay·p - Rate·m / (√(Correct2·v) + ε)
func Adam[F Float](s AdamStep, p, g, m, v []F) {
	g, m, v = need(g, len(p)), need(m, len(p)), need(v, len(p))
	if native32[F]() {
		adamC(s, f32(p), f32(g), f32(m), f32(v))
		return
	}
	adamGo(s, p, g, m, v)
}
