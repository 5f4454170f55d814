//go:build cgo && !purego

package kernel

/*
#cgo CFLAGS: -O2 -Wall -fopenmp-simd
#cgo LDFLAGS: -ldl -lm
#cgo noescape vnd_gemm
#cgo nocallback vnd_gemm
#cgo noescape vnd_column_sums
#cgo nocallback vnd_column_sums
#cgo noescape vnd_gru_gates
#cgo nocallback vnd_gru_gates
#cgo noescape vnd_gru_gates_backward
#cgo nocallback vnd_gru_gates_backward
#cgo noescape vnd_gru_sequence
#cgo nocallback vnd_gru_sequence
#cgo noescape vnd_axpy
#cgo nocallback vnd_axpy
#cgo noescape vnd_squared_norm
#cgo nocallback vnd_squared_norm
#cgo noescape vnd_rbf
#cgo nocallback vnd_rbf
#cgo noescape vnd_adam
#cgo nocallback vnd_adam
#cgo noescape vnd_panels
#cgo nocallback vnd_panels
#cgo noescape vnd_pack_panels
#cgo nocallback vnd_pack_panels
#cgo noescape vnd_dense
#cgo nocallback vnd_dense
#cgo noescape vnd_dense_tanh
#cgo nocallback vnd_dense_tanh
#cgo noescape vnd_dense_gelu
#cgo nocallback vnd_dense_gelu
#cgo noescape vnd_dense_film
#cgo nocallback vnd_dense_film
#cgo noescape vnd_dense_gelu_backward
#cgo nocallback vnd_dense_gelu_backward
#cgo noescape vnd_dense_film_backward
#cgo nocallback vnd_dense_film_backward
#cgo noescape vnd_gradient_reduced
#cgo nocallback vnd_gradient_reduced
#cgo noescape vnd_normalise
#cgo nocallback vnd_normalise
#cgo noescape vnd_scale_rows
#cgo nocallback vnd_scale_rows
#include <stdlib.h>
#include "kernel.h"
*/
import "C"

import "unsafe"

// cgoBuilt says that the C kernels are in this binary.
const cgoBuilt = true

// openC readies the C kernels of the named instruction set, or of the best of
// this processor if it is empty, with oneDNN if library is set and it can be
// opened. It returns what runs, or ok = false if the processor lacks the
// instructions.
func openC(library bool, want string) (instructions string, opened, ok bool) {
	name := C.CString(want)
	defer C.free(unsafe.Pointer(name))
	if C.vnd_choose(C.int(flag(library)), name) == 0 {
		return "", false, false
	}
	return C.GoString(C.vnd_instructions()), C.vnd_has_library() != 0, true
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

func ptr(x []float32) *C.float { return (*C.float)(unsafe.Pointer(unsafe.SliceData(x))) }

type size = C.ptrdiff_t

func gemmC(transA, transB bool, m, n, k int, a []float32, lda int, b []float32, ldb int, beta float32, c []float32,
	ldc int) {
	C.vnd_gemm(C.int(flag(transA)), C.int(flag(transB)), size(m), size(n), size(k),
		ptr(a), size(lda), ptr(b), size(ldb), C.float(beta), ptr(c), size(ldc))
}

func columnSumsC(rows, n int, x, sum []float32) {
	C.vnd_column_sums(size(rows), size(n), ptr(x), ptr(sum))
}

func gruGatesC(rows, n int, gi, bi, gh, bh, h, next []float32) {
	C.vnd_gru_gates(size(rows), size(n), ptr(gi), ptr(bi), ptr(gh), ptr(bh), ptr(h), ptr(next))
}

func gruGatesBackwardC(rows, n int, gi, gh, h, dnext, dh []float32) {
	C.vnd_gru_gates_backward(size(rows), size(n), ptr(gi), ptr(gh), ptr(h), ptr(dnext), ptr(dh))
}

func gruSequenceC(reduced bool, steps, n int, gi, bi, w, gh, bh, h []float32) {
	C.vnd_gru_sequence(C.int(flag(reduced)), size(steps), size(n), ptr(gi), ptr(bi), ptr(w), ptr(gh), ptr(bh), ptr(h))
}

func axpyC(a float32, x, y []float32) { C.vnd_axpy(size(len(x)), C.float(a), ptr(x), ptr(y)) }

func squaredNormC(x []float32) float64 { return float64(C.vnd_squared_norm(size(len(x)), ptr(x))) }

func rbfC(rows, n int, dot, x2, y2 []float32, c float32, sums []float32) {
	C.vnd_rbf(size(rows), size(n), ptr(dot), ptr(x2), ptr(y2), C.float(c), ptr(sums))
}

func adamC(s AdamStep, p, g, m, v []float32) {
	step := C.vnd_adam_step{
		rate: C.float(s.Rate), beta1: C.float(s.Beta1), beta2: C.float(s.Beta2), correct2: C.float(s.Correct2),
		epsilon: C.float(s.Epsilon), keep: C.float(1 - s.Decay), grad_scale: C.float(s.GradScale),
	}
	C.vnd_adam(step, size(len(p)), ptr(p), ptr(g), ptr(m), ptr(v))
}

func panelsC(reduced bool, k, n int) int {
	return int(C.vnd_panels(C.int(flag(reduced)), size(k), size(n)))
}

func packPanelsC(reduced, trans bool, k, n int, b []float32, ldb int, packed []float32) {
	C.vnd_pack_panels(C.int(flag(reduced)), C.int(flag(trans)), size(k), size(n), ptr(b), size(ldb), ptr(packed))
}

func denseC(reduced bool, rows, k, n int, x, w, bias, add, y []float32) {
	C.vnd_dense(C.int(flag(reduced)), size(rows), size(k), size(n), ptr(x), ptr(w), ptr(bias), ptr(add), ptr(y))
}

func denseTanhC(reduced bool, rows, k, n int, x, w, bias, y []float32) {
	C.vnd_dense_tanh(C.int(flag(reduced)), size(rows), size(k), size(n), ptr(x), ptr(w), ptr(bias), ptr(y))
}

func denseGeluC(reduced bool, rows, k, n int, x, w, bias, add, y, slope []float32) {
	C.vnd_dense_gelu(C.int(flag(reduced)), size(rows), size(k), size(n), ptr(x), ptr(w), ptr(bias), ptr(add), ptr(y),
		ptr(slope))
}

func denseFilmC(reduced bool, rows, k, n int, x, w, bias, film, pre, y, slope []float32) {
	C.vnd_dense_film(C.int(flag(reduced)), size(rows), size(k), size(n), ptr(x), ptr(w), ptr(bias), ptr(film), ptr(pre),
		ptr(y), ptr(slope))
}

func denseGeluBackwardC(reduced bool, rows, k, n int, dy, w, slope []float32) {
	C.vnd_dense_gelu_backward(C.int(flag(reduced)), size(rows), size(k), size(n), ptr(dy), ptr(w), ptr(slope))
}

func denseFilmBackwardC(reduced bool, rows, k, n int, dy, w, film, pre, slope, dfilm []float32) {
	C.vnd_dense_film_backward(C.int(flag(reduced)), size(rows), size(k), size(n), ptr(dy), ptr(w), ptr(film), ptr(pre),
		ptr(slope), ptr(dfilm))
}

func gradientReducedC(rows, k, n int, x, dy, dw, db []float32) bool {
	return C.vnd_gradient_reduced(size(rows), size(k), size(n), ptr(x), ptr(dy), ptr(dw), ptr(db)) != 0
}

func normaliseC(rows, n int, mean, scale, x []float32) {
	C.vnd_normalise(size(rows), size(n), ptr(mean), ptr(scale), ptr(x))
}

func scaleRowsC(rows, n int, scale, x []float32) {
	C.vnd_scale_rows(size(rows), size(n), ptr(scale), ptr(x))
}
