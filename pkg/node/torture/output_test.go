package torture

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
)

// output is what a process says: the newest of it, how much it was, and its goroutines, where GODEBUG has it list
// them (schedtrace with scheddetail).
type output struct {
	mu         sync.Mutex
	tail       []byte // whole lines
	line       []byte // that is not whole yet
	written    int
	listed     int // goroutines of the list that goes on
	goroutines int // of the newest whole list; 0: there was none
}

// kept is how much of the newest output is kept, bytes.
const kept = 1 << 15

// A goroutine in such a list; 6 is one that has ended.
var goroutine = regexp.MustCompile(`^  G\d+: status=(\d+)`)

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

// Goroutines is how many there were lately.
func (o *output) Goroutines() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.goroutines
}
