package dataset

import (
	"crypto/sha256"
	"encoding/binary"
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// Kind is how the rows of a robot lie in segment files. Each begins with its time, s, as a float64.
type Kind struct {
	Version uint32 // of the files
	Size    int    // of a row, bytes
	// Check refuses a row that is not fit to learn from.
	Check func(row []byte) error
	// Windows describes rows dt seconds apart without a model, see NewPiece: windows [N][D].
	Windows func(rows []byte, dt float64) (windows []float32, D int)
}

// Encoded is a segment of a Kind: a stretch of a flight without a gap.
type Encoded struct {
	Flight string
	Rows   []byte
}

func (k *Kind) rows(s *Encoded) int { return len(s.Rows) / k.Size }

// rowTime is that of a row, s.
func rowTime(row []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(row)) }

// Digest is the SHA-256 of name and rows, whatever the file and blocks they are kept in.
func (s *Encoded) Digest() (out [32]byte) {
	h := newDigest(s.Flight)
	h.Write(s.Rows)
	h.Sum(out[:0])
	return out
}

// piece describes a segment.
func (k *Kind) piece(s *Encoded, dt float64) Piece {
	windows, D := k.Windows(s.Rows, dt)
	return PieceOf(k.rows(s), draw(s.Flight, rowTime(s.Rows)), windows, D)
}

// draw is a number at random, of the flight and the time at which a segment begins.
func draw(flight string, t float64) uint64 {
	sum := sha256.Sum256(binary.LittleEndian.AppendUint64([]byte(flight), math.Float64bits(t)))
	return binary.LittleEndian.Uint64(sum[:])
}

// quadrotorRows has rows of t, p_W (3), q_WB (4: w x y z), v_W (3), thrust, ω_B (3) as float64, confidence as float32.
var quadrotorRows = &Kind{Version: 1, Size: rowSize,
	Check: func(b []byte) error {
		r := decodeRow(b)
		return r.check()
	},
	Windows: func(rows []byte, dt float64) ([]float32, int) {
		s := (&Encoded{Rows: rows}).segment()
		return PushWindows(&s, dt), PushSize
	}}

const rowSize = 15*8 + 4

// encoded is the segment in files.
func (s *Segment) encoded() *Encoded {
	e := &Encoded{Flight: s.Flight}
	for i := range s.Rows {
		e.Rows = appendRow(e.Rows, &s.Rows[i])
	}
	return e
}

// segment is that of a quadrotor.
func (s *Encoded) segment() Segment {
	out := Segment{Flight: s.Flight, Rows: make([]WeightedRow, len(s.Rows)/rowSize)}
	for k := range out.Rows {
		out.Rows[k] = decodeRow(s.Rows[k*rowSize:])
	}
	return out
}

func appendRow(b []byte, r *WeightedRow) []byte {
	p, q, v, w := r.State.P, r.State.Q, r.State.V, r.Command.Rates
	for _, x := range [...]float64{r.T, p.X, p.Y, p.Z, q.W, q.X, q.Y, q.Z, v.X, v.Y, v.Z, r.Command.Thrust, w.X, w.Y,
		w.Z} {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	return binary.LittleEndian.AppendUint32(b, math.Float32bits(r.Confidence))
}

func decodeRow(b []byte) WeightedRow {
	var x [15]float64
	for i := range x {
		x[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return WeightedRow{
		Row: quad.Row{
			T: x[0],
			State: quad.State{
				P: so3.Vec3{X: x[1], Y: x[2], Z: x[3]},
				Q: so3.Quat{W: x[4], X: x[5], Y: x[6], Z: x[7]},
				V: so3.Vec3{X: x[8], Y: x[9], Z: x[10]},
			},
			Command: quad.Command{Thrust: x[11], Rates: so3.Vec3{X: x[12], Y: x[13], Z: x[14]}},
		},
		Confidence: math.Float32frombits(binary.LittleEndian.Uint32(b[15*8:])),
	}
}
