package cdr

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// Decoder reads CDR from a byte slice. The first error stays: every later read returns zero.
// Every read names its field as "package/msg/Type.field" for that error.
type Decoder struct {
	data    []byte // after the encapsulation header, so that offsets count from the origin
	off     int
	order   Order
	err     error
	scratch []byte // UTF-8 of the wstring being read
	spare   int    // bytes that a sender may leave behind the last field, for the arrays so far
	varies  bool   // the message has no fixed size
}

// Reset makes the Decoder read data, which starts with an encapsulation header.
func (d *Decoder) Reset(data []byte) {
	order, err := parseHeader(data)
	*d = Decoder{err: err, order: order, scratch: d.scratch[:0]}
	if err == nil {
		d.data = data[HeaderSize:]
	}
}

// Err is the first error so far.
func (d *Decoder) Err() error { return d.err }

// remaining is the number of bytes not yet read.
func (d *Decoder) remaining() int { return len(d.data) - d.off }

// Finish is the first error, or one for bytes left over beyond padding. Lyrical's rmw_cyclonedds_cpp (4.1.5) sends
// messages of fixed size too long: it counts two elements more than an array has.
func (d *Decoder) Finish() error {
	limit := maxPadding
	if !d.varies {
		limit += d.spare
	}
	if d.err == nil && d.remaining() > limit {
		return fmt.Errorf("%d bytes left after the last field, expected at most %d of padding: "+
			"the sender's definition differs", d.remaining(), limit)
	}
	return d.err
}

// short records that n bytes do not remain.
func (d *Decoder) short(n int, field string) {
	d.failf(field, "expected %d more bytes at byte %d, the data ends at %d", n, HeaderSize+d.off,
		HeaderSize+len(d.data))
}

// failf records the first error and lets every later read fail.
func (d *Decoder) failf(field, format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("%s: "+format, append([]any{field}, args...)...)
	}
	d.data, d.off = nil, 0
}

// Bool reads one octet, which must be 0 or 1.
func (d *Decoder) Bool(field string) bool {
	v := d.Uint8(field)
	if v > 1 {
		d.notBool(v, d.off-1, field)
	}
	return v == 1
}

func (d *Decoder) notBool(v byte, off int, field string) {
	d.failf(field, "octet %d at byte %d, expected a boolean 0 or 1", v, HeaderSize+off)
}

// Uint8 reads one octet.
func (d *Decoder) Uint8(field string) uint8 {
	if d.off >= len(d.data) {
		d.short(1, field)
		return 0
	}
	v := d.data[d.off]
	d.off++
	return v
}

// Int8 reads one octet.
func (d *Decoder) Int8(field string) int8 { return int8(d.Uint8(field)) }

// Uint16 reads two bytes, aligned.
func (d *Decoder) Uint16(field string) uint16 { return uint16(d.number(2, field)) }

// Int16 reads two bytes, aligned.
func (d *Decoder) Int16(field string) int16 { return int16(d.number(2, field)) }

// Uint32 reads four bytes, aligned.
func (d *Decoder) Uint32(field string) uint32 { return uint32(d.number(4, field)) }

// Int32 reads four bytes, aligned.
func (d *Decoder) Int32(field string) int32 { return int32(d.number(4, field)) }

// Uint64 reads eight bytes, aligned.
func (d *Decoder) Uint64(field string) uint64 { return d.number(8, field) }

// Int64 reads eight bytes, aligned.
func (d *Decoder) Int64(field string) int64 { return int64(d.number(8, field)) }

// number reads size bytes (2, 4 or 8), aligned, into the low bytes of the result.
func (d *Decoder) number(size int, field string) uint64 {
	off := d.off + (-d.off & (size - 1))
	if off > len(d.data)-size {
		d.short(size, field)
		return 0
	}
	d.off = off + size
	var v uint64 // with other bytes above those of the number
	if rest := d.data[off:]; len(rest) >= 8 {
		v = binary.LittleEndian.Uint64(rest)
	} else {
		var last [8]byte
		copy(last[:], rest)
		v = binary.LittleEndian.Uint64(last[:])
	}
	if d.order == BigEndian {
		v = bits.ReverseBytes64(v) >> (64 - 8*size)
	}
	return v
}

// Float32 reads an IEEE 754 single, aligned.
func (d *Decoder) Float32(field string) float32 { return math.Float32frombits(d.Uint32(field)) }

// Float64 reads an IEEE 754 double, aligned.
func (d *Decoder) Float64(field string) float64 { return math.Float64frombits(d.Uint64(field)) }

// String reads a string of at most bound bytes (0: unbounded) into dst, which is left alone when
// it is equal already. A length of 0, which some senders write for the empty string, is accepted.
func (d *Decoder) String(dst *string, bound int, field string) {
	n := d.Uint32(field)
	d.varies = true
	if n == 0 {
		*dst = ""
		return
	}
	if uint64(n) > uint64(d.remaining()) {
		d.failf(field, "string of %d bytes at byte %d, %d remain", n, HeaderSize+d.off, d.remaining())
		return
	}
	b := d.data[d.off : d.off+int(n)]
	if b[n-1] != 0 {
		d.failf(field, "string of %d bytes at byte %d, expected NUL as its last", n, HeaderSize+d.off)
		return
	}
	b = b[:n-1]
	if bound > 0 && len(b) > bound {
		d.failf(field, "string of %d bytes at byte %d, expected at most %d", len(b), HeaderSize+d.off, bound)
		return
	}
	d.off += int(n)
	if *dst != string(b) {
		*dst = string(b)
	}
}

// WString reads at most bound UTF-16 code units (0: unbounded) into dst as UTF-8; a surrogate
// without its partner becomes U+FFFD. dst is left alone when it is equal already.
func (d *Decoder) WString(dst *string, bound int, field string) {
	n := d.Len(bound, 4, field)
	d.scratch = d.scratch[:0]
	high := rune(0) // a high surrogate before its low one
	for range n {
		u := d.Uint32(field)
		if u > math.MaxUint16 {
			d.failf(field, "0x%x at byte %d, expected a UTF-16 code unit", u, HeaderSize+d.off-4)
			return
		}
		high = d.putUTF16(high, rune(u))
	}
	if high != 0 {
		d.scratch = utf8.AppendRune(d.scratch, utf8.RuneError)
	}
	if *dst != string(d.scratch) {
		*dst = string(d.scratch)
	}
}

// putUTF16 appends code unit u to the scratch, after the pending high surrogate, and returns
// the one that is pending now.
func (d *Decoder) putUTF16(high, u rune) (pending rune) {
	if high != 0 {
		if r := utf16.DecodeRune(high, u); r != utf8.RuneError {
			d.scratch = utf8.AppendRune(d.scratch, r)
			return 0
		}
		d.scratch = utf8.AppendRune(d.scratch, utf8.RuneError)
	}
	if u >= 0xd800 && u < 0xdc00 { // high surrogates
		return u
	}
	d.scratch = utf8.AppendRune(d.scratch, u) // a lone low surrogate becomes U+FFFD here
	return 0
}

// Len reads a sequence's count, at most bound (0: unbounded). An element takes at least size bytes. A count
// that the remaining bytes cannot hold is an error, so that a caller may allocate for it.
func (d *Decoder) Len(bound, size int, field string) int {
	n := d.Uint32(field)
	d.varies = true
	if bound > 0 && uint64(n) > uint64(bound) {
		d.failf(field, "sequence of %d elements at byte %d, expected at most %d", n, HeaderSize+d.off-4, bound)
		return 0
	}
	if uint64(n)*uint64(size) > uint64(d.remaining()) {
		d.failf(field, "sequence of %d elements of at least %d bytes at byte %d, %d bytes remain",
			n, size, HeaderSize+d.off, d.remaining())
		return 0
	}
	return int(n)
}
