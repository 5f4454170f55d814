// Package quad holds states, commands and rows of a quadrotor's flight, and the rules that hold for them everywhere.
//
// World W is ENU with z up, body B is FLU; SI units, radians.
package quad

import (
	"math"

	"vnd/pkg/core/so3"
)

// State is the measured state s = (p, q, v) of the paper's "State, Action, and History Representation".
type State struct {
	P so3.Vec3 // p_W, position in the world, m
	Q so3.Quat // q_WB, body to world, unit norm
	V so3.Vec3 // v_W, velocity in the world, m/s
}

// Between returns the state a share u of the way from a to b, each part by itself: a at 0, b at 1.
func (a State) Between(b State, u float64) State {
	return State{P: a.P.Add(b.P.Sub(a.P).Scale(u)), Q: a.Q.Slerp(b.Q, u), V: a.V.Add(b.V.Sub(a.V).Scale(u))}
}

// Command is the action a = (T, ω).
type Command struct {
	Thrust float64  // collective, mass-normalised, along body z, m/s² (hover = 9.81)
	Rates  so3.Vec3 // ω_B, commanded body rates, rad/s, FLU
}

// Finite reports whether no number is NaN or infinite.
func (c Command) Finite() bool { return c.Thrust*0 == 0 && c.Rates.Finite() }

// Row is one row of a flight: the state at T and the command held over [T, T+Δt).
type Row struct {
	T       float64 // seconds on the flight's own clock
	State   State
	Command Command
}

// Finite reports whether no number is NaN or infinite.
func (s *Row) Finite() bool {
	return s.T*0 == 0 && s.State.P.Finite() && s.State.Q.Finite() && s.State.V.Finite() && s.Command.Finite()
}

// Flight is a recording, cut into segments wherever time has a gap.
// No window, context or rollout may straddle two segments.
type Flight struct {
	Name     string  // base name of its source, without extension; the end of its path where others have the same
	Segments [][]Row // each at a constant Δt
	First    []int   // row of the recording with which each segment begins, from 0; nil where segments hold every row
}

// Follows reports whether a row at next continues, with a tolerance of half a Δt, a segment whose last row is at
// last; all in seconds. Where it does not there is a gap, and no window straddles it. NaN follows nothing.
func Follows(last, next, dt float64) bool { return math.Abs(next-last-dt) <= dt/2 }

// Segments cuts rows where one does not follow the one before.
func Segments(rows []Row, dt float64) (out [][]Row) {
	lo := 0
	for i := 1; i <= len(rows); i++ {
		if i == len(rows) || !Follows(rows[i-1].T, rows[i].T, dt) {
			out = append(out, rows[lo:i:i])
			lo = i
		}
	}
	return out
}

// NormSlack is how far from unit norm a measured quaternion may be; one further off is not an attitude.
const NormSlack = 1e-2

// Gravity is the magnitude of gravity along −z_W, m/s².
const Gravity = 9.81

// FirstRow returns the row of the recording with which a segment begins, from 0.
func (f *Flight) FirstRow(segment int) int {
	if f.First != nil {
		return f.First[segment]
	}
	n := 0
	for _, s := range f.Segments[:segment] {
		n += len(s)
	}
	return n
}
