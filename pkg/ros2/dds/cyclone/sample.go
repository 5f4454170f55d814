//go:build cgo && !nocyclone

package cyclone

// #cgo noescape vnd_write
// #cgo nocallback vnd_write
// #cgo noescape vnd_take
// #cgo nocallback vnd_take
// #cgo noescape vnd_blob_copy
// #cgo nocallback vnd_blob_copy
// #include "glue.h"
import "C"

import (
	"fmt"
	"slices"
	"sync/atomic"
	"unsafe"

	"vnd/pkg/ros2/dds"
)

func (w *writer) Write(sample []byte, stamp int64) error {
	if err := w.check(sample); err != nil {
		return err
	}
	w.use.RLock()
	defer w.use.RUnlock()
	if w.closed.Load() {
		return dds.ErrClosed
	}
	code := C.vnd_write(w.c, unsafe.Pointer(unsafe.SliceData(sample)), C.uint32_t(len(sample)), C.int64_t(stamp))
	switch {
	case code == C.DDS_RETCODE_OK:
		return nil
	case w.closed.Load(): // Close interrupts a write
		return dds.ErrClosed
	case code == C.DDS_RETCODE_TIMEOUT:
		return dds.ErrTimeout
	}
	return fmt.Errorf("topic %s: %d bytes: %w", w.topic.Name, len(sample), failure(code))
}

// reader implements dds.Reader.
type reader struct {
	endpoint
	spare atomic.Pointer[batch] // kept for the next Take
}

// batch holds the samples of one call of C.
type batch struct {
	samples [C.VND_BATCH]C.struct_vnd_sample
	taken   []C.struct_vnd_sample // of samples, not passed to f yet
	more    C.bool
	buffer  []byte // of the samples that fit
	large   []byte // of one that does not
	view    dds.Sample
}

func (r *reader) Take(most int, f func(*dds.Sample)) (int, error) {
	b := r.spare.Swap(nil) // none when Take runs already
	if b == nil {
		b = &batch{buffer: make([]byte, 16<<10)}
	}
	defer r.give(b)
	taken := 0
	for b.more = true; taken < most && bool(b.more); {
		if err := r.takeBatch(b, most-taken); err != nil {
			return taken, err
		}
		taken += len(b.taken)
		for len(b.taken) > 0 {
			b.show(f)
		}
	}
	return taken, nil
}

// give keeps a batch for the next Take. It has samples left only if f panicked.
func (r *reader) give(b *batch) {
	for i := range b.taken {
		if b.taken[i].blob != 0 {
			C.vnd_blob_drop(b.taken[i].blob)
		}
	}
	b.taken, b.view = nil, dds.Sample{}
	if len(b.large) > len(b.buffer) {
		b.large, b.buffer = b.buffer, b.large
	}
	r.spare.Store(b)
}

// takeBatch takes samples with one call of C.
func (r *reader) takeBatch(b *batch, most int) error {
	r.use.RLock()
	defer r.use.RUnlock()
	if r.c == nil {
		return dds.ErrClosed
	}
	n := C.vnd_take(r.c, C.int(min(most, len(b.samples))), &b.samples[0],
		unsafe.Pointer(unsafe.SliceData(b.buffer)), C.uint32_t(len(b.buffer)), &b.more)
	if n < 0 {
		return fmt.Errorf("topic %s: %w", r.topic.Name, failure(n))
	}
	b.taken = b.samples[:n]
	return nil
}

// show passes the next sample to f.
func (b *batch) show(f func(*dds.Sample)) {
	s := &b.taken[0]
	size := int(s.size)
	b.view = dds.Sample{Source: int64(s.source), Writer: guidOf(&s.writer)}
	if s.blob == 0 {
		b.view.Data = b.buffer[s.offset:][:size:size]
	} else {
		b.large = slices.Grow(b.large[:0], size)[:size]
		C.vnd_blob_copy(s.blob, unsafe.Pointer(unsafe.SliceData(b.large)), s.size)
		b.view.Data = b.large
	}
	b.taken = b.taken[1:]
	f(&b.view)
}
