package sqlite

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"os"
)

// SQLite's write-ahead log (https://www.sqlite.org/fileformat2.html#walformat):
// a head of 32 bytes, then frames, each a head of 24 bytes and a page. The
// checksum of each frame goes on from that of the frame before. SQLite takes
// the log up to the first frame whose checksum is wrong. After a kill that is
// its torn end; but where transactions were completed behind such a frame, it
// was damaged later, and all of them would be lost with it.
const (
	walHead   = 32
	frameHead = 24
	walMagic  = 0x377f0682 // | 1: checksums over big-endian words
)

// walFrame is one frame while a log is walked.
type walFrame struct {
	raw    []byte // head and page
	commit bool   // ends a transaction
	good   bool   // the checksum follows from the frame before
}

// walkWAL visits the head and then the frames of the log's present generation.
func walkWAL(r io.Reader, visit func(head []byte, f *walFrame) error) error {
	head := make([]byte, walHead)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil // shorter than its head: empty
	}
	be := binary.BigEndian
	page := be.Uint32(head[8:])
	if be.Uint32(head)&^1 != walMagic || page < 512 || page > 65536 || page&(page-1) != 0 {
		return nil
	}
	f := walFrame{raw: make([]byte, frameHead+page)}
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
		f.good = walSum(head, walSum(head, sum, f.raw[:8]), f.raw[frameHead:]) == stored
		sum = stored
		if err := visit(head, &f); err != nil {
			return err
		}
	}
}

// walSum goes on with a checksum over data, a multiple of 8 bytes.
func walSum(head []byte, s [2]uint32, data []byte) [2]uint32 {
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

// withWAL opens a log for walking.
func withWAL(path string, use func(io.Reader) error) error {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	return use(bufio.NewReaderSize(in, 1<<20))
}

// checkWAL counts the frames with a wrong checksum that lie before a completed
// transaction. keep is the number of frames up to the end of the last one.
func checkWAL(in io.Reader) (bad, keep int, err error) {
	n, wrong := 0, 0
	err = walkWAL(in, func(_ []byte, f *walFrame) error {
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

// mendWAL writes a log's first frames with checksums that are right.
func mendWAL(to io.Writer, from io.Reader, keep int) error {
	var sum [2]uint32
	n := 0
	return walkWAL(from, func(head []byte, f *walFrame) error {
		be := binary.BigEndian
		if n == 0 {
			sum = walSum(head, [2]uint32{}, head[:24])
			be.PutUint32(head[24:], sum[0])
			be.PutUint32(head[28:], sum[1])
			if _, err := to.Write(head); err != nil {
				return err
			}
		}
		if n++; n > keep {
			return nil
		}
		sum = walSum(head, walSum(head, sum, f.raw[:8]), f.raw[frameHead:])
		be.PutUint32(f.raw[16:], sum[0])
		be.PutUint32(f.raw[20:], sum[1])
		_, err := to.Write(f.raw)
		return err
	})
}
