package mcap

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// DefaultChunkSize is the uncompressed size at which a chunk is closed.
const DefaultChunkSize = 1 << 20

// WriterOptions say how a file is written. The zero value writes uncompressed
// chunks of DefaultChunkSize.
type WriterOptions struct {
	Profile     string // "ros2"
	Library     string // name of the writing program
	Compression string // None, LZ4 or Zstd
	ChunkSize   int    // bytes, uncompressed
}

// Output is what a Writer needs of its file.
type Output interface {
	io.WriterAt
	// Truncate is called after a failed write, to remove an incomplete record.
	Truncate(size int64) error
}

// Writer writes one MCAP file. Messages are in compressed chunks with CRCs and
// message indexes. Schemas, channels and metadata are between the chunks, so
// that a damaged chunk costs none of them. The summary at the end has indexes,
// statistics and CRCs.
//
// After a failed write, the writer drops the open chunk and writes no more
// messages. Everything before it stays readable, and Close still tries to add
// the summary.
type Writer struct {
	out  Output
	opts WriterOptions
	pack *packer

	off int64  // end of what is written
	crc uint32 // of all of it
	err error  // the first failed write
	buf []byte // records to be written

	schemas  []Schema
	channels []Channel
	counts   []uint64 // of written messages, by channel ID
	start    uint64
	end      uint64
	total    uint64

	open    openChunk
	chunks  []writtenChunk
	records []writtenMetadata
}

// openChunk collects messages until they are written together.
type openChunk struct {
	records    []byte
	start, end uint64
	messages   int
	index      [][]byte // by channel ID: log time and offset, 16 bytes each
}

type writtenChunk struct {
	start, end   uint64
	off, length  int64
	indexLength  int64
	indexes      []indexPlace
	packed, size int
}

type indexPlace struct {
	channel uint16
	off     int64
}

type writtenMetadata struct {
	off, length int64
	name        string
}

// NewWriter starts a file.
func NewWriter(out Output, o WriterOptions) (*Writer, error) {
	p, err := newPacker(o.Compression)
	if err != nil {
		return nil, err
	}
	if o.ChunkSize <= 0 {
		o.ChunkSize = DefaultChunkSize
	}
	w := &Writer{out: out, opts: o, pack: p, counts: []uint64{0}}
	w.open.index = [][]byte{nil}
	w.buf = append(w.buf, magic...)
	at := w.begin(opHeader)
	w.str(o.Profile)
	w.str(o.Library)
	w.finish(at)
	return w, w.flushBuf()
}

// AddSchema writes a schema and returns its ID. Schemas count from 1.
func (w *Writer) AddSchema(name, encoding string, data []byte) (uint16, error) {
	if len(w.schemas) >= 1<<16-1 {
		return 0, errors.New("more than 65535 schemas")
	}
	s := Schema{ID: uint16(len(w.schemas) + 1), Name: name, Encoding: encoding, Data: data}
	w.schema(s)
	if err := w.flushBuf(); err != nil {
		return 0, err
	}
	w.schemas = append(w.schemas, s)
	return s.ID, nil
}

// AddChannel writes a channel and returns its ID. Channels count from 1.
func (w *Writer) AddChannel(c Channel) (uint16, error) {
	if len(w.channels) >= 1<<16-1 {
		return 0, errors.New("more than 65535 channels")
	}
	c.ID = uint16(len(w.channels) + 1)
	w.channel(c)
	if err := w.flushBuf(); err != nil {
		return 0, err
	}
	w.channels = append(w.channels, c)
	w.counts = append(w.counts, 0)
	w.open.index = append(w.open.index, nil)
	return c.ID, nil
}

// AddMetadata writes a metadata record.
func (w *Writer) AddMetadata(m Metadata) error {
	at := w.begin(opMetadata)
	w.str(m.Name)
	w.strings(m.Values)
	w.finish(at)
	place := writtenMetadata{off: w.off, length: int64(len(w.buf)), name: m.Name}
	if err := w.flushBuf(); err != nil {
		return err
	}
	w.records = append(w.records, place)
	return nil
}

// Write adds a message to the open chunk, and writes the chunk to the file when
// it is full. Times are ns since the epoch.
func (w *Writer) Write(channel uint16, sequence uint32, logTime, publishTime uint64, data []byte) error {
	if w.err != nil {
		return w.err
	}
	if channel == 0 || int(channel) > len(w.channels) {
		return fmt.Errorf("channel %d was not added", channel)
	}
	if len(data) > MaxChunk-messageHead-recordHead {
		return fmt.Errorf("%s: a message of %d bytes, more than the %d a chunk holds", w.channels[channel-1].Topic,
			len(data), MaxChunk)
	}
	c := &w.open
	if len(c.records) > 0 && len(c.records)+len(data)+messageHead+recordHead > MaxChunk {
		if err := w.Flush(); err != nil {
			return err
		}
	}
	if c.messages == 0 {
		c.start, c.end = logTime, logTime
	}
	c.start, c.end = min(c.start, logTime), max(c.end, logTime)
	c.messages++
	idx := le.AppendUint64(c.index[channel], logTime)
	c.index[channel] = le.AppendUint64(idx, uint64(len(c.records)))

	b := append(c.records, byte(opMessage))
	b = le.AppendUint64(b, uint64(messageHead+len(data)))
	b = le.AppendUint16(b, channel)
	b = le.AppendUint32(b, sequence)
	b = le.AppendUint64(b, logTime)
	b = le.AppendUint64(b, publishTime)
	c.records = append(b, data...)
	if len(c.records) >= w.opts.ChunkSize {
		return w.Flush()
	}
	return nil
}

// Pending is the number of messages in the open chunk, not yet in the file.
func (w *Writer) Pending() int { return w.open.messages }

// Count is the number of a channel's messages that are in the file.
func (w *Writer) Count(channel uint16) uint64 {
	if int(channel) >= len(w.counts) {
		return 0
	}
	return w.counts[channel]
}

// Span gives the log times of the first and the last message in the file, in
// ns, and the number of messages.
func (w *Writer) Span() (start, end, messages uint64) { return w.start, w.end, w.total }

// Size is the size of the file in bytes, plus the open chunk's uncompressed
// size.
func (w *Writer) Size() int64 { return w.off + int64(len(w.open.records)) }

// Flush writes the open chunk to the file.
func (w *Writer) Flush() error {
	c := &w.open
	if w.err != nil || c.messages == 0 {
		return w.err
	}
	packed, err := w.pack.pack(c.records)
	if err != nil {
		return err
	}
	done := writtenChunk{start: c.start, end: c.end, off: w.off, packed: len(packed), size: len(c.records)}
	at := w.begin(opChunk)
	w.u64(c.start)
	w.u64(c.end)
	w.u64(uint64(len(c.records)))
	w.u32(crc32.ChecksumIEEE(c.records))
	w.str(w.opts.Compression)
	w.u64(uint64(len(packed)))
	w.buf = append(w.buf, packed...)
	w.finish(at)
	done.length = int64(len(w.buf))
	for id, idx := range c.index {
		if len(idx) == 0 {
			continue
		}
		done.indexes = append(done.indexes, indexPlace{uint16(id), w.off + int64(len(w.buf))})
		at := w.begin(opMessageIndex)
		w.u16(uint16(id))
		w.u32(uint32(len(idx)))
		w.buf = append(w.buf, idx...)
		w.finish(at)
	}
	done.indexLength = int64(len(w.buf)) - done.length
	if err := w.flushBuf(); err != nil {
		return err
	}
	w.chunkWritten(done)
	return nil
}

// chunkWritten books the chunk at hand as written and empties it.
func (w *Writer) chunkWritten(done writtenChunk) {
	c := &w.open
	w.chunks = append(w.chunks, done)
	if w.total == 0 {
		w.start, w.end = c.start, c.end
	}
	w.start, w.end = min(w.start, c.start), max(w.end, c.end)
	w.total += uint64(c.messages)
	for id := range c.index {
		w.counts[id] += uint64(len(c.index[id]) / 16)
		c.index[id] = c.index[id][:0]
	}
	c.records, c.messages = c.records[:0], 0
}

// flushBuf appends buf to the file. After a failed write the file is truncated to
// its size before.
func (w *Writer) flushBuf() error {
	if w.err != nil {
		w.buf = w.buf[:0]
		return w.err
	}
	_, err := w.out.WriteAt(w.buf, w.off)
	if err != nil {
		w.err = err
		if terr := w.out.Truncate(w.off); terr != nil {
			w.err = fmt.Errorf("%w; the incomplete end could not be cut off: %w", err, terr)
		}
	} else {
		w.crc = crc32.Update(w.crc, crc32.IEEETable, w.buf)
		w.off += int64(len(w.buf))
	}
	w.buf = w.buf[:0]
	return w.err
}

// begin starts a record in buf; finish fills in its length.
func (w *Writer) begin(op opcode) int {
	w.buf = append(w.buf, byte(op), 0, 0, 0, 0, 0, 0, 0, 0)
	return len(w.buf)
}

func (w *Writer) finish(at int) { le.PutUint64(w.buf[at-8:], uint64(len(w.buf)-at)) }

func (w *Writer) u16(v uint16) { w.buf = le.AppendUint16(w.buf, v) }
func (w *Writer) u32(v uint32) { w.buf = le.AppendUint32(w.buf, v) }
func (w *Writer) u64(v uint64) { w.buf = le.AppendUint64(w.buf, v) }

func (w *Writer) str(s string) {
	w.u32(uint32(len(s)))
	w.buf = append(w.buf, s...)
}
