package cdr

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// Primitive is an element type of fixed size; .msg byte and char are uint8.
type Primitive interface {
	bool | uint8 | int8 | uint16 | int16 | uint32 | int32 | uint64 | int64 | float32 | float64
}

// Resize returns s with length n, re-using its memory when it has room. Elements that it had keep
// their values, so that what they refer to is re-used in turn.
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

func sizeOf[T Primitive]() int {
	switch any(*new(T)).(type) {
	case uint16, int16:
		return 2
	case uint32, int32, float32:
		return 4
	case uint64, int64, float64:
		return 8
	default:
		return 1
	}
}

// EncodeArray appends elements without a count. No elements take no bytes, alignment included.
func EncodeArray[T Primitive](e *Encoder, s []T) {
	if len(s) == 0 {
		return
	}
	size := sizeOf[T]()
	e.align(size)
	start := len(e.buf)
	e.buf = slices.Grow(e.buf, size*len(s))[:start+size*len(s)]
	b := e.buf[start:]
	switch s := any(s).(type) {
	case []bool:
		for i, v := range s {
			b[i] = 0
			if v {
				b[i] = 1
			}
		}
	case []uint8:
		copy(b, s)
	case []int8:
		for i, v := range s {
			b[i] = byte(v)
		}
	case []uint16:
		put16(b, s, e.big)
	case []int16:
		put16(b, s, e.big)
	case []uint32:
		put32(b, s, e.big)
	case []int32:
		put32(b, s, e.big)
	case []uint64:
		put64(b, s, e.big)
	case []int64:
		put64(b, s, e.big)
	case []float32:
		for i, v := range s {
			binary.LittleEndian.PutUint32(b[4*i:], order32(math.Float32bits(v), e.big))
		}
	case []float64:
		for i, v := range s {
			binary.LittleEndian.PutUint64(b[8*i:], order64(math.Float64bits(v), e.big))
		}
	}
}

// DecodeArray fills dst with elements that have no count before them.
func DecodeArray[T Primitive](d *Decoder, dst []T, field string) {
	b := d.takeArray(len(dst), sizeOf[T](), field)
	if len(b) == 0 {
		return
	}
	switch s := any(dst).(type) {
	case []bool:
		d.bools(s, b, field)
	case []uint8:
		copy(s, b)
	case []int8:
		for i := range s {
			s[i] = int8(b[i])
		}
	case []uint16:
		get16(s, b, d.big)
	case []int16:
		get16(s, b, d.big)
	case []uint32:
		get32(s, b, d.big)
	case []int32:
		get32(s, b, d.big)
	case []uint64:
		get64(s, b, d.big)
	case []int64:
		get64(s, b, d.big)
	case []float32:
		for i := range s {
			s[i] = math.Float32frombits(order32(binary.LittleEndian.Uint32(b[4*i:]), d.big))
		}
	case []float64:
		for i := range s {
			s[i] = math.Float64frombits(order64(binary.LittleEndian.Uint64(b[8*i:]), d.big))
		}
	}
}

// takeArray returns the bytes of n elements of the given size, aligned; nil for none or an error.
func (d *Decoder) takeArray(n, size int, field string) []byte {
	if n == 0 {
		return nil
	}
	off := d.off + (-d.off & (size - 1))
	if n > (len(d.data)-off)/size { // negative when the padding itself is cut off
		d.short(n*size, field)
		return nil
	}
	d.off = off + n*size
	return d.data[off:d.off]
}

func (d *Decoder) bools(dst []bool, b []byte, field string) {
	for i, v := range b {
		if v > 1 {
			d.failf(field, "octet %d at byte %d, expected a boolean 0 or 1", v, HeaderSize+d.off-len(b)+i)
			return
		}
		dst[i] = v == 1
	}
}

func put16[T uint16 | int16](b []byte, s []T, big bool) {
	for i, v := range s {
		binary.LittleEndian.PutUint16(b[2*i:], order16(uint16(v), big))
	}
}

func put32[T uint32 | int32](b []byte, s []T, big bool) {
	for i, v := range s {
		binary.LittleEndian.PutUint32(b[4*i:], order32(uint32(v), big))
	}
}

func put64[T uint64 | int64](b []byte, s []T, big bool) {
	for i, v := range s {
		binary.LittleEndian.PutUint64(b[8*i:], order64(uint64(v), big))
	}
}

func get16[T uint16 | int16](s []T, b []byte, big bool) {
	for i := range s {
		s[i] = T(order16(binary.LittleEndian.Uint16(b[2*i:]), big))
	}
}

func get32[T uint32 | int32](s []T, b []byte, big bool) {
	for i := range s {
		s[i] = T(order32(binary.LittleEndian.Uint32(b[4*i:]), big))
	}
}

func get64[T uint64 | int64](s []T, b []byte, big bool) {
	for i := range s {
		s[i] = T(order64(binary.LittleEndian.Uint64(b[8*i:]), big))
	}
}

// order16, order32 and order64 turn little-endian into the wanted order and back.
func order16(v uint16, big bool) uint16 {
	if big {
		return bits.ReverseBytes16(v)
	}
	return v
}

func order32(v uint32, big bool) uint32 {
	if big {
		return bits.ReverseBytes32(v)
	}
	return v
}

func order64(v uint64, big bool) uint64 {
	if big {
		return bits.ReverseBytes64(v)
	}
	return v
}
