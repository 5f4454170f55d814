package mcap

import (
	"errors"
	"hash/crc32"
	"io"
)

// runSize is how many bytes of records outside of chunks are loaded together.
const runSize = 1 << 20

// window reads a file forward through one buffer.
type window struct {
	r    io.ReaderAt
	size int64
	buf  []byte
	off  int64 // of buf[0]
	err  error
}

// at returns n bytes at an offset, fewer at the end of the file.
func (w *window) at(off int64, n int) []byte {
	n = int(min(int64(n), w.size-off))
	if n <= 0 {
		return nil
	}
	if off < w.off || off+int64(n) > w.off+int64(len(w.buf)) {
		w.buf = grow(w.buf, max(int64(n), 256<<10))
		got, err := w.r.ReadAt(w.buf, off)
		if err != nil && !errors.Is(err, io.EOF) {
			w.err = err
		}
		w.buf, w.off = w.buf[:got], off
		n = min(n, got)
	}
	return w.buf[off-w.off:][:n]
}

// scan walks the records of the data section, one after the other, up to its
// end mark or to where the file was cut off.
type scan struct {
	*Reader
	win      window
	run      *chunk // the current run, nil: none
	raw, out []byte
	entries  []entry
}

func (r *Reader) scan() {
	s := &scan{Reader: r, win: window{r: r.r, size: r.size}}
	at := int64(len(magic))
	for {
		head := s.win.at(at, recordHead)
		if len(head) < recordHead {
			s.stop(at, 0, "")
			return
		}
		op, n := opcode(head[0]), le.Uint64(head[1:])
		switch {
		case op == 0:
			s.stop(at, uint64(r.size-at), "no record begins here")
			return
		case n > uint64(r.size-at-recordHead):
			s.cutRecord(op, at, n)
			return
		case op == opDataEnd || op == opFooter:
			s.closeRun(at)
			if op == opDataEnd && n >= 4 {
				s.checkData(at)
			}
			return
		}
		next := at + recordHead + int64(n)
		s.take(op, at, next)
		at = next
	}
}

// checkData checks the data section, which ends at the given offset, against the
// CRC in its DataEnd record. Records outside of chunks have no other CRC. When
// damage was found already the CRC adds nothing.
func (s *scan) checkData(end int64) {
	b := s.win.at(end+recordHead, 4)
	if len(b) < 4 || le.Uint32(b) == 0 || s.loss.Any() {
		return
	}
	want := le.Uint32(b)
	sum := crc32.NewIEEE()
	if _, err := io.Copy(sum, io.NewSectionReader(s.r, 0, end)); err != nil || sum.Sum32() != want {
		s.loss.Chunks++
		s.loss.Note("the data section's CRC is wrong: a message may be damaged")
	}
}

// take handles one complete record of the data section.
func (s *scan) take(op opcode, at, next int64) {
	n := next - at
	switch op {
	case opMessage, opSchema, opChannel:
		if op == opMessage && n > MaxChunk {
			s.closeRun(at)
			s.loss.Messages++
			s.loss.Bytes += uint64(n)
			s.loss.Note("byte %d: a message of %d bytes, more than the %d that are read", at, n, MaxChunk)
			return
		}
		if s.run != nil && next-s.run.off > runSize {
			s.closeRun(at)
		}
		if s.run == nil {
			s.run = &chunk{off: at, run: true}
		}
	case opChunk:
		s.closeRun(at)
		s.count(&chunk{off: at, length: n})
	case opMetadata:
		s.closeRun(at)
		if b, err := s.record(at, opMetadata, maxSmall, nil); err == nil {
			if m, ok := parseMetadata(b); ok {
				s.metadata = append(s.metadata, m)
			}
		}
	default:
		s.closeRun(at)
	}
}

func (s *scan) closeRun(at int64) {
	if c := s.run; c != nil {
		s.run = nil
		c.length = at - c.off
		s.count(c)
	}
}

// count loads a chunk, adds its channels and counts its messages. It returns how
// many bytes complete records fill. A chunk without messages is not kept.
func (s *scan) count(c *chunk) (whole int) {
	var records []byte
	var err error
	records, s.raw, s.out, err = s.load(c, s.raw, s.out)
	if err != nil {
		if s.skip(c, err) != nil {
			s.loss.Truncated = true
		}
		return 0
	}
	s.entries = s.index(c, records, func(uint16) bool { return true }, s.entries)
	if len(s.entries) > 0 {
		c.seq = len(s.chunks)
		c.start, c.end = s.entries[0].time, s.entries[len(s.entries)-1].time
		if s.messages == 0 {
			s.start = c.start
		}
		s.start, s.end = min(s.start, c.start), max(s.end, c.end)
		s.messages += uint64(len(s.entries))
		s.chunks = append(s.chunks, c)
	}
	for _, e := range s.entries {
		s.counts[le.Uint16(records[e.off:])]++
	}
	return walk(records, func(opcode, int, []byte) bool { return true })
}

// cutRecord handles a record that extends past the end of the file. Complete
// messages at the beginning of a chunk are kept.
func (s *scan) cutRecord(op opcode, at int64, n uint64) {
	have := s.size - at
	switch op {
	case opChunk:
		s.closeRun(at)
		lost := n
		if have <= MaxChunk+MaxChunk/8 {
			lost = s.cutChunk(at, have, n)
		}
		s.stop(at, lost, "cut off within a chunk")
	case opMessage:
		s.closeRun(at)
		s.loss.Messages++
		s.stop(at, uint64(have), "cut off within a message")
	case opSchema, opChannel:
		s.stop(at, uint64(have), "cut off within a schema or channel")
	case opMessageIndex, opMetadata, opDataEnd, opFooter:
		s.stop(at, 0, "cut off after the last message")
	default:
		s.stop(at, uint64(have), "a record extends past the end of the file")
	}
}

// cutChunk keeps the beginning of a chunk. It returns how many bytes of its
// records, uncompressed, are missing.
func (s *scan) cutChunk(at, have int64, n uint64) uint64 {
	c := &chunk{off: at, length: have, cut: true}
	whole := s.count(c)
	if c.broken {
		return 0 // counted already
	}
	if h, _, ok := parseChunkHeader(s.win.at(at+recordHead, 256)); ok && checkSizes(h) == nil {
		return h.size - min(h.size, uint64(whole))
	}
	return n
}

// stop notes that the file ends here, before its end magic.
func (s *scan) stop(at int64, lost uint64, why string) {
	s.closeRun(at)
	s.loss.Truncated = true
	s.loss.Bytes += lost
	if s.win.err != nil {
		s.loss.Note("byte %d: %v", at, s.win.err)
	} else if why != "" {
		s.loss.Note("byte %d: %s", at, why)
	}
}
