//go:build cgo

package mujoco

// #cgo LDFLAGS: -ldl
// #include <stdlib.h>
// #include "load.h"
import "C"

import (
	"fmt"
	"os"
	"strings"
	"unsafe"
)

// Worlds are worlds of one model, each with a state and parameters of its own. They are for one goroutine; MuJoCo steps
// them on threads of its own. The same states, parameters and controls give the same steps, on any number of threads.
type Worlds struct {
	Positions, Velocities Columns // of the joints, in the order of the model
	Controls              Columns // of the actuators

	table  *C.struct_vnd_mujoco
	worlds *C.struct_vnd_worlds
	n      int
	said   *[256]C.char // what failed; in C's memory, as a step must not allocate
}

// open loads the shared object.
func open() (*C.struct_vnd_mujoco, error) {
	path := library()
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("%w (no %s)", ErrMissing, path)
	}
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	var failed *C.char
	t := C.vnd_mujoco_load(name, &failed)
	switch {
	case t == nil:
		return nil, fmt.Errorf("%w (%s)", ErrMissing, C.GoString(failed))
	case t.version != C.VND_MUJOCO_VERSION:
		return nil, fmt.Errorf("%s is of another version of this program: make simulators makes it anew", path)
	}
	return t, nil
}

// New makes n worlds of a model in MJCF, which as many threads step. Its error is one line.
func New(model string, n, threads int) (*Worlds, error) {
	if n < 1 || threads < 1 {
		return nil, fmt.Errorf("%d worlds on %d threads: expected 1 or more", n, threads)
	}
	t, err := open()
	if err != nil {
		return nil, err
	}
	xml := C.CString(model)
	defer C.free(unsafe.Pointer(xml))
	w := &Worlds{table: t, n: n, said: (*[256]C.char)(C.calloc(256, 1))}
	if w.worlds = C.vnd_make(t, xml, C.int(n), C.int(threads), &w.said[0], C.int(len(w.said))); w.worlds == nil {
		reason, _, _ := strings.Cut(C.GoString(&w.said[0]), "\n")
		C.free(unsafe.Pointer(w.said))
		return nil, fmt.Errorf("model: %s", strings.TrimPrefix(reason, "Error: "))
	}
	w.Positions = w.columns(C.vnd_positions(t, w.worlds))
	w.Velocities = w.columns(C.vnd_velocities(t, w.worlds))
	w.Controls = w.columns(C.vnd_controls(t, w.worlds))
	return w, nil
}

// Close ends the worlds. A second time it does nothing.
func (w *Worlds) Close() {
	if w.worlds == nil {
		return
	}
	C.vnd_destroy(w.table, w.worlds)
	C.free(unsafe.Pointer(w.said))
	w.worlds, w.said = nil, nil
}

// Size is how many worlds there are.
func (w *Worlds) Size() int { return w.n }

func (w *Worlds) columns(c C.struct_vnd_columns) Columns {
	size, stride := int(c.size), int(c.stride)
	return Columns{unsafe.Slice((*float64)(c.data), (w.n-1)*stride+size), size, stride}
}

// Parameter returns a field of the model, such as "body_mass" or "opt.gravity". Reset lets what was written count.
func (w *Worlds) Parameter(field string) (Columns, error) {
	name := C.CString(field)
	defer C.free(unsafe.Pointer(name))
	c := C.vnd_parameter(w.table, w.worlds, name)
	if c.data == nil {
		return Columns{}, fmt.Errorf("model: no field %q of real numbers", field)
	}
	return w.columns(c), nil
}

// Body returns the number of a body.
func (w *Worlds) Body(name string) (int, error) {
	of := C.CString(name)
	defer C.free(unsafe.Pointer(of))
	return found("body", name, C.vnd_body(w.table, w.worlds, of))
}

// Pair returns the number of a pair of contacts.
func (w *Worlds) Pair(name string) (int, error) {
	of := C.CString(name)
	defer C.free(unsafe.Pointer(of))
	return found("pair", name, C.vnd_pair(w.table, w.worlds, of))
}

func found(what, name string, id C.int) (int, error) {
	if id < 0 {
		return 0, fmt.Errorf("model: no %s %q", what, name)
	}
	return int(id), nil
}

// Reset puts the worlds ids back to where the model begins, with the parameters that they have now.
func (w *Worlds) Reset(ids []int32) error {
	if len(ids) == 0 {
		return nil
	}
	return w.failed(C.vnd_reset(w.table, w.worlds, (*C.int)(&ids[0]), C.int(len(ids)), &w.said[0], C.int(len(w.said))))
}

// Step lets steps of the model pass in every world. It allocates nothing.
func (w *Worlds) Step(steps int) error {
	return w.failed(C.vnd_step(w.table, w.worlds, C.int(steps), &w.said[0], C.int(len(w.said))))
}

func (w *Worlds) failed(world C.int) error {
	if world < 0 {
		return nil
	}
	return fmt.Errorf("world %d: MuJoCo: %s", world, C.GoString(&w.said[0]))
}
