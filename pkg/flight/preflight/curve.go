package preflight

import "math"

// Curve is the thrust curve c of motors, thrust over what drives them being (1 − c)·u + c·u², that the Slope of a hover
// shows: its commands went by another such curve, believed, and drove the motors at u in hover. It is false where the
// slope is of no such curve: the hover had too little of up and down, or its source too much noise.
func Curve(slope Figure, believed, u float64) (Figure, bool) {
	steep := (1 - believed + 2*believed*u) / (1 - believed + believed*u) // d log F/d log u of the believed F
	of := func(slope float64) float64 {
		e := min(max(slope*steep, 1), 2) // of the true one: 1 where c is 0, 2 where it is 1
		return (e - 1) / (e*(1-u) - (1 - 2*u))
	}
	c := of(slope.Value)
	f := Figure{c, max(math.Abs(of(slope.Value+slope.Margin)-c), math.Abs(of(slope.Value-slope.Margin)-c))}
	least, most := (slope.Value-slope.Margin)*steep, (slope.Value+slope.Margin)*steep
	return f, most >= 1-curveSlack && least <= 2+curveSlack
}

// curveSlack is what the steepness of a curve may be off by beside its interval.
const curveSlack = 0.1
