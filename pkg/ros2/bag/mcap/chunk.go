package mcap

import (
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"
)

// chunk is a part of the file that is loaded at once: a Chunk record, or a run of
// records outside of Chunk records.
type chunk struct {
	start, end uint64 // log times
	off        int64  // of the record, or of the run's first record
	length     int64  // record with its head, or run
	seq        int    // order in the file
	channels   []uint16
	run        bool // records outside of a Chunk record
	cut        bool // the file ends within it
	broken     bool // unreadable, skipped
	known      bool // its loss is counted
}

// entry is one message of a loaded chunk: where its content is.
type entry struct {
	time   uint64
	off, n uint32
}

// load reads and decompresses a chunk. Both buffers are re-used when they are
// large enough; the records are in one of them. Of a chunk that was cut off it
// returns what can be decompressed.
func (r *Reader) load(c *chunk, raw, out []byte) (records, rawBuf, outBuf []byte, err error) {
	if c.run || c.cut {
		raw = grow(raw, c.length)
		var n int
		n, err = r.r.ReadAt(raw, c.off)
		if raw = raw[:n]; errors.Is(err, io.EOF) {
			err = nil
		}
		if err != nil || c.run {
			return raw, raw, out, err
		}
		raw = raw[min(n, recordHead):]
	} else if raw, err = r.record(c.off, opChunk, MaxChunk+MaxChunk/8+1024, raw); err != nil {
		return nil, raw, out, err
	}
	h, packed, ok := parseChunkHeader(raw)
	switch {
	case !ok && c.cut:
		return nil, raw, out, nil
	case !ok:
		return nil, raw, out, errors.New("a chunk without a whole head")
	}
	if err := checkSizes(h); err != nil {
		return nil, raw, out, err
	}
	if c.cut {
		return unpackCut(h, packed), raw, out, nil
	}
	if h.packed > uint64(len(packed)) {
		return nil, raw, out, errors.New("a chunk longer than its record")
	}
	records, err = r.unpack.unpack(h, packed[:h.packed], out)
	if h.codec != None && records != nil {
		out = records
	}
	if err != nil {
		return nil, raw, out, fmt.Errorf("%s: %w", h.codec, err)
	}
	if h.crc != 0 && crc32.ChecksumIEEE(records) != h.crc {
		return nil, raw, out, errors.New("wrong CRC")
	}
	return records, raw, out, nil
}

func grow(b []byte, n int64) []byte {
	if int64(cap(b)) < n {
		return make([]byte, n)
	}
	return b[:n]
}

// index lists the messages of a loaded chunk on wanted channels, by log time. In
// a file without a valid summary it adds channels and schemas on the way. Damage
// is counted once.
func (r *Reader) index(c *chunk, records []byte, want func(uint16) bool, entries []entry) []entry {
	entries = entries[:0]
	sorted := true
	var last uint64
	var orphans uint64
	used := walk(records, func(op opcode, at int, b []byte) bool {
		switch op {
		case opMessage:
			if len(b) < messageHead {
				orphans++
				return true
			}
			id := le.Uint16(b)
			if r.channels[id] == nil {
				orphans++
				r.orphans = true
				return true
			}
			if !want(id) {
				return true
			}
			t := le.Uint64(b[6:])
			sorted = sorted && t >= last
			last = t
			entries = append(entries, entry{time: t, off: uint32(at), n: uint32(len(b))})
		case opSchema, opChannel:
			if !r.Indexed { // else the summary has them all
				r.learn(op, b)
			}
		}
		return true
	})
	if !sorted {
		slices.SortStableFunc(entries, func(a, b entry) int { return cmp.Compare(a.time, b.time) })
	}
	if !c.known {
		c.known = true
		r.loss.Messages += orphans
		if orphans > 0 {
			r.loss.Note("byte %d: %d messages of no known channel", c.off, orphans)
		}
		if rest := len(records) - used; rest > 0 && !c.cut {
			r.loss.Bytes += uint64(rest)
			r.loss.Note("byte %d: the last %d bytes of the chunk hold no whole record", c.off, rest)
		}
	}
	return entries
}

// learn adds a schema or channel, unless its ID is known: all records of an ID
// have to be identical.
func (r *Reader) learn(op opcode, b []byte) {
	id := uint16(0)
	if len(b) >= 2 {
		id = le.Uint16(b)
	}
	switch {
	case op == opSchema && r.schemas[id] == nil:
		if s, ok := parseSchema(b); ok {
			r.schemas[s.ID] = s
		}
	case op == opChannel && r.channels[id] == nil:
		if c, ok := parseChannel(b); ok {
			r.channels[c.ID] = c
			r.late = r.late || r.orphans
		}
	}
}

// skip marks a chunk as unreadable and counts the loss: its bytes, and its
// messages where message indexes follow it.
func (r *Reader) skip(c *chunk, why error) error {
	if errors.Is(why, os.ErrClosed) {
		return why
	}
	c.broken = true
	if c.known {
		return nil
	}
	c.known = true
	n := r.indexedMessages(c)
	r.loss.Chunks++
	r.loss.Messages += n
	r.loss.Bytes += uint64(c.length)
	r.loss.Note("byte %d: chunk skipped with %d messages: %v", c.off, n, why)
	return nil
}

// indexedMessages adds up the MessageIndex records that follow a chunk.
func (r *Reader) indexedMessages(c *chunk) uint64 {
	var n uint64
	for at := c.off + c.length; ; {
		b, err := r.record(at, opMessageIndex, MaxChunk, nil)
		if err != nil {
			return n
		}
		f := fields{b: b}
		f.u16()
		n += uint64(len(f.prefixed()) / 16)
		at += recordHead + int64(len(b))
	}
}
