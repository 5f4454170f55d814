// Package kernel holds the hot loops of neural networks: matrix products and the
// fused element-wise passes between them.
//
// Every function is written for float32 and float64. The Go reference in
// reference.go is always compiled and states what each kernel computes; float64
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

// Native reports whether F is float32 and the C kernels are in use. With Float32s, Need and Maybe it serves packages
// with C of their own.
func Native[F Float]() bool {
	var zero F
	return unsafe.Sizeof(zero) == 4 && native
}

// Float32s views a slice that Native has shown to be of float32.
func Float32s[F Float](x []F) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}

// Need cuts a slice to the length a kernel uses, or panics as Go's own bounds
// check does.
func Need[F Float](x []F, n int) []F { return x[:n:n] }

// Gemm computes C = op(A)·op(B) + beta·C with op(A) [m×k], op(B) [k×n], C [m×n].
// lda, ldb, ldc are the row lengths of the matrices as stored. With beta = 0, C
// need not hold numbers before the call.
func Gemm[F Float](transA, transB bool, m, n, k int, a []F, lda int, b []F, ldb int, beta F, c []F, ldc int) {
	if m == 0 || n == 0 {
		return
	}
	a = Need(a, extent(transA, m, k, lda))
	b = Need(b, extent(transB, k, n, ldb))
	c = Need(c, extent(false, m, n, ldc))
	if Native[F]() {
		gemmC(transA, transB, m, n, k, Float32s(a), lda, Float32s(b), ldb, float32(beta), Float32s(c), ldc)
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
	x, sum = Need(x, rows*n), Need(sum, n)
	if Native[F]() {
		columnSumsC(rows, n, Float32s(x), Float32s(sum))
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
	gi, gh, bi, bh = Need(gi, rows*3*n), Need(gh, rows*3*n), Need(bi, 3*n), Need(bh, 3*n)
	h, next = Need(h, rows*n), Need(next, rows*n)
	if Native[F]() {
		gruGatesC(rows, n, Float32s(gi), Float32s(bi), Float32s(gh), Float32s(bh), Float32s(h), Float32s(next))
		return
	}
	gruGatesGo(rows, n, gi, bi, gh, bh, h, next)
}

// GruGatesBackward turns gi and gh, as GruGates left them, into the gradients of
// the two sums before the gates, and writes dh = dnext·u, the part of the
// gradient of h that does not pass through gh.
func GruGatesBackward[F Float](rows, n int, gi, gh, h, dnext, dh []F) {
	gi, gh, h = Need(gi, rows*3*n), Need(gh, rows*3*n), Need(h, rows*n)
	dnext, dh = Need(dnext, rows*n), Need(dh, rows*n)
	if Native[F]() {
		gruGatesBackwardC(rows, n, Float32s(gi), Float32s(gh), Float32s(h), Float32s(dnext), Float32s(dh))
		return
	}
	gruGatesBackwardGo(rows, n, gi, gh, h, dnext, dh)
}

// Axpy computes y += a·x.
func Axpy[F Float](a F, x, y []F) {
	y = Need(y, len(x))
	if Native[F]() {
		axpyC(float32(a), Float32s(x), Float32s(y))
		return
	}
	axpyGo(a, x, y)
}

// SquaredNorm is the sum of squares of x, accumulated in float64.
func SquaredNorm[F Float](x []F) float64 {
	if Native[F]() {
		return squaredNormC(Float32s(x))
	}
	return squaredNormGo(x)
}

// Rbf turns the inner products dot [rows×n] of two sets of points into the
// Gaussian kernel exp(-c·max(0, |x|² + |y|² - 2·dot)) in place, and writes the
// sum of each row to sums [rows]. x2 [rows] and y2 [n] are the squared norms.
func Rbf[F Float](rows, n int, dot, x2, y2 []F, c F, sums []F) {
	dot, x2, y2, sums = Need(dot, rows*n), Need(x2, rows), Need(y2, n), Need(sums, rows)
	if Native[F]() {
		rbfC(rows, n, Float32s(dot), Float32s(x2), Float32s(y2), float32(c), Float32s(sums))
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
	g, m, v = Need(g, len(p)), Need(m, len(p)), Need(v, len(p))
	if Native[F]() {
		adamC(s, Float32s(p), Float32s(g), Float32s(m), Float32s(v))
		return
	}
	adamGo(s, p, g, m, v)
}

// Normalise turns the rows of x [rows×n] into (x − mean)·scale.
func Normalise[F Float](rows int, mean, scale, x []F) {
	n := len(mean)
	scale, x = Need(scale, n), Need(x, rows*n)
	if Native[F]() {
		normaliseC(rows, n, Float32s(mean), Float32s(scale), Float32s(x))
		return
	}
	normaliseGo(rows, n, mean, scale, x)
}

// ScaleRows multiplies the rows of x [rows×n] by scale [n].
func ScaleRows[F Float](rows int, scale, x []F) {
	n := len(scale)
	x = Need(x, rows*n)
	if Native[F]() {
		scaleRowsC(rows, n, Float32s(scale), Float32s(x))
		return
	}
	scaleRowsGo(rows, n, scale, x)
}
