package mcap

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"
)

// Any bytes are an error, a file without messages, or messages in the order of the chunks. Reading them
// again gives the same.
func FuzzReader(f *testing.F) {
	for _, codec := range codecs {
		var out memory
		w := write(f, &out, WriterOptions{Compression: codec, ChunkSize: 300}, stream(12))
		if err := w.AddMetadata(Metadata{"rosbag2", map[string]string{"ROS_DISTRO": "jazzy"}}); err != nil {
			f.Fatal(err)
		}
		f.Add(bytes.Clone(out.b)) // without a summary
		if err := w.Close(); err != nil {
			f.Fatal(err)
		}
		f.Add(out.b)
	}
	// Records that stand outside of chunks.
	var out memory
	w := write(f, &out, WriterOptions{}, stream(5))
	w.buf = append(w.buf, w.open.records...)
	w.open = openChunk{}
	if err := w.flushBuf(); err != nil {
		f.Fatal(err)
	}
	f.Add(out.b)
	f.Fuzz(func(t *testing.T, file []byte) {
		r, err := NewReader(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			return
		}
		defer r.Close()
		first := fuzzRead(t, r)
		loss := r.Loss()
		second := fuzzRead(t, r)
		if again := r.Loss(); !slices.Equal(first, second) || loss.Messages != again.Messages ||
			loss.Chunks != again.Chunks {
			t.Fatalf("%d messages, then %d; %s, then %s", len(first), len(second), loss.String(), again.String())
		}
		if _, _, n := r.Span(); !r.Indexed && uint64(len(first)) != n {
			t.Fatalf("%d messages found by the scan, %d read", n, len(first))
		}
	})
}

func fuzzRead(t *testing.T, r *Reader) []record {
	var out []record
	for it := r.Messages(nil); ; {
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
