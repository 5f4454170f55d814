package mcap

import (
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"slices"

	"vnd/pkg/ros2/bag/loss"
)

// Reader reads one MCAP file. It is not safe for concurrent use.
type Reader struct {
	r    io.ReaderAt
	size int64

	// Profile and Library are what the file's header names: "ros2",
	// "libmcap 0.8.0".
	Profile, Library string
	// Indexed is true when the file's summary was used; otherwise the whole
	// file was scanned to find its messages.
	Indexed bool

	schemas  map[uint16]*Schema
	channels map[uint16]*Channel
	counts   map[uint16]uint64
	metadata []Metadata
	chunks   []*chunk // by start time, then by place in the file

	start, end uint64
	messages   uint64
	orphans    bool // messages came before their channel, or it is missing
	late       bool // a channel came after such messages
	loss       loss.Loss
	unpack     unpacker
}

// NewReader reads the header and the summary of a file of size bytes, or scans
// the file when it has no valid summary. It fails only for a file that is not
// MCAP at all, or that cannot be read; missing and damaged data are counted in
// Loss. An empty file is a recording that was killed before its first write: a
// reader without messages.
func NewReader(r io.ReaderAt, size int64) (*Reader, error) {
	rd := &Reader{
		r: r, size: size,
		schemas: map[uint16]*Schema{}, channels: map[uint16]*Channel{}, counts: map[uint16]uint64{},
	}
	if size == 0 {
		rd.loss.Truncated = true
		rd.loss.Note("0 bytes: killed before the first write")
		return rd, nil
	}
	head := make([]byte, min(size, int64(len(magic))))
	if _, err := r.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if string(head) != magic[:len(head)] {
		return nil, fmt.Errorf("not an MCAP file: begins with %q", head)
	}
	rd.readHeader()
	if !rd.readSummary() {
		rd.forget()
		before := rd.loss
		rd.scan()
		if rd.late { // scan again, with all channels known from the start
			rd.loss, rd.late = before, false
			rd.forgetMessages()
			rd.scan()
		}
	}
	slices.SortStableFunc(rd.chunks, func(a, b *chunk) int {
		return cmp.Or(cmp.Compare(a.start, b.start), a.seq-b.seq)
	})
	return rd, nil
}

// forget drops what was read from an invalid summary.
func (r *Reader) forget() {
	clear(r.schemas)
	clear(r.channels)
	r.forgetMessages()
}

func (r *Reader) forgetMessages() {
	clear(r.counts)
	r.metadata, r.chunks = nil, nil
	r.start, r.end, r.messages = 0, 0, 0
}

// Channels lists the channels by ID.
func (r *Reader) Channels() []*Channel {
	ids := slices.Sorted(maps.Keys(r.channels))
	out := make([]*Channel, len(ids))
	for i, id := range ids {
		out[i] = r.channels[id]
	}
	return out
}

// Schema returns the schema of a channel, nil when the file has none.
func (r *Reader) Schema(c *Channel) *Schema { return r.schemas[c.SchemaID] }

// Count is the number of messages of a channel by the file's statistics, or by
// the scan.
func (r *Reader) Count(c *Channel) uint64 { return r.counts[c.ID] }

// Span gives the log times of the first and the last message, in ns, and the
// number of messages. All are zero for a file without messages.
func (r *Reader) Span() (start, end, messages uint64) { return r.start, r.end, r.messages }

// Metadata lists the metadata records in file order.
func (r *Reader) Metadata() []Metadata { return r.metadata }

// Loss counts what was missing or damaged at opening and in chunks read since.
func (r *Reader) Loss() loss.Loss { return r.loss }

// Close frees the decoders. The underlying file stays open.
func (r *Reader) Close() { r.unpack.close() }

// record reads the content of the record at off, with at most limit bytes.
func (r *Reader) record(off int64, want opcode, limit uint64, buf []byte) ([]byte, error) {
	if off < 0 || off > r.size-recordHead {
		return nil, fmt.Errorf("byte %d is outside the file", off)
	}
	var head [recordHead]byte
	if _, err := r.r.ReadAt(head[:], off); err != nil {
		return nil, err
	}
	n := le.Uint64(head[1:])
	switch {
	case opcode(head[0]) != want:
		return nil, fmt.Errorf("record %#02x where %#02x was expected", head[0], byte(want))
	case n > uint64(r.size-off-recordHead):
		return nil, io.ErrUnexpectedEOF
	case n > limit:
		return nil, fmt.Errorf("a record of %d bytes, more than the %d that are read", n, limit)
	}
	if uint64(cap(buf)) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	_, err := r.r.ReadAt(buf, off+recordHead)
	if n == 0 {
		err = nil
	}
	return buf, err
}

func (r *Reader) readHeader() {
	b, err := r.record(int64(len(magic)), opHeader, maxSmall, nil)
	if err != nil {
		return
	}
	f := fields{b: b}
	r.Profile, r.Library = f.str(), f.str()
}

// readSummary fills the reader from the summary section. It returns false when the
// section is missing, invalid, or does not list all messages: then the file has to
// be scanned.
func (r *Reader) readSummary() bool {
	footerAt := r.size - footerSize - int64(len(magic))
	if footerAt < int64(len(magic))+recordHead {
		return false
	}
	tail := make([]byte, footerSize+len(magic))
	if _, err := r.r.ReadAt(tail, footerAt); err != nil && !errors.Is(err, io.EOF) {
		return false
	}
	if opcode(tail[0]) != opFooter || le.Uint64(tail[1:]) != 20 || string(tail[footerSize:]) != magic {
		return false
	}
	f := fields{b: tail[recordHead:footerSize]}
	start, _, crc := f.u64(), f.u64(), f.u32()
	const maxSummary = 256 << 20
	if start < uint64(len(magic)) || start > uint64(footerAt) || uint64(footerAt)-start > maxSummary {
		return false
	}
	section := make([]byte, footerAt-int64(start))
	if len(section) > 0 {
		if _, err := r.r.ReadAt(section, int64(start)); err != nil {
			return false
		}
	}
	if crc != 0 {
		sum := crc32.ChecksumIEEE(section)
		if crc32.Update(sum, crc32.IEEETable, tail[:footerSize-4]) != crc {
			r.loss.Note("the summary's CRC is wrong: scanned the whole file instead")
			return false
		}
	}
	return r.useSummary(section)
}

// summary holds a summary section's records, except schemas and channels.
type summary struct {
	stats  statistics
	found  bool // a Statistics record
	chunks []*chunk
	bad    bool
}

type statistics struct {
	messages, start, end uint64
	chunks               uint32
	counts               map[uint16]uint64
}

func (r *Reader) useSummary(section []byte) bool {
	var s summary
	used := walk(section, func(op opcode, _ int, b []byte) bool {
		r.summaryRecord(&s, op, b)
		return !s.bad
	})
	if s.bad || used != len(section) || !s.found || int(s.stats.chunks) != len(s.chunks) {
		return false
	}
	var counted uint64
	for id, n := range s.stats.counts {
		if r.channels[id] == nil {
			return false
		}
		counted += n
	}
	for _, c := range s.chunks {
		for _, id := range c.channels {
			if r.channels[id] == nil {
				return false
			}
		}
	}
	// Without counts per channel, or with messages outside of chunks, only a
	// scan finds them all.
	if counted != s.stats.messages || (s.stats.messages > 0 && len(s.chunks) == 0) {
		return false
	}
	r.chunks, r.counts, r.messages = s.chunks, s.stats.counts, s.stats.messages
	if r.messages > 0 {
		r.start, r.end = s.stats.start, s.stats.end
	}
	r.Indexed = true
	return true
}

func (r *Reader) summaryRecord(s *summary, op opcode, b []byte) {
	switch op {
	case opSchema:
		if sc, ok := parseSchema(b); ok {
			r.schemas[sc.ID] = sc
		}
	case opChannel:
		c, ok := parseChannel(b)
		if !ok {
			s.bad = true
			return
		}
		r.channels[c.ID] = c
	case opStatistics:
		s.stats, s.found = parseStatistics(b)
		s.bad = s.bad || !s.found
	case opChunkIndex:
		c, ok := r.parseChunkIndex(b)
		if !ok {
			s.bad = true
			return
		}
		c.seq = len(s.chunks)
		s.chunks = append(s.chunks, c)
	case opMetadataIndex:
		f := fields{b: b}
		if off := f.u64(); !f.bad && off < uint64(r.size) {
			if rec, err := r.record(int64(off), opMetadata, maxSmall, nil); err == nil {
				if m, ok := parseMetadata(rec); ok {
					r.metadata = append(r.metadata, m)
				}
			}
		}
	}
}

func parseStatistics(b []byte) (statistics, bool) {
	f := fields{b: b}
	s := statistics{messages: f.u64()}
	f.take(2 + 4 + 4 + 4) // schemas, channels, attachments, metadata
	s.chunks = f.u32()
	s.start, s.end = f.u64(), f.u64()
	counts := fields{b: f.prefixed()}
	s.counts = make(map[uint16]uint64, len(counts.b)/10)
	for len(counts.b) > 0 && !counts.bad {
		id := counts.u16()
		s.counts[id] = counts.u64()
	}
	return s, !f.bad && !counts.bad
}

func (r *Reader) parseChunkIndex(b []byte) (*chunk, bool) {
	f := fields{b: b}
	c := &chunk{start: f.u64(), end: f.u64()}
	off, length := f.u64(), f.u64()
	ids := fields{b: f.prefixed()}
	for len(ids.b) > 0 && !ids.bad {
		c.channels = append(c.channels, ids.u16())
		ids.u64()
	}
	size := uint64(r.size)
	if f.bad || ids.bad || off > size || length > size-off || length < recordHead+chunkHead {
		return nil, false
	}
	c.off, c.length = int64(off), int64(length)
	return c, true
}
