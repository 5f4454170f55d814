package mcap

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// memory is a file that can be full.
type memory struct {
	b     []byte
	limit int // 0: none
}

var errFull = errors.New("no space left on device")

func (m *memory) WriteAt(p []byte, off int64) (int, error) {
	end := int(off) + len(p)
	if m.limit > 0 && end > m.limit {
		m.b = append(m.b[:off], p[:max(0, m.limit-int(off))]...) // an incomplete write
		return max(0, m.limit-int(off)), errFull
	}
	m.b = append(m.b[:off], p...)
	return len(p), nil
}

func (m *memory) Truncate(n int64) error {
	m.b = m.b[:n]
	return nil
}

// record is what a message was written from.
type record struct {
	topic        string
	seq          uint32
	log, publish uint64
	data         string
}

func (r record) String() string { return fmt.Sprintf("%s %d@%d %q", r.topic, r.seq, r.log, r.data) }

var codecs = []string{None, LZ4, Zstd}

// write makes a file of the records; Close it or not.
func write(t testing.TB, out *memory, o WriterOptions, records []record) *Writer {
	t.Helper()
	o.Profile, o.Library = "ros2", "test"
	w, err := NewWriter(out, o)
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]uint16{}
	for _, r := range records {
		if ids[r.topic] == 0 {
			ids[r.topic] = addChannel(t, w, r.topic)
		}
		if err := w.Write(ids[r.topic], r.seq, r.log, r.publish, []byte(r.data)); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func addChannel(t testing.TB, w *Writer, topic string) uint16 {
	t.Helper()
	schema, err := w.AddSchema("std_msgs/msg/String", "ros2msg", []byte("string data\n"))
	if err != nil {
		t.Fatal(err)
	}
	id, err := w.AddChannel(Channel{SchemaID: schema, Topic: topic, Encoding: "cdr",
		Metadata: map[string]string{"k": "v", "a": ""}})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func open(t testing.TB, b []byte) *Reader {
	t.Helper()
	r, err := NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func readAll(t testing.TB, it *Iterator) []record {
	t.Helper()
	var out []record
	for {
		m, err := it.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, record{m.Channel.Topic, m.Sequence, m.LogTime, m.PublishTime, string(m.Data)})
	}
}

// inOrder sorts as a Reader does: by time, and by place in the file.
func inOrder(records []record) []record {
	out := slices.Clone(records)
	slices.SortStableFunc(out, func(a, b record) int { return cmp.Compare(a.log, b.log) })
	return out
}

func equal(t testing.TB, got, want []record) {
	t.Helper()
	if !slices.Equal(got, want) {
		n := 0
		for n < len(got) && n < len(want) && got[n] == want[n] {
			n++
		}
		t.Fatalf("%d messages, want %d; first difference at %d:\ngot  %v\nwant %v", len(got), len(want), n,
			got[n:min(n+3, len(got))], want[n:min(n+3, len(want))])
	}
}

// stream is n messages in nearly the order of their times, on three topics.
func stream(n int) []record {
	var out []record
	for i := range n {
		jitter := uint64(i*7919%13) * 30
		out = append(out, record{
			topic: []string{"/a", "/b", "/c"}[i%3], seq: uint32(i), log: 1_000_000 + uint64(i)*100 - jitter,
			publish: uint64(i),
			data:    strings.Repeat(fmt.Sprintf("message %d ", i), 1+i%20),
		})
	}
	return out
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	want := stream(2000)
	for _, codec := range codecs {
		for _, size := range []int{1, 3000, 100_000, 1 << 20} {
			var out memory
			w := write(t, &out, WriterOptions{Compression: codec, ChunkSize: size}, want)
			if err := w.AddMetadata(Metadata{"note", map[string]string{"x": "y"}}); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			r := open(t, out.b)
			if loss := r.Loss(); !r.Indexed || r.Profile != "ros2" || r.Library != "test" || loss.Any() {
				t.Fatalf("%q %d: indexed %v, profile %q, %s", codec, size, r.Indexed, r.Profile, loss.String())
			}
			if m := r.Metadata(); len(m) != 1 || m[0].Values["x"] != "y" {
				t.Errorf("metadata %v", m)
			}
			start, end, n := r.Span()
			sorted := inOrder(want)
			if n != 2000 || start != sorted[0].log || end != sorted[1999].log {
				t.Errorf("span %d to %d, %d messages", start, end, n)
			}
			equal(t, readAll(t, r.Messages(nil)), sorted)
			equal(t, readAll(t, r.Messages(func(c *Channel) bool { return c.Topic == "/b" })),
				slices.DeleteFunc(slices.Clone(sorted), func(r record) bool { return r.topic != "/b" }))
			for _, c := range r.Channels() {
				if s := r.Schema(c); r.Count(c) < 666 || s == nil || string(s.Data) != "string data\n" ||
					c.Metadata["k"] != "v" {
					t.Errorf("%+v: %d messages, schema %+v", c, r.Count(c), s)
				}
			}
			r.Close()
		}
	}
}

// With and without a summary.
func TestFileWithoutMessagesIsRead(t *testing.T) {
	var out memory
	w := write(t, &out, WriterOptions{Compression: Zstd}, nil)
	head := len(out.b)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for n := range len(out.b) + 1 {
		r := open(t, out.b[:n])
		if got := readAll(t, r.Messages(nil)); len(got) > 0 {
			t.Fatal("messages out of nothing")
		}
		if loss := r.Loss(); loss.Messages != 0 || loss.Truncated == (n >= head+recordHead+4) {
			t.Errorf("%d of %d bytes: %s", n, len(out.b), loss.String())
		}
	}
}

func TestMessagesAreSortedAcrossChunks(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var records []record
		for i, log := range rapid.SliceOfN(rapid.Uint64Range(0, 50), 0, 200).Draw(rt, "times") {
			records = append(records, record{topic: "/a", seq: uint32(i), log: log, data: "0123456789"})
		}
		var out memory
		w := write(t, &out, WriterOptions{ChunkSize: rapid.IntRange(1, 1000).Draw(rt, "chunk size")}, records)
		if err := w.Flush(); err != nil {
			rt.Fatal(err)
		}
		whole := rapid.Bool().Draw(rt, "closed")
		if whole {
			if err := w.Close(); err != nil {
				rt.Fatal(err)
			}
		}
		r := open(t, out.b)
		if r.Indexed != whole {
			rt.Fatalf("indexed %v", r.Indexed)
		}
		if got := readAll(t, r.Messages(nil)); !slices.Equal(got, inOrder(records)) {
			rt.Fatalf("not in order: %v", got)
		}
	})
}

// Many chunks span the same time, and are together larger than keepLoaded: they have to be loaded again.
func TestOverlappingChunksBeyondMemoryAreMerged(t *testing.T) {
	const chunks, each = 9, 40
	blob := strings.Repeat("x", 250_000)
	var records []record
	for c := range chunks {
		for i := range each {
			records = append(records, record{topic: "/a", seq: uint32(len(records)), log: uint64(i*chunks + c),
				data: blob})
		}
	}
	var out memory
	w := write(t, &out, WriterOptions{Compression: Zstd, ChunkSize: each * (len(blob) + messageHead + recordHead)},
		records)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r := open(t, out.b)
	if len(r.chunks) != chunks {
		t.Fatalf("%d chunks", len(r.chunks))
	}
	it := r.Messages(nil)
	for i := range chunks * each {
		m, err := it.Next()
		if err != nil || m.LogTime != uint64(i) || len(m.Data) != len(blob) {
			t.Fatalf("message %d: %v %v", i, m, err)
		}
		if it.loaded > keepLoaded+64<<20 {
			t.Fatalf("%d bytes loaded", it.loaded)
		}
	}
	if _, err := it.Next(); !errors.Is(err, io.EOF) {
		t.Error("no end")
	}
	if loss := r.Loss(); loss.Any() {
		t.Error(loss.String())
	}
}

// Opcodes of later versions and of applications, in the file and in chunks.
func TestUnknownRecordsAreSkipped(t *testing.T) {
	var out memory
	w := write(t, &out, WriterOptions{}, stream(10))
	w.open.records = append(w.open.records, 0x9a, 3, 0, 0, 0, 0, 0, 0, 0, 'a', 'b', 'c')
	w.open.records = append(w.open.records, 0x55, 0, 0, 0, 0, 0, 0, 0, 0)
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	at := w.begin(0xC0)
	w.buf = append(w.buf, "something else"...)
	w.finish(at)
	if err := w.flushBuf(); err != nil {
		t.Fatal(err)
	}
	cut := open(t, out.b)
	if got := readAll(t, cut.Messages(nil)); len(got) != 10 {
		t.Errorf("%d messages by scanning", len(got))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r := open(t, out.b)
	if got := readAll(t, r.Messages(nil)); len(got) != 10 || !r.Indexed {
		t.Errorf("%d messages by the index", len(got))
	}
}

func TestNewReaderRefusesOtherFiles(t *testing.T) {
	b := []byte("SQLite format 3\x00 and so on")
	if _, err := NewReader(bytes.NewReader(b), int64(len(b))); err == nil ||
		!strings.Contains(err.Error(), "not an MCAP file") {
		t.Error(err)
	}
}

// At any size of the disk, complete chunks are readable, and Close returns the error.
func TestFullDiskKeepsCompleteChunks(t *testing.T) {
	records := stream(300)
	var whole memory
	w := write(t, &whole, WriterOptions{Compression: LZ4, ChunkSize: 4000}, records)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for limit := 400; limit < len(whole.b); limit += 97 {
		out := memory{limit: limit}
		w, err := NewWriter(&out, WriterOptions{Compression: LZ4, ChunkSize: 4000})
		if err != nil {
			t.Fatal(err)
		}
		ids := map[string]uint16{}
		var first error
		for _, r := range records {
			if ids[r.topic] == 0 {
				schema, err := w.AddSchema("T", "", nil)
				if err != nil {
					first = err
					break
				}
				if ids[r.topic], err = w.AddChannel(Channel{SchemaID: schema, Topic: r.topic}); err != nil {
					first = err
					break
				}
			}
			if first = w.Write(ids[r.topic], r.seq, r.log, r.publish, []byte(r.data)); first != nil {
				break
			}
		}
		_, _, n := w.Span()
		cerr := w.Close()
		if first != nil && !errors.Is(first, errFull) || cerr != nil && !errors.Is(cerr, errFull) {
			t.Fatalf("limit %d: %v, %v", limit, first, cerr)
		}
		r := open(t, out.b)
		got := readAll(t, r.Messages(nil))
		loss := r.Loss()
		if _, _, now := w.Span(); now > n {
			n = now // Close could write the last chunk
		}
		if uint64(len(got)) != n || loss.Messages+loss.Chunks+loss.Bytes > 0 {
			t.Fatalf("limit %d: %d messages read, %d were written, %s %q", limit, len(got), n, loss.String(),
				loss.Notes)
		}
	}
}

func TestWriterRefuses(t *testing.T) {
	if _, err := NewWriter(&memory{}, WriterOptions{Compression: "brotli"}); err == nil ||
		!strings.Contains(err.Error(), "brotli") {
		t.Error(err)
	}
	var out memory
	w := write(t, &out, WriterOptions{}, nil)
	if err := w.Write(1, 0, 0, 0, nil); err == nil {
		t.Error("a channel that was not added")
	}
}

// After its buffers have grown.
func TestWriterAllocatesNothing(t *testing.T) {
	out := &sink{}
	w, err := NewWriter(out, WriterOptions{Compression: Zstd, ChunkSize: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	id := addChannel(t, w, "/a")
	data := make([]byte, 100)
	i := uint64(0)
	write := func() {
		i++
		if err := w.Write(id, uint32(i), i, i, data); err != nil {
			t.Fatal(err)
		}
	}
	for range 1000 {
		write()
	}
	// One index entry per chunk of 76 messages is kept for the summary.
	if n := testing.AllocsPerRun(1000, write); n > 0.1 {
		t.Errorf("%g allocations per message", n)
	}
}

// sink takes everything and keeps nothing.
type sink struct{}

func (sink) WriteAt(p []byte, _ int64) (int, error) { return len(p), nil }
func (sink) Truncate(int64) error                   { return nil }
