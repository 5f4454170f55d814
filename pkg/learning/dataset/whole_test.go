package dataset

import (
	"fmt"
	"io"

	"vnd/pkg/core/quad"
)

// put adds a whole segment, in less time than an Appender.
func (b *Buffer) put(s Segment) error { return b.Put(*s.encoded()) }

// segments reads the segments from disk, in their order.
func (b *Buffer) segments() (out []Segment, err error) {
	all, err := b.Segments()
	for _, s := range all {
		out = append(out, s.segment())
	}
	return out, err
}

// decode reads a segment file of a quadrotor.
func decode(r io.Reader, delta float64) (Segment, *Loss, error) {
	s, loss, err := quadrotorRows.decode(r, delta)
	return s.segment(), loss, err
}

// encode writes one.
func encode(w io.Writer, s Segment, delta float64) error {
	return quadrotorRows.encode(w, s.encoded(), delta)
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
