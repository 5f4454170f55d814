package overrcl

/*
#include "rcl.h"
*/
import "C"

import (
	"sync"

	"vnd/pkg/ros2/dds"
)

// takeCall is the state of one call of Take. Calls may nest and run side by side.
type takeCall struct {
	sample dds.Sample
	data   []byte
}

// take copies the message that was taken in C; false if there is none.
func (v *takeCall) take(m *C.struct_vnd_message) bool {
	if m.taken == 0 {
		return false
	}
	v.data = append(v.data[:0], bytesOf(m)...)
	v.sample = sampleOf(m, v.data)
	return true
}

// takeCalls is a pool of them.
type takeCalls struct{ pool sync.Pool }

func (p *takeCalls) get() *takeCall {
	if v, ok := p.pool.Get().(*takeCall); ok {
		return v
	}
	return &takeCall{}
}

func (p *takeCalls) put(v *takeCall) { p.pool.Put(v) }
