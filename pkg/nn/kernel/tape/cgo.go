//go:build cgo && !purego

package tape

/*
#cgo CFLAGS: -O3 -Wall
#cgo LDFLAGS: -lm
#cgo noescape vnd_tape_forward
#cgo nocallback vnd_tape_forward
#cgo noescape vnd_tape_backward
#cgo nocallback vnd_tape_backward
#include "tape.h"
*/
import "C"

import "unsafe"

func forward(code []instruction, args []int32, theta, x []float64) {
	C.vnd_tape_forward((*C.vnd_instruction)(unsafe.Pointer(unsafe.SliceData(code))), C.ptrdiff_t(len(code)),
		(*C.int32_t)(unsafe.SliceData(args)), number(theta), number(x))
}

func backward(code []instruction, args []int32, theta, x, dx, dtheta []float64) {
	C.vnd_tape_backward((*C.vnd_instruction)(unsafe.Pointer(unsafe.SliceData(code))), C.ptrdiff_t(len(code)),
		(*C.int32_t)(unsafe.SliceData(args)), number(theta), number(x), number(dx), number(dtheta))
}

func number(x []float64) *C.double { return (*C.double)(unsafe.SliceData(x)) }
