// Package wal reads SQLite's write-ahead logs further than SQLite does.
package wal

import (
	"encoding/binary"
	"errors"
	"io"
)

// A log (https://www.sqlite.org/fileformat2.html#walformat) is a head of 32
// bytes, then frames, each a head of 24 bytes and a page. The
// checksum of each frame goes on from that of the frame before. SQLite takes
// the log up to the first frame whose checksum is wrong. After a kill that is
// its torn end; but where transactions were completed behind such a frame, it
// was damaged later, and all of them would be lost with it.
const (
	headSize      = 32
	frameHeadSize = 24
	magic         = 0x377f0682 // | 1: checksums over big-endian words
)

// frame is one frame while a log is walked.
type frame struct {
	raw    []byte // head and page
	commit bool   // ends a transaction
	good   bool   // the checksum follows from the frame before
}

// walk visits the head and then the frames of the log's present generation.
func walk(r io.Reader, visit func(head []byte, f *frame) error) error {
	head := make([]byte, headSize)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil // shorter than its head: empty
	}
	be := binary.BigEndian
	page := be.Uint32(head[8:])
	if be.Uint32(head)&^1 != magic || page < 512 || page > 65536 || page&(page-1) != 0 {
		return nil
	}
	f := frame{raw: make([]byte, frameHeadSize+page)}
	sum := [2]uint32{be.Uint32(head[24:]), be.Uint32(head[28:])}
	for {
		if _, err := io.ReadFull(r, f.raw); err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return nil
			}
			return err
		}
		if string(f.raw[8:16]) != string(head[16:24]) { // of an older generation
			return nil
		}
		f.commit = be.Uint32(f.raw[4:]) > 0
		stored := [2]uint32{be.Uint32(f.raw[16:]), be.Uint32(f.raw[20:])}
		f.good = sumOn(head, sumOn(head, sum, f.raw[:8]), f.raw[frameHeadSize:]) == stored
		sum = stored
		if err := visit(head, &f); err != nil {
			return err
		}
	}
}

// sumOn goes on with a checksum over data, a multiple of 8 bytes.
func sumOn(head []byte, s [2]uint32, data []byte) [2]uint32 {
	var order binary.ByteOrder = binary.LittleEndian
	if head[3]&1 == 1 {
		order = binary.BigEndian
	}
	for ; len(data) >= 8; data = data[8:] {
		s[0] += order.Uint32(data) + s[1]
		s[1] += order.Uint32(data[4:]) + s[0]
	}
	return s
}

// Check counts the frames with a wrong checksum that lie before a completed
// transaction. keep is the number of frames up to the end of the last one.
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

// Mend writes a log's first frames with checksums that are right.
func Mend(to io.Writer, from io.Reader, keep int) error {
	var sum [2]uint32
	n := 0
	return walk(from, func(head []byte, f *frame) error {
		be := binary.BigEndian
		if n == 0 {
			sum = sumOn(head, [2]uint32{}, head[:24])
			be.PutUint32(head[24:], sum[0])
			be.PutUint32(head[28:], sum[1])
			if _, err := to.Write(head); err != nil {
				return err
			}
		}
		if n++; n > keep {
			return nil
		}
		sum = sumOn(head, sumOn(head, sum, f.raw[:8]), f.raw[frameHeadSize:])
		be.PutUint32(f.raw[16:], sum[0])
		be.PutUint32(f.raw[20:], sum[1])
		_, err := to.Write(f.raw)
		return err
	})
}
