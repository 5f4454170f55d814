// Package quad holds the words of flight. It has no machinery.
//
// World W is ENU with z up, body B is FLU; SI units, radians.
package quad

import "vnd/pkg/so3"

// State is the measured state s = (p, q, v) of the paper's "State, Action, and History Representation".
type State struct {
	P so3.Vec3 // p_W, position in the world, m
	Q so3.Quat // q_WB, body to world, unit norm
	V so3.Vec3 // v_W, velocity in the world, m/s
}

// Command is the action a = (T, ω).
type Command struct {
	Thrust float64  // collective, mass-normalised, along body z, m/s² (hover = 9.81)
	Rates  so3.Vec3 // ω_B, commanded body rates, rad/s, FLU
}

// Step is one row of a flight: the state at T and the command held over [T, T+Δt).
type Step struct {
	T       float64 // seconds on the flight's own clock
	State   State
	Command Command
}

// Flight is a recording, cut into segments wherever time has a gap.
// No window, context or rollout may straddle two segments.
type Flight struct {
	Name     string   // base name of its source, without extension
	Segments [][]Step // each at a constant Δt
}

// Gravity is the magnitude of gravity along −z_W, m/s².
const Gravity = 9.81
