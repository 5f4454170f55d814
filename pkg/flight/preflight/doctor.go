// Package preflight finds mistakes of frames, signs, units, orders and delays in what motion capture and commands say:
// by hand moves before the first flight, and by a recorded hover. It believes nothing of what comes; what is true it
// knows from what people were asked to do, and from physics.
//
// World W is ENU with z up, body B is FLU; SI units, radians.
package preflight

import "vnd/pkg/core/so3"

// Finding is one thing that was looked at.
type Finding struct {
	Name   string // such as "position axes"
	Wrong  bool
	Detail string // what was found
	Remedy string // what to do; "" where nothing is wrong
}

// Sample is a pose as it came. Its numbers may be anything.
type Sample struct {
	Stamp   float64 // of the message, s on its clock
	Arrival float64 // s on the clock of who heard it
	P       so3.Vec3
	Q       so3.Quat
	V       so3.Vec3 // claimed to be in the world
	Moves   bool     // the message has a velocity
}

func fine(name, detail string) Finding { return Finding{Name: name, Detail: detail} }

func wrong(name, detail, remedy string) Finding { return Finding{name, true, detail, remedy} }
