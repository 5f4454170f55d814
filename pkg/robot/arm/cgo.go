//go:build cgo && !purego

package arm

/*
#cgo CFLAGS: -O2 -Wall -fopenmp-simd
#cgo LDFLAGS: -lm
#cgo noescape arm_step
#cgo nocallback arm_step
#cgo noescape arm_step_vjp
#cgo nocallback arm_step_vjp
#include <stdlib.h>
#include "kernels.h"
*/
import "C"

import (
	"unsafe"

	"vnd/pkg/core/so3"
)

// inUse are the C kernels that float32 runs, nil for the Go reference.
var inUse *C.arm_kernels

// useC takes the C kernels of an instruction set into use and reports whether there are any.
func useC(instructions string) bool {
	name := C.CString(instructions)
	defer C.free(unsafe.Pointer(name))
	inUse = C.arm_find(name)
	return inUse != nil
}

func ptr(x []float32) *C.float { return (*C.float)(unsafe.Pointer(unsafe.SliceData(x))) }

func vectorC(v so3.Vec3) [3]C.float { return [3]C.float{C.float(v.X), C.float(v.Y), C.float(v.Z)} }

func matrixC(m *so3.Mat3) (out [9]C.float) {
	for i := range out {
		out[i] = C.float(m[i/3][i%3])
	}
	return out
}

func (b *Body) c() C.arm_body {
	return C.arm_body{mass: C.float(b.Mass), at: vectorC(b.At), inertia: matrixC(&b.Inertia)}
}

func (l *Link) c() C.arm_link {
	return C.arm_link{turn: matrixC(&l.Turn), at: vectorC(l.At), body: l.Body.c(), armature: C.float(l.Armature),
		damping: C.float(l.Damping), friction: C.float(l.Friction)}
}

func (m *Arm[F]) c() C.arm_chain {
	c := C.arm_chain{payload: m.chain.Payload.c(), steps: C.int(m.steps), h: C.float(m.h)}
	if m.chain.Compensated {
		c.compensated = 1
	}
	for i := range c.link {
		c.link[i] = m.chain.Links[i].c()
	}
	return c
}

func (m *Arm[F]) stepC(B int, s, a, d, next []float32) {
	c := m.c()
	C.arm_step(inUse, &c, C.ptrdiff_t(B), ptr(s), ptr(a), ptr(d), ptr(next))
}

func (m *Arm[F]) stepVJPC(B int, s, a, dnext, ds, da, dd []float32) {
	c := m.c()
	C.arm_step_vjp(inUse, &c, C.ptrdiff_t(B), ptr(s), ptr(a), ptr(dnext), ptr(ds), ptr(da), ptr(dd))
}
