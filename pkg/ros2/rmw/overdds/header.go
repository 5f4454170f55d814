package overdds

import (
	"encoding/binary"

	"vnd/pkg/ros2/cdr"
	"vnd/pkg/ros2/rmw"
)

// Cyclone's mapping of services puts two numbers between encapsulation header and body.
// They are the handle of the client's request writer and the client's sequence number.
// They take 16 bytes and keep the body's alignment.
const (
	pairSize   = 16
	headerSize = cdr.HeaderSize + pairSize
)

// order is the byte order of a sample, from its encapsulation header; nil when it is
// not plain CDR.
func order(sample []byte) binary.ByteOrder {
	switch {
	case len(sample) < cdr.HeaderSize || sample[0] != 0:
	case sample[1] == 0:
		return binary.BigEndian
	case sample[1] == 1:
		return binary.LittleEndian
	}
	return nil
}

// wrap appends a request's or response's sample to dst, in the byte order of the
// message. ok is false when the message is not CDR.
func wrap(dst []byte, id rmw.RequestID, message []byte) (sample []byte, ok bool) {
	o := order(message)
	if o == nil {
		return dst, false
	}
	var pair [pairSize]byte
	o.PutUint64(pair[:], id.Client)
	o.PutUint64(pair[8:], uint64(id.Sequence))
	dst = append(dst, message[:cdr.HeaderSize]...)
	dst = append(dst, pair[:]...)
	return append(dst, message[cdr.HeaderSize:]...), true
}

// unwrap splits a sample and copies the message to dst[:0]. ok is false when the
// sample is too short or not CDR.
func unwrap(dst, sample []byte) (id rmw.RequestID, message []byte, ok bool) {
	o := order(sample)
	if o == nil || len(sample) < headerSize {
		return id, dst, false
	}
	id.Client = o.Uint64(sample[cdr.HeaderSize:])
	id.Sequence = int64(o.Uint64(sample[cdr.HeaderSize+8:]))
	message = append(dst[:0], sample[:cdr.HeaderSize]...)
	return id, append(message, sample[headerSize:]...), true
}
