package dataset

import (
	"fmt"
	"io"
	"path/filepath"

	"vnd/pkg/core/atomicfile"
	"vnd/pkg/core/quad"
)

// put adds a whole segment and evicts old ones, in less time than an Appender.
func (b *Buffer) put(s Segment) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := s.check(b.options.Delta); err != nil {
		return fmt.Errorf("buffer %s: %w", b.dir, err)
	}
	if b.closed {
		return b.errClosed()
	}
	number := b.next
	name := fileName(number)
	err := atomicfile.WriteFile(filepath.Join(b.dir, name),
		func(w io.Writer) error { return encode(w, s, b.options.Delta) })
	if err != nil {
		return fmt.Errorf("buffer: %w", err)
	}
	b.next++
	b.files = append(b.files, entry{File: File{Name: name, Flight: s.Flight, Rows: len(s.Rows), Digest: s.digest()},
		number: number})
	return b.evict()
}

// segments reads the segments from disk, in their order; of a growing one, what is flushed.
func (b *Buffer) segments() ([]Segment, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	segments := make([]Segment, 0, len(b.files))
	for _, e := range b.files {
		s, _, err := ReadFile(filepath.Join(b.dir, e.Name), b.options.Delta)
		if err != nil {
			return nil, fmt.Errorf("buffer: %w", err)
		}
		if len(s.Rows) < e.Rows {
			return nil, fmt.Errorf("buffer: %s: %d rows, expected %d: it was changed from outside",
				filepath.Join(b.dir, e.Name), len(s.Rows), e.Rows)
		}
		segments = append(segments, s)
	}
	return segments, nil
}

// digest of segments.
func (b *Buffer) digest() [32]byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	digests := make([][32]byte, len(b.files))
	for i, e := range b.files {
		digests[i] = e.Digest
	}
	return digestOf(digests)
}

// check wants a name, rows that are fit to learn from and a constant Δt.
func (s Segment) check(delta float64) error {
	if err := checkFlight(s.Flight); err != nil {
		return err
	}
	if len(s.Rows) == 0 {
		return fmt.Errorf("flight %q: a segment without rows", s.Flight)
	}
	for k := range s.Rows {
		if err := s.Rows[k].check(); err != nil {
			return fmt.Errorf("flight %q, row %d: %w", s.Flight, k, err)
		}
		if k > 0 && !quad.Follows(s.Rows[k-1].T, s.Rows[k].T, delta) {
			return fmt.Errorf("flight %q, row %d: %g s after the row before, expected Δt = %g s: a gap ends a segment",
				s.Flight, k, s.Rows[k].T-s.Rows[k-1].T, delta)
		}
	}
	return nil
}
