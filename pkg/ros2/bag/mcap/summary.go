package mcap

import (
	"hash/crc32"
	"maps"
	"slices"
)

// Close writes the open chunk, the summary and the footer. On an error it keeps
// what was written before, and returns the first error. The underlying file
// stays open.
func (w *Writer) Close() error {
	first := w.Flush()
	w.err = nil // a summary may fit where a chunk did not
	w.open = openChunk{}

	at := w.begin(opDataEnd)
	w.u32(w.crc)
	w.finish(at)
	start := w.off + int64(len(w.buf))
	var groups []group
	for _, g := range []struct {
		op    opcode
		write func()
	}{
		{opSchema, w.summarySchemas}, {opChannel, w.summaryChannels}, {opStatistics, w.summaryStatistics},
		{opChunkIndex, w.summaryChunks}, {opMetadataIndex, w.summaryMetadata},
	} {
		from := int64(len(w.buf))
		g.write()
		if n := int64(len(w.buf)) - from; n > 0 {
			groups = append(groups, group{g.op, w.off + from, n})
		}
	}
	offsets := w.off + int64(len(w.buf))
	for _, g := range groups {
		at := w.begin(opSummaryOffset)
		w.buf = append(w.buf, byte(g.op))
		w.u64(uint64(g.off))
		w.u64(uint64(g.length))
		w.finish(at)
	}
	w.buf = append(w.buf, byte(opFooter))
	w.u64(footerSize - recordHead)
	w.u64(uint64(start))
	w.u64(uint64(offsets))
	w.u32(crc32.ChecksumIEEE(w.buf[start-w.off:]))
	w.buf = append(w.buf, magic...)
	if err := w.flushBuf(); first == nil {
		first = err
	}
	return first
}

// group is a run of summary records of one kind.
type group struct {
	op          opcode
	off, length int64
}

func (w *Writer) summarySchemas() {
	for _, s := range w.schemas {
		w.schema(s)
	}
}

func (w *Writer) summaryChannels() {
	for _, c := range w.channels {
		w.channel(c)
	}
}

func (w *Writer) summaryStatistics() {
	at := w.begin(opStatistics)
	w.u64(w.total)
	w.u16(uint16(len(w.schemas)))
	w.u32(uint32(len(w.channels)))
	w.u32(0) // attachments
	w.u32(uint32(len(w.records)))
	w.u32(uint32(len(w.chunks)))
	w.u64(w.start)
	w.u64(w.end)
	w.u32(uint32(10 * len(w.channels)))
	for _, c := range w.channels {
		w.u16(c.ID)
		w.u64(w.counts[c.ID])
	}
	w.finish(at)
}

func (w *Writer) summaryChunks() {
	for _, c := range w.chunks {
		at := w.begin(opChunkIndex)
		w.u64(c.start)
		w.u64(c.end)
		w.u64(uint64(c.off))
		w.u64(uint64(c.length))
		w.u32(uint32(10 * len(c.indexes)))
		for _, i := range c.indexes {
			w.u16(i.channel)
			w.u64(uint64(i.off))
		}
		w.u64(uint64(c.indexLength))
		w.str(w.opts.Compression)
		w.u64(uint64(c.packed))
		w.u64(uint64(c.size))
		w.finish(at)
	}
}

func (w *Writer) summaryMetadata() {
	for _, m := range w.records {
		at := w.begin(opMetadataIndex)
		w.u64(uint64(m.off))
		w.u64(uint64(m.length))
		w.str(m.name)
		w.finish(at)
	}
}

func (w *Writer) schema(s Schema) {
	at := w.begin(opSchema)
	w.u16(s.ID)
	w.str(s.Name)
	w.str(s.Encoding)
	w.u32(uint32(len(s.Data)))
	w.buf = append(w.buf, s.Data...)
	w.finish(at)
}

func (w *Writer) channel(c Channel) {
	at := w.begin(opChannel)
	w.u16(c.ID)
	w.u16(c.SchemaID)
	w.str(c.Topic)
	w.str(c.Encoding)
	w.strings(c.Metadata)
	w.finish(at)
}

// strings writes a map with sorted keys, so that the same calls give the same
// bytes.
func (w *Writer) strings(m map[string]string) {
	at := len(w.buf)
	w.u32(0)
	for _, k := range slices.Sorted(maps.Keys(m)) {
		w.str(k)
		w.str(m[k])
	}
	le.PutUint32(w.buf[at:], uint32(len(w.buf)-at-4))
}
