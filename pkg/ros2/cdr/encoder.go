package cdr

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"unicode/utf16"
)

// Encoder appends CDR to a buffer. The zero value is not ready: Reset it first.
type Encoder struct {
	buf    []byte
	origin int // index in buf from which alignment counts: the byte after the header
	order  Order
	err    error
}

// Reset makes the Encoder append to dst, starting with an encapsulation header.
func (e *Encoder) Reset(dst []byte, order Order) {
	e.order, e.err = order, nil
	e.buf = append(dst, 0, byte(order), 0, 0)
	e.origin = len(e.buf)
}

// Bytes is the buffer so far, or the first error.
func (e *Encoder) Bytes() ([]byte, error) {
	if e.err != nil {
		return nil, e.err
	}
	return e.buf, nil
}

var padding [8]byte

// align pads to a multiple of n, a power of two up to 8.
func (e *Encoder) align(n int) {
	if pad := (e.origin - len(e.buf)) & (n - 1); pad != 0 {
		e.buf = append(e.buf, padding[:pad]...)
	}
}

// Bool appends one octet, 0 or 1.
func (e *Encoder) Bool(v bool) {
	b := byte(0)
	if v {
		b = 1
	}
	e.buf = append(e.buf, b)
}

// Uint8 appends one octet; .msg byte and char are uint8 too.
func (e *Encoder) Uint8(v uint8) { e.buf = append(e.buf, v) }

// Int8 appends one octet.
func (e *Encoder) Int8(v int8) { e.buf = append(e.buf, byte(v)) }

// Uint16 appends two bytes, aligned.
func (e *Encoder) Uint16(v uint16) {
	e.align(2)
	if e.order == BigEndian {
		v = bits.ReverseBytes16(v)
	}
	e.buf = binary.LittleEndian.AppendUint16(e.buf, v)
}

// Int16 appends two bytes, aligned.
func (e *Encoder) Int16(v int16) { e.Uint16(uint16(v)) }

// Uint32 appends four bytes, aligned.
func (e *Encoder) Uint32(v uint32) {
	e.align(4)
	if e.order == BigEndian {
		v = bits.ReverseBytes32(v)
	}
	e.buf = binary.LittleEndian.AppendUint32(e.buf, v)
}

// Int32 appends four bytes, aligned.
func (e *Encoder) Int32(v int32) { e.Uint32(uint32(v)) }

// Uint64 appends eight bytes, aligned.
func (e *Encoder) Uint64(v uint64) {
	e.align(8)
	if e.order == BigEndian {
		v = bits.ReverseBytes64(v)
	}
	e.buf = binary.LittleEndian.AppendUint64(e.buf, v)
}

// Int64 appends eight bytes, aligned.
func (e *Encoder) Int64(v int64) { e.Uint64(uint64(v)) }

// Float32 appends an IEEE 754 single, aligned.
func (e *Encoder) Float32(v float32) { e.Uint32(math.Float32bits(v)) }

// Float64 appends an IEEE 754 double, aligned.
func (e *Encoder) Float64(v float64) { e.Uint64(math.Float64bits(v)) }

// String appends a string of at most bound bytes (0: unbounded). field names it in errors.
func (e *Encoder) String(s string, bound int, field string) {
	if bound > 0 && len(s) > bound {
		e.failf(field, "string of %d bytes, expected at most %d", len(s), bound)
		return
	}
	if uint64(len(s)) >= math.MaxUint32 {
		e.failf(field, "string of %d bytes, expected less than 2^32", len(s))
		return
	}
	e.Uint32(uint32(len(s)) + 1)
	e.buf = append(e.buf, s...)
	e.buf = append(e.buf, 0)
}

// WString appends a UTF-8 string as UTF-16 code units, at most bound of them (0: unbounded).
func (e *Encoder) WString(s string, bound int, field string) {
	units := 0
	for _, r := range s {
		units += utf16.RuneLen(r)
	}
	if bound > 0 && units > bound {
		e.failf(field, "wstring of %d UTF-16 code units, expected at most %d", units, bound)
		return
	}
	if uint64(units) > math.MaxUint32 {
		e.failf(field, "wstring of %d UTF-16 code units, expected less than 2^32", units)
		return
	}
	e.Uint32(uint32(units))
	for _, r := range s { // a byte that is not UTF-8 arrives here as U+FFFD
		if utf16.RuneLen(r) == 1 {
			e.Uint32(uint32(r))
			continue
		}
		high, low := utf16.EncodeRune(r)
		e.Uint32(uint32(high))
		e.Uint32(uint32(low))
	}
}

// Len appends a sequence's count, at most bound (0: unbounded). When it fails, what is appended
// afterwards is of no use, and Bytes says so.
func (e *Encoder) Len(n, bound int, field string) {
	if bound > 0 && n > bound {
		e.failf(field, "sequence of %d elements, expected at most %d", n, bound)
		return
	}
	if uint64(n) > math.MaxUint32 {
		e.failf(field, "sequence of %d elements, expected less than 2^32", n)
		return
	}
	e.Uint32(uint32(n))
}

func (e *Encoder) failf(field, format string, args ...any) {
	if e.err == nil {
		e.err = fmt.Errorf("%s: "+format, append([]any{field}, args...)...)
	}
}
