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
#cgo noescape vnd_body_step
#cgo nocallback vnd_body_step
#cgo noescape vnd_body_step_vjp
#cgo nocallback vnd_body_step_vjp
#cgo noescape vnd_body_inputs
#cgo nocallback vnd_body_inputs
#cgo noescape vnd_body_inputs_vjp
#cgo nocallback vnd_body_inputs_vjp
#cgo noescape vnd_price_steps
#cgo nocallback vnd_price_steps
#cgo noescape vnd_price_back
#cgo nocallback vnd_price_back
#cgo noescape vnd_observe
#cgo nocallback vnd_observe
#cgo noescape vnd_observe_vjp
#cgo nocallback vnd_observe_vjp
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

func gradientReducedC(rows, k, n int, x, dy, grad []float32) bool {
	return C.vnd_gradient_reduced(size(rows), size(k), size(n), ptr(x), ptr(dy), ptr(grad)) != 0
}

func channelC(c *Channel) C.vnd_channel {
	return C.vnd_channel{gain: C.float(c.Gain), blend: C.float(c.Blend), elder: C.float(c.Elder), tap: C.int(c.Tap)}
}

func bodyC(m *Body) C.vnd_body {
	return C.vnd_body{dt: C.float(m.Dt), gravity: C.float(m.Gravity), thrust: channelC(&m.Thrust),
		rate: channelC(&m.Rate), prior: C.int(flag(m.Prior))}
}

func bodyStepC(m *Body, rows int, s, a, d, next []float32) {
	C.vnd_body_step(bodyC(m), size(rows), ptr(s), ptr(a), ptr(d), ptr(next))
}

func bodyStepVJPC(m *Body, rows int, s, a, d, dnext, ds, da, dd []float32) {
	C.vnd_body_step_vjp(bodyC(m), size(rows), ptr(s), ptr(a), ptr(d), ptr(dnext), ptr(ds), ptr(da), ptr(dd))
}

func bodyInputsC(m *Body, rows int, s, a, x []float32) {
	C.vnd_body_inputs(bodyC(m), size(rows), ptr(s), ptr(a), ptr(x))
}

func bodyInputsVJPC(m *Body, rows int, s, a, dx, ds, da []float32) {
	C.vnd_body_inputs_vjp(bodyC(m), size(rows), ptr(s), ptr(a), ptr(dx), ptr(ds), ptr(da))
}

func priceC(p *Price) C.vnd_price {
	return C.vnd_price{per_dt: C.float(p.PerDt), hover: C.float(p.Hover), state: size(p.State)}
}

func priceStepsC(p *Price, rows int, s0, s1, a, last, ref, weights, cost, off []float32) {
	C.vnd_price_steps(priceC(p), size(rows), ptr(s0), ptr(s1), ptr(a), ptr(last), ptr(ref), ptr(weights), ptr(cost),
		ptr(off))
}

func priceVJPC(p *Price, rows int, s0, s1, a, last, ref, weights, scale, ds0, ds1, da, dlast []float32) {
	C.vnd_price_back(priceC(p), size(rows), ptr(s0), ptr(s1), ptr(a), ptr(last), ptr(ref), ptr(weights), ptr(scale),
		ptr(ds0), ptr(ds1),
		ptr(da), ptr(dlast))
}

func viewC(v *View) C.vnd_view {
	return C.vnd_view{looks: size(v.Looks), place: size(v.Place), past: size(v.Past), state: size(v.State),
		width: size(v.Width)}
}

func observeC(v *View, rows int, s, ref, seen, past, x []float32) {
	C.vnd_observe(viewC(v), size(rows), ptr(s), ptr(ref), ptr(seen), ptr(past), ptr(x))
}

func observeVJPC(v *View, rows int, s, dx, ds, dseen, dpast []float32) {
	C.vnd_observe_vjp(viewC(v), size(rows), ptr(s), ptr(dx), ptr(ds), ptr(dseen), ptr(dpast))
}

func normaliseC(rows, n int, mean, scale, x []float32) {
	C.vnd_normalise(size(rows), size(n), ptr(mean), ptr(scale), ptr(x))
}

func scaleRowsC(rows, n int, scale, x []float32) {
	C.vnd_scale_rows(size(rows), size(n), ptr(scale), ptr(x))
}
