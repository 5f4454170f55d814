// Package mavlink has frames of MAVLink 2 and the messages that ArduPilot is flown by: those of which mavros makes its
// topics and services.
package mavlink

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

const (
	start      = 0xFD
	headerSize = 10
	crcSize    = 2
	signed     = 1 // bit of the incompatibility flags: a signature follows
	signature  = 13
)

// Writer writes frames, of one system.
type Writer struct {
	To                io.Writer
	System, Component uint8
	sequence          uint8
	frame             []byte
}

// Write writes a message in one call.
func (w *Writer) Write(m Message) error {
	frame := append(w.frame[:0], start, 0, 0, 0, w.sequence, w.System, w.Component, 0, 0, 0)
	id := m.id()
	frame[7], frame[8], frame[9] = byte(id), byte(id>>8), byte(id>>16)
	frame, err := binary.Append(frame, binary.LittleEndian, m)
	if err != nil {
		return err
	}
	for len(frame) > headerSize+1 && frame[len(frame)-1] == 0 { // a payload of zeros keeps its first byte
		frame = frame[:len(frame)-1]
	}
	frame[1] = byte(len(frame) - headerSize)
	w.frame = binary.LittleEndian.AppendUint16(frame, checksum(frame[1:], m.extra()))
	w.sequence++
	_, err = w.To.Write(w.frame)
	return err
}

// Reader reads frames.
type Reader struct{ from *bufio.Reader }

// NewReader reads from a line.
func NewReader(from io.Reader) *Reader { return &Reader{bufio.NewReaderSize(from, 1<<12)} }

// errForeign is of bytes that are no frame of a known message.
var errForeign = errors.New("no frame")

// Read returns the next message of those in Message, and leaves out what is none.
func (r *Reader) Read() (Message, error) {
	for {
		m, err := r.next()
		if !errors.Is(err, errForeign) {
			return m, err
		}
	}
}

// next looks at what may be a frame, and takes it, or its first byte where it is none.
func (r *Reader) next() (Message, error) {
	header, err := r.from.Peek(headerSize)
	if err != nil {
		return nil, err
	}
	if header[0] != start {
		_, err := r.from.Discard(1)
		return nil, errors.Join(err, errForeign)
	}
	size, whole := headerSize+int(header[1]), headerSize+int(header[1])+crcSize
	if header[2]&signed != 0 {
		whole += signature
	}
	frame, err := r.from.Peek(whole)
	if err != nil {
		return nil, err
	}
	m := byID(uint32(frame[7]) | uint32(frame[8])<<8 | uint32(frame[9])<<16)
	switch {
	case m == nil:
		_, err := r.from.Discard(whole)
		return nil, errors.Join(err, errForeign)
	case binary.LittleEndian.Uint16(frame[size:]) != checksum(frame[1:size], m.extra()):
		_, err := r.from.Discard(1)
		return nil, errors.Join(err, errForeign)
	}
	payload := make([]byte, max(binary.Size(m), size-headerSize))
	copy(payload, frame[headerSize:size])
	if _, err := binary.Decode(payload, binary.LittleEndian, m); err != nil {
		return nil, fmt.Errorf("message %d: %w", m.id(), err)
	}
	_, err = r.from.Discard(whole)
	return m, err
}

// checksum is CRC-16/MCRF4XX of a frame without its first byte, and of the byte that stands for a message's fields.
func checksum(b []byte, extra byte) uint16 {
	crc := uint16(0xFFFF)
	add := func(x byte) {
		x ^= byte(crc)
		x ^= x << 4
		crc = crc>>8 ^ uint16(x)<<8 ^ uint16(x)<<3 ^ uint16(x)>>4
	}
	for _, x := range b {
		add(x)
	}
	add(extra)
	return crc
}
