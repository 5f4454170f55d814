package logs

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"vnd/pkg/bridge/logs/ulog"
)

// endless is a ULog of any length: the take-off of the test data over and over, with the rows of other topics between.
type endless struct {
	left   int64
	block  []byte
	stamps []int // offsets of times in block
	step   uint64
	next   []byte
}

func newEndless(t testing.TB, bytesInAll int64, others int) *endless {
	t.Helper()
	log, err := os.ReadFile("ulog/testdata/takeoff.ulg")
	if err != nil {
		t.Fatal(err)
	}
	message := func(kind byte, body []byte) []byte {
		return append(append(binary.LittleEndian.AppendUint16(nil, uint16(len(body))), kind), body...)
	}
	const number = 999
	e := &endless{left: bytesInAll, step: 12e6}
	head := append([]byte(nil), log[:16]...)
	other := binary.LittleEndian.AppendUint16(nil, number)
	other = message('D', append(other, make([]byte, 8+16*4)...))
	for at := 16; at < len(log); {
		size := 3 + int(binary.LittleEndian.Uint16(log[at:]))
		m := log[at : at+size]
		at += size
		if m[2] != 'D' {
			if m[2] == 'A' && !bytes.Contains(head, []byte("other:")) {
				head = append(head, message('F', []byte("other:uint64_t timestamp;float[16] x;"))...)
				head = append(head, message('A', append([]byte{0, number & 255, number >> 8}, "other"...))...)
			}
			head = append(head, m...)
			continue
		}
		e.stamps = append(e.stamps, len(e.block)+5)
		e.block = append(e.block, m...)
		for range others {
			e.block = append(e.block, other...)
		}
	}
	e.next = head
	return e
}

func (e *endless) Read(p []byte) (int, error) {
	if len(e.next) == 0 {
		for _, at := range e.stamps {
			binary.LittleEndian.PutUint64(e.block[at:], binary.LittleEndian.Uint64(e.block[at:])+e.step)
		}
		e.next = e.block
	}
	if e.left <= 0 {
		return 0, io.EOF
	}
	n := copy(p, e.next)
	e.next, e.left = e.next[n:], e.left-int64(n)
	return n, nil
}

// BenchmarkULogToFlights reads 1 GiB of ULog, 64 MiB with -short, to rows of 0.02 s: all topics wanted, or a fifth of
// the bytes, as in a log of PX4's default topics.
func BenchmarkULogToFlights(b *testing.B) {
	size := int64(1) << 30
	if testing.Short() {
		size = 1 << 26
	}
	for name, others := range map[string]int{"a fifth wanted": 3, "all wanted": 0} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				l, err := Parse("endless.ulg", newEndless(b, size, others), nil)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := l.Ready(0.02); err != nil {
					b.Fatal(err)
				}
				f, err := l.Flight(0.02)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(f.Rows()), "rows")
			}
		})
		b.Run("reader alone, "+name, func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				r, err := ulog.NewReader("endless.ulg", newEndless(b, size, others),
					func(topic string) bool { return strings.HasPrefix(topic, "vehicle_") })
				if err != nil {
					b.Fatal(err)
				}
				for err == nil {
					_, err = r.Next()
				}
				if err != io.EOF {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestEndlessLogIsALog(t *testing.T) {
	for _, others := range []int{0, 3} {
		t.Run(fmt.Sprint(others), func(t *testing.T) {
			l, err := Parse("endless.ulg", newEndless(t, 1<<20, others), nil)
			if err != nil {
				t.Fatal(err)
			}
			f, err := l.Flight(0.02)
			if err != nil || len(f.Segments) < 2 || len(l.About.Faults) > 1 {
				t.Errorf("%d segments, %v, %v", len(f.Segments), l.About.Faults, err)
			}
		})
	}
}
