// Package dataset is the growing buffer of what the robot lived through: segments of rows at a constant Δt, each
// with a weight for the loss. A transition is two neighbouring rows of one segment.
//
// A fit makes its segments from flights. On disk, Buffer and Appender are for the node transition_recorder, which
// writes, and for background_learner, which reads.
package dataset

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/flight/inertial"
)

// WeightedRow is one row and how much the loss is to trust the transition that leaves it.
type WeightedRow struct {
	quad.Row
	Confidence float32 // 0 … 1
	// Missed says that nothing was measured: the row fills a gap, see Join. No file holds such rows. They teach where
	// state is poor alone, since they are smoothed there.
	Missed bool
}

// Segment is a stretch of a flight without a gap.
type Segment struct {
	Flight string
	Rows   []WeightedRow // as the robot knew them
	// Smoothed are the rows as all of the segment shows them, those after included; nil: not smoothed. They are found
	// anew from the rows where they are needed, and no file holds them.
	Smoothed []inertial.Smoothed
}

// QuadRows returns the rows without their weights.
func (s *Segment) QuadRows() []quad.Row {
	out := make([]quad.Row, len(s.Rows))
	for i := range s.Rows {
		out[i] = s.Rows[i].Row
	}
	return out
}

// QuadRows returns the rows of segments without their weights.
func QuadRows(segments []Segment) [][]quad.Row {
	out := make([][]quad.Row, len(segments))
	for i := range segments {
		out[i] = segments[i].QuadRows()
	}
	return out
}

// FromFlights returns the segments of flights, with full confidence.
func FromFlights(flights []quad.Flight) []Segment {
	var out []Segment
	for _, f := range flights {
		for _, rows := range f.Segments {
			if len(rows) == 0 {
				continue
			}
			s := Segment{Flight: f.Name, Rows: make([]WeightedRow, len(rows))}
			for k, row := range rows {
				s.Rows[k] = WeightedRow{Row: row, Confidence: 1}
			}
			out = append(out, s)
		}
	}
	return out
}

// Digest is the SHA-256 of the segments' content in their order: of each flight's name and rows, whatever the files
// and blocks they are kept in.
func Digest(segments []Segment) [32]byte {
	digests := make([][32]byte, len(segments))
	for i, s := range segments {
		digests[i] = s.digest()
	}
	return digestOf(digests)
}

func digestOf(segments [][32]byte) (out [32]byte) {
	h := sha256.New()
	for i := range segments {
		h.Write(segments[i][:])
	}
	h.Sum(out[:0])
	return out
}

func (s Segment) digest() [32]byte { return s.encoded().Digest() }

// newDigest begins the digest of a segment; the encoded rows follow.
func newDigest(flight string) hash.Hash {
	h := sha256.New()
	h.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(flight))))
	h.Write([]byte(flight))
	return h
}

func checkFlight(name string) error {
	if name == "" || len(name) > maxName {
		return fmt.Errorf("a flight's name has %d bytes, expected 1 to %d", len(name), maxName)
	}
	return nil
}

// check wants finite numbers, an attitude and a weight.
func (r *WeightedRow) check() error {
	p, q, v, w := r.State.P, r.State.Q, r.State.V, r.Command.Rates
	for _, x := range [...]float64{r.T, p.X, p.Y, p.Z, q.W, q.X, q.Y, q.Z, v.X, v.Y, v.Z, r.Command.Thrust, w.X, w.Y,
		w.Z} {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("%v among the numbers", x)
		}
	}
	if norm := q.Norm(); math.Abs(norm-1) > quad.NormSlack {
		return fmt.Errorf("quaternion of norm %.4g", norm)
	}
	if !(r.Confidence >= 0 && r.Confidence <= 1) {
		return fmt.Errorf("confidence %v, expected 0 to 1", r.Confidence)
	}
	return nil
}
