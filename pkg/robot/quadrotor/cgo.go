//go:build cgo && !purego

package quadrotor

/*
#cgo CFLAGS: -O2 -Wall -fopenmp-simd
#cgo LDFLAGS: -lm
#cgo noescape quadrotor_step
#cgo nocallback quadrotor_step
#cgo noescape quadrotor_step_vjp
#cgo nocallback quadrotor_step_vjp
#cgo noescape quadrotor_inputs
#cgo nocallback quadrotor_inputs
#cgo noescape quadrotor_inputs_vjp
#cgo nocallback quadrotor_inputs_vjp
#cgo noescape quadrotor_costs
#cgo nocallback quadrotor_costs
#cgo noescape quadrotor_costs_vjp
#cgo nocallback quadrotor_costs_vjp
#cgo noescape quadrotor_observe
#cgo nocallback quadrotor_observe
#cgo noescape quadrotor_observe_vjp
#cgo nocallback quadrotor_observe_vjp
#include <stdlib.h>
#include "kernels.h"
*/
import "C"

import (
	"unsafe"

	"vnd/pkg/core/quad"
)

// The delay lines of C and of Go are of one length.
const _ = uint(C.QUADROTOR_DELAY-MaxDelay) + uint(MaxDelay-C.QUADROTOR_DELAY)

// inUse are the C kernels that float32 runs, nil for the Go reference.
var inUse *C.quadrotor_kernels

// useC takes the C kernels of an instruction set into use and reports whether there are any.
func useC(instructions string) bool {
	name := C.CString(instructions)
	defer C.free(unsafe.Pointer(name))
	inUse = C.quadrotor_find(name)
	return inUse != nil
}

func ptr(x []float32) *C.float { return (*C.float)(unsafe.Pointer(unsafe.SliceData(x))) }

type size = C.ptrdiff_t

func (c *channel[F]) c() C.quadrotor_channel {
	return C.quadrotor_channel{gain: C.float(c.gain), blend: C.float(c.blend), elder: C.float(c.elder),
		tap: C.int(c.tap)}
}

func (m *Quadrotor[F]) c() C.quadrotor_body {
	prior := C.int(1)
	if m.noPrior {
		prior = 0
	}
	body := C.quadrotor_body{dt: C.float(m.dt), gravity: quad.Gravity, prior: prior}
	for j := range m.channels {
		body.channels[j] = m.channels[j].c()
	}
	return body
}

func (m *Quadrotor[F]) stepC(B int, s, a, d, next []float32) {
	C.quadrotor_step(inUse, m.c(), size(B), ptr(s), ptr(a), ptr(d), ptr(next))
}

func (m *Quadrotor[F]) stepVJPC(B int, s, a, d, dnext, ds, da, dd []float32) {
	C.quadrotor_step_vjp(inUse, m.c(), size(B), ptr(s), ptr(a), ptr(d), ptr(dnext), ptr(ds), ptr(da), ptr(dd))
}

func (m *Quadrotor[F]) inputsC(B int, s, a, x []float32) {
	C.quadrotor_inputs(inUse, m.c(), size(B), ptr(s), ptr(a), ptr(x))
}

func (m *Quadrotor[F]) inputsVJPC(B int, s, a, dx, ds, da []float32) {
	C.quadrotor_inputs_vjp(inUse, m.c(), size(B), ptr(s), ptr(a), ptr(dx), ptr(ds), ptr(da))
}

func (t *Transition[F]) c() C.quadrotor_cost {
	return C.quadrotor_cost{per_dt: C.float(1 / t.Dt), hover: quad.Gravity, state: size(t.S)}
}

func costsC(t *Transition[float32], weights, cost, off []float32) {
	C.quadrotor_costs(inUse, t.c(), size(t.B), ptr(t.S0), ptr(t.S1), ptr(t.A), ptr(t.Last), ptr(t.Ref), ptr(weights),
		ptr(cost), ptr(off))
}

func costsVJPC(t *Transition[float32], weights, scale []float32, g *Gradient[float32]) {
	C.quadrotor_costs_vjp(inUse, t.c(), size(t.B), ptr(t.S0), ptr(t.S1), ptr(t.A), ptr(t.Last), ptr(t.Ref),
		ptr(weights), ptr(scale), ptr(g.S0), ptr(g.S1), ptr(g.A), ptr(g.Last))
}

func (v *View) c() C.quadrotor_view {
	return C.quadrotor_view{looks: size(v.PreviewPoints), place: size(v.Place),
		past: size(v.Past), state: size(v.State),
		width: size(v.Width)}
}

func observeC(v *View, B int, s, ref, seen, past, x []float32) {
	C.quadrotor_observe(inUse, v.c(), size(B), ptr(s), ptr(ref), ptr(seen), ptr(past), ptr(x))
}

func observeVJPC(v *View, B int, s, dx, ds, dseen, dpast []float32) {
	C.quadrotor_observe_vjp(inUse, v.c(), size(B), ptr(s), ptr(dx), ptr(ds), ptr(dseen), ptr(dpast))
}
