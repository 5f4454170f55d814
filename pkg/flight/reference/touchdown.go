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
type Touchdown struct{ still Stopwatch }

// Stopwatch counts for how long something has held. The zero value has not begun.
type Stopwatch struct{ held, last float64 }

// Held takes whether something holds at a tick of time t, s, and returns for how long it has held, s.
func (w *Stopwatch) Held(t float64, holds bool) float64 {
	w.held += min(max(t-w.last, 0), longestTick)
	if w.last = t; !holds {
		w.held = 0
	}
	return w.held
}

// Thresholds of a touch-down.
const (
	wellBelow   = 0.03 // m from the robot to its reference
	stillSpeed  = 0.1  // m/s downwards
	stillFor    = 0.04 // s: until the motors stop a wind pushes a robot along that hardly weighs on its feet
	longestTick = 0.1  // s that count of a tick
)

// Standing reports whether a robot that follows a landing may stand: its reference, at a height in m, is below it, and
// it does not sink. Rows from there on tell of the floor, and not of flight.
func Standing(s *quad.State, height float64) bool {
	return s.P.Z-height >= wellBelow && math.Abs(s.V.Z) <= stillSpeed
}

// Found reports whether the robot stands at t, s. r is the reference now, end the height at which it ends, m.
func (d *Touchdown) Found(t float64, s *quad.State, r *quad.Reference, end float64) bool {
	return d.still.Held(t, Standing(s, r.P.Z) && r.P.Z-end <= Below) >= stillFor
}
