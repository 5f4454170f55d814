package control

import "sync/atomic"

// Ring hands values from one goroutine to another in order, without locks or allocation. A full ring takes nothing
// more: the writer never waits for the reader.
type Ring[T any] struct {
	slots   []T
	head    atomic.Uint64 // next to be read
	tail    atomic.Uint64 // next to be written
	dropped atomic.Uint64
}

// NewRing has space for n values, each made by create.
func NewRing[T any](n int, create func() T) *Ring[T] {
	r := &Ring[T]{slots: make([]T, n)}
	for i := range r.slots {
		r.slots[i] = create()
	}
	return r
}

// Slot is where the writer puts the next value, before Push; nil where there is no space, which counts as a drop.
func (r *Ring[T]) Slot() *T {
	tail := r.tail.Load()
	if tail-r.head.Load() == uint64(len(r.slots)) {
		r.dropped.Add(1)
		return nil
	}
	return &r.slots[tail%uint64(len(r.slots))]
}

// Push gives the slot to the reader.
func (r *Ring[T]) Push() { r.tail.Add(1) }

// Front is the oldest value, the reader's until Pop; nil where there is none.
func (r *Ring[T]) Front() *T {
	head := r.head.Load()
	if head == r.tail.Load() {
		return nil
	}
	return &r.slots[head%uint64(len(r.slots))]
}

// Pop gives the slot back to the writer.
func (r *Ring[T]) Pop() { r.head.Add(1) }

// Dropped counts the values for which there was no space.
func (r *Ring[T]) Dropped() uint64 { return r.dropped.Load() }
