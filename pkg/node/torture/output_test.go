package torture

import (
	"bytes"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// output is what a process says: the newest of it, how much it was, its goroutines and its heap, where GODEBUG has it
// list them (schedtrace with scheddetail, gctrace).
type output struct {
	mu         sync.Mutex
	tail       []byte // whole lines
	line       []byte // that is not whole yet
	written    int
	listed     int // goroutines of the list that goes on
	goroutines int // of the newest whole list; 0: there was none
	heap       int // MiB that live, as the newest collection found, and one; 0: there was none
}

// kept is how much of the newest output is kept, bytes.
const kept = 1 << 15

// A goroutine in such a list; 6 is one that has ended.
var goroutine = regexp.MustCompile(`^  G\d+: status=(\d+)`)

// A collection in such a list: the heap before it, after it, and what of that lives.
var collection = regexp.MustCompile(`^gc \d+ @.* \d+->\d+->(\d+) MB, `)

// Write implements io.Writer.
func (o *output) Write(data []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.written += len(data)
	o.line = append(o.line, data...)
	for {
		at := bytes.IndexByte(o.line, '\n')
		if at < 0 {
			return len(data), nil
		}
		o.take(o.line[:at+1])
		o.line = append(o.line[:0], o.line[at+1:]...)
	}
}

// take takes a line.
func (o *output) take(line []byte) {
	if m := collection.FindSubmatch(line); m != nil {
		n, _ := strconv.Atoi(string(m[1]))
		o.heap = n + 1
		return
	}
	switch m := goroutine.FindSubmatch(line); {
	case m != nil && string(m[1]) != "6":
		o.listed++
		return
	case m != nil || bytes.HasPrefix(line, []byte("  P")) || bytes.HasPrefix(line, []byte("  M")) ||
		bytes.Contains(line, []byte("malformed packet")):
		return
	case bytes.HasPrefix(line, []byte("SCHED ")): // the list before this one is whole
		if o.listed > 0 {
			o.goroutines = o.listed
		}
		o.listed = 0
		return
	}
	if o.tail = append(o.tail, line...); len(o.tail) > 2*kept {
		o.tail = append(o.tail[:0], o.tail[len(o.tail)-kept:]...)
	}
}

// String is the newest that was said.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	const most = 4000
	said := string(o.tail) + string(o.line)
	return strings.TrimSpace(said[max(0, len(said)-most):])
}

// Len is how many bytes were written.
func (o *output) Len() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.written
}

// Goroutines is how many there were lately; NaN where that is not known.
func (o *output) Goroutines() float64 { return o.number(&o.goroutines) }

// Heap is how much lived in Go's heap lately, MiB; NaN where that is not known.
func (o *output) Heap() float64 { return o.number(&o.heap) - 1 }

func (o *output) number(n *int) float64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	if *n == 0 {
		return math.NaN()
	}
	return float64(*n)
}

// A process' output is kept to its newest lines, and lists of goroutines are counted, not kept.
func TestOutput(t *testing.T) {
	var o output
	if !math.IsNaN(o.Goroutines()) || !math.IsNaN(o.Heap()) {
		t.Errorf("%v goroutines, %v MiB before any list", o.Goroutines(), o.Heap())
	}
	for _, part := range []string{"first\nsec", "ond\n", "SCHED 60000ms: gomaxprocs=2\n  P0: status=1\n  G1: status=4(",
		"select) m=nil\n  G2: status=6() m=nil\n", "  G3: status=4(sleep) m=nil\n", "SCHED 120000ms: gomaxprocs=2\n",
		"gc 7 @1.2s 0%: 0.01+1.2+0.003 ms clock, 0.02+0.1/1/0+0.006 ms cpu, 9->10->6 MB, 12 MB goal, 0 MB stacks, " +
			"0 MB globals, 2 P (forced)\n"} {
		if n, err := o.Write([]byte(part)); n != len(part) || err != nil {
			t.Fatal(n, err)
		}
	}
	if o.String() != "first\nsecond" || o.Goroutines() != 2 || o.Heap() != 6 {
		t.Errorf("%q, %v goroutines, %v MiB", o.String(), o.Goroutines(), o.Heap())
	}
	for range 10_000 {
		_, _ = o.Write([]byte("again and again\n"))
	}
	if len(o.tail) > 2*kept || o.Len() < 160_000 {
		t.Errorf("%d bytes are kept of %d", len(o.tail), o.Len())
	}
}
