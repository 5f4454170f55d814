// Package msp is MSP, the MultiWii Serial Protocol, as Betaflight speaks it: frames of versions 1 and 2, and the
// messages that a companion computer needs.
package msp

import (
	"encoding/binary"
	"fmt"
)

// Direction of a frame.
type Direction byte

// Directions.
const (
	Request Direction = '<' // to the board
	Reply   Direction = '>' // of the board
	Refused Direction = '!' // of the board, which does not know the command or takes it not
)

// Frame is one message on the wire.
type Frame struct {
	Direction Direction
	Command   uint16
	Payload   []byte // in a Decoder's until the next call
	V2        bool
}

// MaxPayload is what a payload may hold: the firmware's buffers hold less.
const MaxPayload = 4096

const jumbo = 255 // length of a version 1 frame whose length follows in two bytes

// Append adds the frame's bytes. Version 1 has commands up to 254.
func (f *Frame) Append(to []byte) ([]byte, error) {
	if len(f.Payload) > MaxPayload {
		return to, fmt.Errorf("MSP command %d: payload of %d bytes, expected at most %d", f.Command, len(f.Payload),
			MaxPayload)
	}
	if f.V2 {
		return f.append2(to), nil
	}
	if f.Command >= jumbo {
		return to, fmt.Errorf("MSP command %d: expected at most %d in version 1", f.Command, jumbo-1)
	}
	to = append(to, '$', 'M', byte(f.Direction))
	start := len(to)
	if n := len(f.Payload); n < jumbo {
		to = append(to, byte(n), byte(f.Command))
	} else {
		to = append(to, jumbo, byte(f.Command), byte(n), byte(n>>8))
	}
	to = append(to, f.Payload...)
	return append(to, xor(to[start:])), nil
}

func (f *Frame) append2(to []byte) []byte {
	to = append(to, '$', 'X', byte(f.Direction))
	start := len(to)
	to = append(to, 0) // flag
	to = binary.LittleEndian.AppendUint16(to, f.Command)
	to = binary.LittleEndian.AppendUint16(to, uint16(len(f.Payload)))
	to = append(to, f.Payload...)
	return append(to, CRC(0, to[start:]))
}

func xor(data []byte) (sum byte) {
	for _, b := range data {
		sum ^= b
	}
	return sum
}

// CRC continues a CRC-8/DVB-S2, polynomial 0xD5, which CRSF has too.
func CRC(crc byte, data []byte) byte {
	for _, b := range data {
		crc = table[crc^b]
	}
	return crc
}

var table = func() (t [256]byte) {
	for i := range t {
		crc := byte(i)
		for range 8 {
			carry := crc & 0x80
			crc <<= 1
			if carry != 0 {
				crc ^= 0xD5
			}
		}
		t[i] = crc
	}
	return t
}()

// Decoder finds frames in a stream of bytes. What is no frame is skipped: the next may begin at any $.
type Decoder struct {
	pending []byte
	// Damaged counts frames whose checksum was wrong.
	Damaged uint64
}

// Feed adds bytes and calls f with each frame that they complete.
func (d *Decoder) Feed(data []byte, f func(*Frame)) {
	d.pending = append(d.pending, data...)
	rest := d.pending
	for len(rest) > 0 {
		frame, n, state := parse(rest)
		if state == partial {
			break
		}
		switch state {
		case whole:
			f(&frame)
		case damaged:
			d.Damaged++
		}
		rest = rest[n:]
	}
	d.pending = append(d.pending[:0], rest...)
}

// outcome of a look at the head of a stream.
type outcome uint8

const (
	noise   outcome = iota // n bytes are no frame
	partial                // there may be a frame with more bytes
	damaged                // there was a frame with another checksum
	whole                  // a frame of n bytes
)

// parse looks at the head of b.
func parse(b []byte) (f Frame, n int, o outcome) {
	if b[0] != '$' {
		return f, 1, noise
	}
	if len(b) < 3 {
		if len(b) == 2 && b[1] != 'M' && b[1] != 'X' {
			return f, 1, noise
		}
		return f, 0, partial
	}
	f.Direction, f.V2 = Direction(b[2]), b[1] == 'X'
	if b[1] != 'M' && b[1] != 'X' || f.Direction != Request && f.Direction != Reply && f.Direction != Refused {
		return f, 1, noise
	}
	head, size, o := f.head(b)
	switch {
	case o != whole:
		return f, 1, o
	case size > MaxPayload:
		return f, 1, noise
	case len(b) < head+size+1:
		return f, 0, partial
	}
	f.Payload = b[head : head+size]
	sum := xor(b[3 : head+size])
	if f.V2 {
		sum = CRC(0, b[3:head+size])
	}
	if sum != b[head+size] {
		return f, 1, damaged
	}
	return f, head + size + 1, whole
}

// head reads command and sizes of a frame: of what comes before the payload, and of that.
func (f *Frame) head(b []byte) (head, size int, o outcome) {
	const v1, v1Jumbo, v2 = 5, 7, 8
	switch {
	case f.V2 && len(b) >= v2:
		f.Command = binary.LittleEndian.Uint16(b[4:])
		return v2, int(binary.LittleEndian.Uint16(b[6:])), whole
	case f.V2 || len(b) < v1:
		return 0, 0, partial
	}
	f.Command = uint16(b[4])
	if b[3] != jumbo {
		return v1, int(b[3]), whole
	}
	if len(b) < v1Jumbo {
		return 0, 0, partial
	}
	return v1Jumbo, int(binary.LittleEndian.Uint16(b[5:])), whole
}
