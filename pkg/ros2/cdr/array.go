package cdr

import (
	"encoding/binary"
	"slices"
	"unsafe"
)

// Primitive is an element type of fixed size; .msg byte and char are uint8.
type Primitive interface {
	bool | uint8 | int8 | uint16 | int16 | uint32 | int32 | uint64 | int64 | float32 | float64
}

// hostOrder is the byte order of numbers in memory.
var hostOrder = Order(binary.NativeEndian.Uint16([]byte{1, 0}))

// Resize returns s with length n and re-uses its memory if it is large enough. Old elements keep their
// values, so that a nested message re-uses its slices in turn.
func Resize[T any](s []T, n int) []T {
	if n <= cap(s) {
		return s[:n]
	}
	grown := make([]T, n)
	copy(grown, s[:cap(s)])
	return grown
}

// EncodeSeq appends the count, at most bound (0: unbounded), and the elements of a sequence.
func EncodeSeq[T Primitive](e *Encoder, s []T, bound int, field string) {
	e.Len(len(s), bound, field)
	EncodeArray(e, s)
}

// DecodeSeq reads a sequence of at most bound elements (0: unbounded) into dst, re-using its memory.
func DecodeSeq[T Primitive](d *Decoder, dst *[]T, bound int, field string) {
	*dst = Resize(*dst, d.Len(bound, sizeOf[T](), field))
	DecodeArray(d, *dst, field)
}

func sizeOf[T Primitive]() int { return int(unsafe.Sizeof(*new(T))) }

// memory is the memory of s.
func memory[T Primitive](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*sizeOf[T]())
}

// EncodeArray appends elements without a count. No elements take no bytes, alignment included.
func EncodeArray[T Primitive](e *Encoder, s []T) {
	if len(s) == 0 {
		return
	}
	e.align(sizeOf[T]())
	start := len(e.buf)
	e.buf = append(e.buf, memory(s)...)
	if e.order != hostOrder {
		reverseEach(e.buf[start:], sizeOf[T]())
	}
}

// DecodeArray fills dst with elements that have no count before them.
func DecodeArray[T Primitive](d *Decoder, dst []T, field string) {
	if len(dst) == 0 {
		return
	}
	size := sizeOf[T]()
	off := d.off + (-d.off & (size - 1))
	if len(dst) > (len(d.data)-off)/size { // negative when the padding itself is cut off
		d.short(len(dst)*size, field)
		return
	}
	b := d.data[off : off+len(dst)*size]
	d.off = off + len(b)
	if len(dst) > 1 {
		d.spare += 2*size + 7 // and what aligns the field behind
	}
	if _, isBool := any(dst).([]bool); isBool {
		if i := slices.IndexFunc(b, func(v byte) bool { return v > 1 }); i >= 0 {
			d.notBool(b[i], off+i, field)
			return
		}
	}
	copy(memory(dst), b)
	if d.order != hostOrder {
		reverseEach(memory(dst), size)
	}
}

// reverseEach turns elements of the given size, in bytes, into the other byte order.
func reverseEach(b []byte, size int) {
	for i := 0; size > 1 && i < len(b); i += size {
		slices.Reverse(b[i : i+size])
	}
}
