// Package wal repairs SQLite write-ahead logs in which a frame is damaged.
//
// SQLite reads a log up to the first frame whose checksum is wrong. After a kill
// that is the incomplete end. But when completed transactions follow such a
// frame, it was damaged later, and SQLite would drop all of them.
package wal

import (
	"encoding/binary"
	"errors"
	"io"
)

// A log (https://www.sqlite.org/fileformat2.html#walformat) is a header of 32
// bytes, then frames, each a header of 24 bytes and a page. Each frame's checksum
// continues that of the frame before.
const (
	headerSize      = 32
	frameHeaderSize = 24
	magic           = 0x377f0682 // | 1: checksums over big-endian words
)

// frame is one frame while a log is walked.
type frame struct {
	raw    []byte // header and page
	commit bool   // ends a transaction
	good   bool   // the checksum continues that of the frame before
}

// walk visits the frames of the log's current generation. header is the log's.
func walk(r io.Reader, visit func(header []byte, f *frame) error) error {
	header := make([]byte, headerSize)
	if _, err := io.ReadFull(r, header); err != nil {
		return nil // shorter than its header: empty
	}
	be := binary.BigEndian
	page := be.Uint32(header[8:])
	if be.Uint32(header)&^1 != magic || page < 512 || page > 65536 || page&(page-1) != 0 {
		return nil
	}
	f := frame{raw: make([]byte, frameHeaderSize+page)}
	sum := [2]uint32{be.Uint32(header[24:]), be.Uint32(header[28:])}
	for {
		if _, err := io.ReadFull(r, f.raw); err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return nil
			}
			return err
		}
		if string(f.raw[8:16]) != string(header[16:24]) { // of an older generation
			return nil
		}
		f.commit = be.Uint32(f.raw[4:]) > 0
		stored := [2]uint32{be.Uint32(f.raw[16:]), be.Uint32(f.raw[20:])}
		f.good = sumOn(header, sumOn(header, sum, f.raw[:8]), f.raw[frameHeaderSize:]) == stored
		sum = stored
		if err := visit(header, &f); err != nil {
			return err
		}
	}
}

// sumOn continues a checksum over data, a multiple of 8 bytes.
func sumOn(header []byte, s [2]uint32, data []byte) [2]uint32 {
	var order binary.ByteOrder = binary.LittleEndian
	if header[3]&1 == 1 {
		order = binary.BigEndian
	}
	for ; len(data) >= 8; data = data[8:] {
		s[0] += order.Uint32(data) + s[1]
		s[1] += order.Uint32(data[4:]) + s[0]
	}
	return s
}

// Check counts the frames with a wrong checksum before the last completed
// transaction. keep is the number of frames up to that transaction's end.
func Check(in io.Reader) (bad, keep int, err error) {
	n, wrong := 0, 0
	err = walk(in, func(_ []byte, f *frame) error {
		n++
		if !f.good {
			wrong++
		}
		if f.commit && f.good {
			bad, keep = wrong, n
		}
		return nil
	})
	return bad, keep, err
}

// Repair writes the first keep frames of a log with correct checksums.
func Repair(to io.Writer, from io.Reader, keep int) error {
	var sum [2]uint32
	n := 0
	return walk(from, func(header []byte, f *frame) error {
		be := binary.BigEndian
		if n == 0 {
			sum = sumOn(header, [2]uint32{}, header[:24])
			be.PutUint32(header[24:], sum[0])
			be.PutUint32(header[28:], sum[1])
			if _, err := to.Write(header); err != nil {
				return err
			}
		}
		if n++; n > keep {
			return nil
		}
		sum = sumOn(header, sumOn(header, sum, f.raw[:8]), f.raw[frameHeaderSize:])
		be.PutUint32(f.raw[16:], sum[0])
		be.PutUint32(f.raw[20:], sum[1])
		_, err := to.Write(f.raw)
		return err
	})
}
