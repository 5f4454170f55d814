package reference

import (
	"math"

	"vnd/pkg/core/quad"
)

// Below is how far under the floor a landing ends, m: the cushion of air over it holds up what goes only down to it
// (docs/decisions/0028-landing-below-the-ground.md).
const Below = 0.2

// Touchdown finds that a robot stands that follows a landing to Below the floor: the reference is under the floor and
// well below the robot, which does not sink. It needs no sensor of contact. The zero value is for one landing.
type Touchdown struct {
	still float64 // s for which all that has held
	last  float64 // time of the tick before, s
}

// Thresholds of a touch-down.
const (
	wellBelow   = 0.03 // m from the robot to its reference
	stillSpeed  = 0.1  // m/s downwards
	stillFor    = 0.04 // s: until the motors stop a wind pushes a robot along that hardly weighs on its feet
	longestTick = 0.1  // s that count of a tick
)

// Standing reports whether a robot that follows a landing may stand: its reference is below it, and it does not sink.
// Rows from there on tell of the floor, and not of flight.
func Standing(s *quad.State, r *quad.Reference) bool {
	return s.P.Z-r.P.Z >= wellBelow && math.Abs(s.V.Z) <= stillSpeed
}

// Found reports whether the robot stands at t, s. r is the reference now, end the height at which it ends, m.
func (d *Touchdown) Found(t float64, s *quad.State, r *quad.Reference, end float64) bool {
	dt := min(max(t-d.last, 0), longestTick)
	d.last = t
	if !Standing(s, r) || r.P.Z-end > Below {
		d.still = 0
		return false
	}
	d.still += dt
	return d.still >= stillFor
}
