package dataset

import (
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"vnd/pkg/core/atomicfile"
	"vnd/pkg/core/quad"
)

const (
	flushEvery  = 800 * time.Millisecond // so that the row after it is still within a second of the first
	growthShare = 8                      // a growing segment ends at MaxRows/growthShare rows: the bound holds
)

// Appender adds the rows of a flight in progress, one at a time. A power loss costs at most the last second of rows:
// full blocks, and blocks begun 0.8 s ago, go to disk with fsync when the next row comes. Where rows may cease to come,
// the owner calls Flush from a timer.
//
// A row that does not follow the one before at Δt begins a new segment.
type Appender struct {
	buffer *Buffer
	flight string

	file    output    // nil before the first row of a segment
	number  int       // of the file
	size    int64     // bytes that are on disk for certain
	digest  hash.Hash // of the rows on disk
	last    float64   // t of the last row
	pending []byte    // the block begun
	rows    int       // in it
	since   time.Time // its first row
	failed  error
}

// Grow begins to record a flight. A buffer has one appender at a time.
func (b *Buffer) Grow(flight string) (*Appender, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := checkFlight(flight); err != nil {
		return nil, fmt.Errorf("buffer %s: %w", b.dir, err)
	}
	if b.closed {
		return nil, b.errClosed()
	}
	if b.appender != nil {
		return nil, fmt.Errorf("buffer %s: flight %q is still being recorded", b.dir, b.appender.flight)
	}
	b.appender = &Appender{buffer: b, flight: flight, pending: make([]byte, 0, countSize+blockRows*rowSize+crcSize)}
	return b.appender, nil
}

// Append adds a row. A row unfit to learn from is refused and changes nothing. Any other error, such as a full disk,
// ends the appender: what was flushed stays, the rows not yet flushed are lost, and the error, which later calls
// repeat, tells how many. Grow may then be tried again.
func (a *Appender) Append(r WeightedRow) error {
	a.buffer.mu.Lock()
	defer a.buffer.mu.Unlock()
	if a.failed != nil {
		return a.failed
	}
	if err := r.check(); err != nil {
		return fmt.Errorf("buffer %s: flight %q, t = %v s: %w", a.buffer.dir, a.flight, r.T, err)
	}
	if a.file != nil && (!quad.Follows(a.last, r.T, a.buffer.options.Delta) || a.full()) {
		if err := a.endSegment(); err != nil {
			return err
		}
	}
	if a.file == nil {
		if err := a.beginSegment(); err != nil {
			a.rows = 1
			return a.fail(err)
		}
	}
	now := a.buffer.options.Clock()
	if a.rows == 0 {
		a.pending, a.since = beginBlock(a.pending[:0]), now
	}
	a.pending = appendRow(a.pending, &r)
	a.rows++
	a.last = r.T
	if age := now.Sub(a.since); a.rows == blockRows || age >= flushEvery || age < 0 {
		return a.flush()
	}
	return nil
}

// Flush brings all rows to disk.
func (a *Appender) Flush() error {
	a.buffer.mu.Lock()
	defer a.buffer.mu.Unlock()
	return a.flush()
}

// Close flushes and ends the segment.
func (a *Appender) Close() error {
	a.buffer.mu.Lock()
	defer a.buffer.mu.Unlock()
	return a.close()
}

func (a *Appender) close() error {
	if a.failed != nil {
		return a.failed
	}
	err := a.endSegment()
	if err == nil {
		a.failed = fmt.Errorf("buffer %s: the recording of flight %q was closed", a.buffer.dir, a.flight)
		a.buffer.appender = nil
	}
	return err
}

func (a *Appender) full() bool {
	n := a.rows
	if i, ok := a.buffer.find(a.number); ok {
		n += a.buffer.files[i].Rows
	}
	return n >= a.buffer.options.MaxRows/growthShare
}

// beginSegment makes a file with a header, whole, and opens it for appending.
func (a *Appender) beginSegment() error {
	b := a.buffer
	h := appendHeader(nil, b.options.Kind.Version, header{delta: b.options.Delta, flight: a.flight})
	path := filepath.Join(b.dir, fileName(b.next))
	if err := atomicfile.WriteFile(path, func(w io.Writer) error { _, err := w.Write(h); return err }); err != nil {
		return err
	}
	f, err := b.open(path)
	if err != nil {
		return err
	}
	a.file, a.number, a.size, a.digest = f, b.next, int64(len(h)), newDigest(a.flight)
	b.next++
	return nil
}

// flush writes the block begun, if any.
func (a *Appender) flush() error {
	if a.failed != nil || a.rows == 0 {
		return a.failed
	}
	a.pending = endBlock(a.pending, rowSize)
	if _, err := a.file.Write(a.pending); err != nil {
		return a.fail(err)
	}
	if err := a.file.Sync(); err != nil {
		return a.fail(err)
	}
	a.size += int64(len(a.pending))
	a.digest.Write(a.pending[countSize : len(a.pending)-crcSize])
	a.grown()
	if err := a.buffer.evict(); err != nil {
		return a.fail(err)
	}
	return nil
}

// grown tells the buffer of the rows just flushed. A segment takes its place among the others with its first ones.
func (a *Appender) grown() {
	b := a.buffer
	i, ok := b.find(a.number)
	if !ok {
		b.files = slices.Insert(b.files, i, entry{File: File{Name: fileName(a.number), Flight: a.flight, Growing: true},
			number: a.number})
	}
	b.files[i].Rows += a.rows
	a.digest.Sum(b.files[i].Digest[:0])
	a.rows = 0
}

// endSegment flushes and closes the file; the next row begins another.
func (a *Appender) endSegment() error {
	if a.file == nil {
		return nil
	}
	if err := a.flush(); err != nil {
		return err
	}
	if err := a.file.Close(); err != nil {
		return a.fail(err)
	}
	a.release()
	return nil
}

// fail cuts the file back to its last whole block, removes it if there is none, and ends the appender.
func (a *Appender) fail(err error) error {
	b := a.buffer
	name, after := fileName(b.next), 0
	if a.file != nil {
		name = fileName(a.number)
		if i, ok := b.find(a.number); ok {
			after = b.files[i].Rows
		}
	}
	path := filepath.Join(b.dir, name)
	if a.rows > 0 {
		b.losses = append(b.losses, Loss{File: name, After: after, Rows: a.rows, Reason: err.Error()})
	}
	err = fmt.Errorf("buffer: %s: flight %q, %d rows lost: %w", path, a.flight, a.rows, err)
	if a.file != nil {
		// What these two cannot undo is a corrupt block, which every reader leaves out.
		a.file.Truncate(a.size)
		a.file.Close()
	}
	if after == 0 {
		os.Remove(path)
	}
	a.release()
	a.rows, a.failed = 0, err
	b.appender = nil
	return err
}

// release makes the segment one like all others.
func (a *Appender) release() {
	a.file = nil
	if i, ok := a.buffer.find(a.number); ok {
		a.buffer.files[i].Growing = false
	}
}
