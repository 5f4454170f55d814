package overrcl

/*
#include "rcl.h"
*/
import "C"

import (
	"sync"

	"vnd/pkg/ros2/dds"
)

// visit is one call of Take: such calls may nest and run side by side.
type visit struct {
	sample dds.Sample
	data   []byte
}

// take takes over what was taken in C, if anything was.
func (v *visit) take(m *C.struct_vnd_message) bool {
	if m.taken == 0 {
		return false
	}
	v.data = append(v.data[:0], bytesOf(m)...)
	v.sample = sampleOf(m, v.data)
	return true
}

// visits keeps those that have ended, for the next.
type visits struct{ pool sync.Pool }

func (p *visits) get() *visit {
	if v, ok := p.pool.Get().(*visit); ok {
		return v
	}
	return &visit{}
}

func (p *visits) put(v *visit) { p.pool.Put(v) }
