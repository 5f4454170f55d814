package rotors

import (
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// Measured is the size of the measured state: p_W m, q_WB (w first), v_W m/s, w_B rad/s.
const Measured = 13

// Offsets of the measured state's parts.
const (
	atP, atQ, atV, atW = 0, 3, 7, 10
)

// Flight is a recording with measured body rates and motors. Row k's motors are held over [t_k, t_k + Δt).
type Flight struct {
	Name   string
	File   string    // that it was read from, for errors
	Time   []float64 // s
	State  [][Measured]float64
	Motors [][4]float64 // front right, rear right, rear left, front left: rad/s, or 0…1 of commands
	Volts  []float64    // battery; nil if not recorded
	// Stretches are the half-open ranges of rows without a gap.
	Stretches [][2]int
}

// Start is a row of a flight from which a prediction goes.
type Start struct {
	Flight *Flight
	Row    int
}

// Starts returns the rows from first and every stride on, of each stretch, while steps rows follow.
func (f *Flight) Starts(first, stride, steps int) (starts []Start) {
	for _, s := range f.Stretches {
		for k := s[0] + first; k+steps < s[1]; k += stride {
			starts = append(starts, Start{f, k})
		}
	}
	return starts
}

// Rows are those of each stretch.
func (f *Flight) Rows() (segments [][]Row) {
	for _, s := range f.Stretches {
		rows := make([]Row, 0, s[1]-s[0])
		for k := s[0]; k < s[1]; k++ {
			rows = append(rows, Row{f.Time[k], stateOf(&f.State[k]), f.Motors[k]})
		}
		segments = append(segments, rows)
	}
	return segments
}

// stateOf reads a measured state.
func stateOf(x *[Measured]float64) State {
	v := func(i int) so3.Vec3 { return so3.Vec3{X: x[i], Y: x[i+1], Z: x[i+2]} }
	q := so3.Quat{W: x[atQ], X: x[atQ+1], Y: x[atQ+2], Z: x[atQ+3]}
	return State{quad.State{P: v(atP), Q: q, V: v(atV)}, v(atW)}
}
