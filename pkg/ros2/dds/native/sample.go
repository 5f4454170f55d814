//go:build cgo

package native

// #cgo noescape call_write
// #cgo nocallback call_write
// #cgo noescape call_write_related
// #cgo nocallback call_write_related
// #cgo noescape call_take
// #cgo nocallback call_take
// #cgo noescape call_copy
// #cgo nocallback call_copy
// #include "call.h"
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
	return w.result(sample, C.call_write(w.participant.api, w.c, unsafe.Pointer(unsafe.SliceData(sample)),
		C.uint32_t(len(sample)), C.int64_t(stamp)))
}

// WriteRelated implements dds.RelatedWriter.
func (w *writer) WriteRelated(sample []byte, related dds.Identity) (sequence int64, err error) {
	if err := w.check(sample); err != nil {
		return 0, err
	}
	w.use.RLock()
	defer w.use.RUnlock()
	if w.closed.Load() {
		return 0, dds.ErrClosed
	}
	to := C.struct_vnd_identity{writer: *(*[16]C.uint8_t)(unsafe.Pointer(&related.Writer)),
		sequence: C.int64_t(related.Sequence)}
	var number C.int64_t
	err = w.result(sample, C.call_write_related(w.participant.api, w.c, unsafe.Pointer(unsafe.SliceData(sample)),
		C.uint32_t(len(sample)), &to, &number))
	return int64(number), err
}

// result is the outcome of a write as an error.
func (w *writer) result(sample []byte, code C.int) error {
	switch {
	case code == C.VND_OK:
		return nil
	case w.closed.Load(): // Close interrupts a write
		return dds.ErrClosed
	case code == C.VND_TIMEOUT:
		return dds.ErrTimeout
	}
	return fmt.Errorf("topic %s: %d bytes: %w", w.topic.Name, len(sample), w.participant.failure(code))
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
			r.show(b, f)
		}
	}
	return taken, nil
}

// give keeps a batch for the next Take. It has samples left only if f panicked.
func (r *reader) give(b *batch) {
	for i := range b.taken {
		if b.taken[i].held != 0 {
			C.call_drop(r.participant.api, b.taken[i].held)
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
	n := C.call_take(r.participant.api, r.c, C.int(min(most, len(b.samples))), &b.samples[0],
		unsafe.Pointer(unsafe.SliceData(b.buffer)), C.uint32_t(len(b.buffer)), &b.more)
	if n < 0 {
		return fmt.Errorf("topic %s: %w", r.topic.Name, r.participant.failure(n))
	}
	b.taken = b.samples[:n]
	return nil
}

// show passes the next sample to f.
func (r *reader) show(b *batch, f func(*dds.Sample)) {
	s := &b.taken[0]
	size := int(s.size)
	b.view = dds.Sample{Source: int64(s.source), Writer: guidOf(&s.writer), Sequence: int64(s.sequence),
		Related: dds.Identity{Writer: guidOf(&s.related.writer), Sequence: int64(s.related.sequence)}}
	if s.held == 0 {
		b.view.Data = b.buffer[s.offset:][:size:size]
	} else {
		b.large = slices.Grow(b.large[:0], size)[:size]
		C.call_copy(r.participant.api, s.held, unsafe.Pointer(unsafe.SliceData(b.large)), s.size)
		b.view.Data = b.large
	}
	b.taken = b.taken[1:]
	f(&b.view)
}
