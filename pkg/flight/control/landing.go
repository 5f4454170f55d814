package control

import (
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/flight/guard"
	"vnd/pkg/flight/reference"
)

// landTask is the task whose flights end on the floor.
const landTask = "land"

// landingEnd finds that a policy has landed: it stands near the floor, or its reference has long come down. The guard's
// law does the rest, which is to descend in case the robot does not stand, and to stop the motors where it does. So a
// policy's side that is wrong about it, or lies, has the robot land at the worst.
type landingEnd struct {
	sank     bool    // the reference has
	standing float64 // for how long the robot has stood, as far as can be seen, s
	rested   float64 // for how long the reference has rested at its end, s
	last     float64 // time of the tick before, s
}

const (
	sinking     = 0.05 // m/s downwards, of a reference on its way
	resting     = 0.01 // m/s, of one at its end
	standsFor   = 0.1  // s, on the floor
	restsFor    = 1.0  // s, of the reference
	standHeight = 0.12 // m above the floor, of a robot that may stand on it
	longestTick = 0.1  // s that count of a tick
)

// over reports that the law is to finish the landing that a request is of, at t (s); nil: there is none.
func (d *landingEnd) over(t float64, s *quad.State, q *Request, c *guard.Config) bool {
	dt := min(max(t-d.last, 0), longestTick)
	if d.last = t; q == nil || q.Task != landTask {
		*d = landingEnd{last: t}
		return false
	}
	r := &q.Target
	d.sank = d.sank || r.V.Z < -sinking
	if d.sank && math.Abs(r.V.Z) < resting {
		d.rested += dt
	} else {
		d.rested = 0
	}
	if d.sank && s.P.Z < c.Ground+standHeight && reference.Standing(s, r) {
		d.standing += dt
	} else {
		d.standing = 0
	}
	return d.standing >= standsFor || d.rested >= restsFor
}
