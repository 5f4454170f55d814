// Package cdr is the wire form of ROS 2 messages: plain CDR (XCDR1) behind the four-byte
// encapsulation header, in both byte orders.
//
// Layout, as DDS-XTypes 1.3 §7.4.1 has it and rmw_cyclonedds and Fast CDR write it: a primitive
// is aligned to its own size, counted from the byte after the header; a string is a uint32 length
// that includes the terminating NUL, then its bytes; a wstring is a uint32 count of UTF-16 code
// units, then each unit as a uint32; a sequence is a uint32 count and its elements; an array is its
// elements alone; a message without fields is one zero octet.
//
// Messages bring their own code (made by msggen); nothing here reflects. Encoding into a buffer
// with room, and decoding into a message that has held one of the same shape before, allocate
// nothing.
package cdr

import (
	"fmt"
	"sync"
)

// Message is what msggen makes of a .msg file, or of either half of a .srv file.
type Message interface {
	// TypeName is the ROS name, such as "geometry_msgs/msg/Pose".
	TypeName() string
	// MarshalCDR appends the body, without encapsulation header. Errors stay in the Encoder.
	MarshalCDR(*Encoder)
	// UnmarshalCDR overwrites every field. Errors stay in the Decoder.
	UnmarshalCDR(*Decoder)
}

// Order is the byte order of an encoding.
type Order uint8

// The two byte orders of plain CDR.
const (
	LittleEndian Order = iota
	BigEndian
)

// HeaderSize is the length of the encapsulation header in bytes.
const HeaderSize = 4

// maxPadding is what a sender may leave after the last field to reach a multiple of four.
const maxPadding = 3

var (
	encoders = sync.Pool{New: func() any { return new(Encoder) }}
	decoders = sync.Pool{New: func() any { return new(Decoder) }}
)

// Append appends the encapsulation header and the body of m to dst. It fails when a bounded string
// or sequence is over its bound, and then returns dst as it was.
func Append(dst []byte, order Order, m Message) ([]byte, error) {
	e := encoders.Get().(*Encoder)
	defer encoders.Put(e)
	e.Reset(dst, order)
	m.MarshalCDR(e)
	out, err := e.Bytes()
	e.buf, e.err = nil, nil
	if err != nil {
		return dst, fmt.Errorf("%s: %w", m.TypeName(), err)
	}
	return out, nil
}

// Marshal is Append to a new slice in little-endian order, which is what ROS machines send.
func Marshal(m Message) ([]byte, error) {
	return Append(nil, LittleEndian, m)
}

// Unmarshal decodes data, encapsulation header first, into m. Slices of m are re-used by capacity
// and strings kept when equal; nothing in m refers to data afterwards. After an error m holds the
// fields decoded so far.
//
// More than three bytes after the last field is an error: it means that the sender's definition
// of the type is another one.
func Unmarshal(data []byte, m Message) error {
	d := decoders.Get().(*Decoder)
	defer decoders.Put(d)
	d.Reset(data)
	m.UnmarshalCDR(d)
	err := d.Finish()
	d.data, d.err = nil, nil
	if err != nil {
		return fmt.Errorf("%s: %w", m.TypeName(), err)
	}
	return nil
}

// encapsulations names the identifiers of DDS-XTypes 1.3 table 60, for errors.
var encapsulations = map[uint16]string{
	0x0002: "PL_CDR_BE", 0x0003: "PL_CDR_LE",
	0x0006: "CDR2_BE", 0x0007: "CDR2_LE",
	0x0008: "D_CDR2_BE", 0x0009: "D_CDR2_LE",
	0x000a: "PL_CDR2_BE", 0x000b: "PL_CDR2_LE",
}

// parseHeader reads the byte order. The two option bytes are padding counts of some senders and
// carry nothing that plain CDR needs.
func parseHeader(data []byte) (Order, error) {
	if len(data) < HeaderSize {
		return 0, fmt.Errorf("%d bytes, expected an encapsulation header of %d", len(data), HeaderSize)
	}
	switch id := uint16(data[0])<<8 | uint16(data[1]); id {
	case 0x0000:
		return BigEndian, nil
	case 0x0001:
		return LittleEndian, nil
	default:
		name := encapsulations[id]
		if name == "" {
			name = "unknown"
		}
		return 0, fmt.Errorf("encapsulation 0x%04x (%s), expected CDR_BE 0x0000 or CDR_LE 0x0001", id, name)
	}
}
