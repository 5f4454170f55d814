package mcap

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Of a file that is cut at any byte, the messages of all complete chunks are read, and a prefix of the last
// one.
func TestFileCutAnywhereIsReadToItsEnd(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		codec := rapid.SampledFrom(codecs).Draw(rt, "codec")
		size := rapid.IntRange(1, 20_000).Draw(rt, "chunk size")
		records := drawRecords(rt)
		var out memory
		w := write(t, &out, WriterOptions{Compression: codec, ChunkSize: size}, records)
		closed := rapid.Bool().Draw(rt, "closed")
		if closed {
			if err := w.Close(); err != nil {
				rt.Fatal(err)
			}
		}
		cut := rapid.IntRange(0, len(out.b)).Draw(rt, "cut")
		r, err := NewReader(bytes.NewReader(out.b[:cut]), int64(cut))
		if err != nil {
			rt.Fatal(err)
		}
		got := readAll(t, r.Messages(nil))
		flushed := 0
		for _, c := range w.chunks {
			if c.off+c.length <= int64(cut) {
				flushed += messagesIn(t, out.b, c)
			}
		}
		if len(got) < flushed {
			rt.Fatalf("%d messages in whole chunks, but %d read", flushed, len(got))
		}
		want := inOrder(records[:len(got)])
		if !slices.Equal(got, want) {
			rt.Fatalf("%d messages are no prefix of the %d written", len(got), len(records))
		}
		if loss := r.Loss(); cut == len(out.b) && closed && (loss.Any() || len(got) != len(records)) {
			rt.Fatalf("the whole file: %s", loss.String())
		}
	})
}

func messagesIn(t testing.TB, file []byte, c writtenChunk) int {
	r := &Reader{r: bytes.NewReader(file), size: int64(len(file)), channels: map[uint16]*Channel{},
		schemas: map[uint16]*Schema{}}
	records, _, _, err := r.load(&chunk{off: c.off, length: c.length}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	walk(records, func(op opcode, _ int, _ []byte) bool {
		n++
		return true
	})
	return n
}

// drawRecords draws messages whose times mostly increase. They jump back only so far that a prefix in file
// order stays a prefix after a stable sort.
func drawRecords(rt *rapid.T) []record {
	n := rapid.IntRange(0, 120).Draw(rt, "messages")
	time := uint64(1000)
	var out []record
	for i := range n {
		time += rapid.Uint64Range(0, 3).Draw(rt, "step")
		out = append(out, record{
			topic: rapid.SampledFrom([]string{"/a", "/b", "/c"}).Draw(rt, "topic"), seq: uint32(i), log: time,
			publish: rapid.Uint64().Draw(rt, "publish"),
			data:    strings.Repeat(rapid.StringN(0, 8, -1).Draw(rt, "data"), rapid.IntRange(0, 200).Draw(rt, "times")),
		})
	}
	return out
}

// A flipped bit costs one chunk. Its messages are counted once, by its message indexes.
func TestDamagedChunkCostsOnlyItself(t *testing.T) {
	want := stream(500)
	for _, codec := range codecs {
		for _, indexed := range []bool{true, false} {
			var out memory
			w := write(t, &out, WriterOptions{Compression: codec, ChunkSize: 10_000}, want)
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			hit := w.chunks[3]
			lost := messagesIn(t, out.b, hit)
			out.b[hit.off+hit.length/2] ^= 0x10
			if !indexed {
				out.b[len(out.b)-9] ^= 1 // the summary's CRC
			}
			r := open(t, out.b)
			if r.Indexed != indexed {
				t.Fatalf("indexed %v", r.Indexed)
			}
			for range 2 {
				if got := readAll(t, r.Messages(nil)); len(got) != len(want)-lost {
					t.Errorf("%q: %d messages read, %d are in whole chunks", codec, len(got), len(want)-lost)
				}
			}
			loss := r.Loss()
			if loss.Messages != uint64(lost) || loss.Chunks != 1 || loss.Truncated || len(loss.Notes) == 0 {
				t.Errorf("%q indexed %v: %s %q, want %d messages", codec, indexed, loss.String(), loss.Notes, lost)
			}
		}
	}
}

// File systems leave zeros at the end of a file after a power loss.
func TestZerosAtTheEndAreCutOff(t *testing.T) {
	var out memory
	w := write(t, &out, WriterOptions{Compression: Zstd, ChunkSize: 1000}, stream(100))
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	r := open(t, append(out.b, make([]byte, 4096)...))
	loss := r.Loss()
	if got := readAll(t, r.Messages(nil)); len(got) != 100 || !loss.Truncated || loss.Bytes != 4096 ||
		loss.Messages != 0 {
		t.Errorf("%d messages, %s", len(got), loss.String())
	}
}

func TestDataCRCDetectsDamageOutsideOfChunks(t *testing.T) {
	var out memory
	w := write(t, &out, WriterOptions{}, stream(50))
	w.buf = append(w.buf, w.open.records...)
	w.open = openChunk{}
	if err := w.flushBuf(); err != nil {
		t.Fatal(err)
	}
	end := len(out.b)
	w.total = 50 // more than the chunks hold: the reader has to scan
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, hit := range []bool{false, true} {
		if hit {
			out.b[end-3] ^= 1 // in the last message's data
		}
		r := open(t, out.b)
		got := readAll(t, r.Messages(nil))
		if loss := r.Loss(); len(got) != 50 || loss.Any() != hit || r.Indexed {
			t.Errorf("damaged %v: %d messages, %s %q", hit, len(got), loss.String(), loss.Notes)
		}
	}
}
