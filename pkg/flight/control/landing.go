package control

import (
	"vnd/pkg/core/quad"
	"vnd/pkg/flight/guard"
	"vnd/pkg/flight/reference"
)

// landTask is the task whose flights end on the floor.
const landTask = "land"

// landingEnd finds that a policy has landed: it stands near the floor, or its reference has long come to its end. The
// guard's law does the rest, which is to descend in case the robot does not stand, and to stop the motors where it
// does. So a policy's side that is wrong about it, or lies, has the robot land at the worst.
type landingEnd struct{ standing, ended reference.Stopwatch }

const (
	standsFor   = 0.1  // s, on the floor
	endedFor    = 1.0  // s, of the reference
	standHeight = 0.12 // m above the floor, of a robot that may stand on it
)

// over reports that the law is to finish the landing that a request is of, at t (s); nil: there is none. Only while the
// policy flies does it come to an end.
func (d *landingEnd) over(t float64, s *quad.State, q *Request, flies bool, c *guard.Config) bool {
	lands := flies && q != nil && q.Task == landTask
	stands := lands && s.P.Z < c.Ground+standHeight && reference.Standing(s, q.Target.Z)
	standing, ended := d.standing.Held(t, stands), d.ended.Held(t, lands && q.Ended)
	return standing >= standsFor || ended >= endedFor
}
