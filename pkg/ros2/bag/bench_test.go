package bag

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

// benchSize is the size of the benchmarks' bag in bytes of messages: 64 MB, or
// what VND_BENCH_MB says. The figures in the documents are for 1024.
func benchSize(b *testing.B) int {
	mb := 64
	if s := os.Getenv("VND_BENCH_MB"); s != "" {
		var err error
		if mb, err = strconv.Atoi(s); err != nil {
			b.Fatal(err)
		}
	}
	return mb << 20
}

// flightMessages are poses (88 bytes) and odometry (712 bytes) of a smooth
// flight, with noise in the low bits as real ones have it.
func flightMessage(i int, buf []byte) *Message {
	le := binary.LittleEndian
	m := &Message{Topic: "/quad/mocap/pose", Type: "geometry_msgs/msg/PoseStamped",
		LogTime: sampleStart + int64(i)*5_000_000}
	m.PublishTime = m.LogTime
	values, zeros := 7, 0
	if i%2 == 1 {
		m.Topic, m.Type = "/quad/odom", "nav_msgs/msg/Odometry"
		values, zeros = 13, 72 // pose and twist; covariances
	}
	buf = append(buf[:0], 0, 1, 0, 0)
	buf = le.AppendUint64(buf, uint64(m.LogTime))
	buf = append(buf, "\x06\x00\x00\x00world\x00\x00\x00\x00\x00\x00\x00"...)
	noise := uint64(i)*0x9e3779b97f4a7c15 + 1
	for k := range values {
		noise ^= noise << 13
		noise ^= noise >> 7
		noise ^= noise << 17
		v := math.Sin(float64(i)*0.005+float64(k)) + float64(noise>>44)*1e-9
		buf = le.AppendUint64(buf, math.Float64bits(v))
	}
	m.Data = append(buf, make([]byte, 8*zeros)...)
	return m
}

// writeBench writes the benchmarks' bag and returns its folder, its messages
// and the bytes of their data.
func writeBench(b *testing.B, o WriterOptions, size int) (dir string, messages int, bytes int64) {
	b.Helper()
	dir = filepath.Join(b.TempDir(), "bench")
	w, err := Create(dir, o)
	if err != nil {
		b.Fatal(err)
	}
	for _, t := range []Topic{
		{Name: "/quad/mocap/pose", Type: "geometry_msgs/msg/PoseStamped"},
		{Name: "/quad/odom", Type: "nav_msgs/msg/Odometry"},
	} {
		if err := w.AddTopic(t); err != nil {
			b.Fatal(err)
		}
	}
	buf := make([]byte, 0, 1024)
	for bytes < int64(size) {
		m := flightMessage(messages, buf)
		buf = m.Data[:0]
		if err := w.Write(m); err != nil {
			b.Fatal(err)
		}
		messages++
		bytes += int64(len(m.Data))
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	return dir, messages, bytes
}

// BenchmarkReadMCAP reads a whole bag, message by message, in the order of
// their times. MB/s are of message data, uncompressed.
func BenchmarkReadMCAP(b *testing.B) {
	size := benchSize(b)
	for _, codec := range []string{"none", "zstd", "lz4"} {
		dir, messages, bytes := writeBench(b, WriterOptions{Compression: codec}, size)
		file := filepath.Join(dir, "bench_0.mcap")
		b.Run(codec, func(b *testing.B) {
			b.SetBytes(bytes)
			for b.Loop() {
				benchRead(b, dir, messages)
			}
		})
		b.Run(codec+"-one-topic", func(b *testing.B) {
			b.SetBytes(bytes)
			for b.Loop() {
				benchRead(b, dir, (messages+1)/2, "/quad/mocap/pose")
			}
		})
		b.Run(codec+"-file-only", func(b *testing.B) { // the disk, or its cache
			st, err := os.Stat(file)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(st.Size())
			for b.Loop() {
				readFile(b, file)
			}
		})
		b.Run(codec+"-pypi", func(b *testing.B) {
			python := os.Getenv("VND_PYTHON")
			if python == "" {
				b.Skip("VND_PYTHON is not set")
			}
			b.SetBytes(bytes)
			for b.Loop() {
				out, err := exec.Command(python, filepath.Join("testdata", "peer.py"), "count", file).Output()
				if n, _ := strconv.Atoi(string(out[:max(0, len(out)-1)])); err != nil || n != messages {
					b.Fatalf("%s: %v", out, err)
				}
			}
		})
	}
}

func benchRead(b *testing.B, dir string, messages int, topics ...string) {
	r, err := Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	n := 0
	for _, err := range r.Messages(topics...) {
		if err != nil {
			b.Fatal(err)
		}
		n++
	}
	if n != messages {
		b.Fatalf("%d messages, want %d", n, messages)
	}
}

func readFile(b *testing.B, path string) {
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	buf := make([]byte, 1<<20)
	for {
		if _, err := f.Read(buf); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkWrite writes messages of a flight. MB/s are of message data.
func BenchmarkWrite(b *testing.B) {
	for _, o := range []WriterOptions{{Compression: "none"}, {}, {Compression: "lz4"}, {Storage: SQLite}} {
		b.Run(o.Storage+o.Compression, func(b *testing.B) {
			for b.Loop() {
				_, _, bytes := writeBench(b, o, 16<<20)
				b.SetBytes(bytes)
			}
		})
	}
}
