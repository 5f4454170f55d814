package control

import (
	"time"

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

// Ended knows for how long a robot has stood after a flight, by the stages of its guard.
type Ended struct {
	flown      bool
	at         time.Duration // 0 while it flies
	unfollowed time.Duration // since when commands are not followed; 0 while they are
}

// landedFor is how long a robot stands after a flight until its motors are to stop. One that did not stand has fallen
// five metres by then. PX4 waits for two seconds (COM_DISARM_LAND); an armed Betaflight lifts three quarters of the
// weight meanwhile, where it was pushed aside as it landed, and slides in a wind.
const landedFor = time.Second

// aSlip is how long commands that came late go unfollowed at most; for longer, somebody else flies.
const aSlip = time.Second / 2

// Due takes a tick's stage and time, and reports once that the motors are to stop: landedFor after a flight's end.
func (l *Ended) Due(s guard.Stage, now time.Duration) bool {
	if s == guard.NotOffboard {
		if l.unfollowed == 0 {
			l.unfollowed = now
		} else if now-l.unfollowed > aSlip {
			l.flown, l.at = false, 0
		}
		return false
	}
	l.unfollowed = 0
	switch {
	case s != guard.Off:
		*l = Ended{flown: true}
	case l.flown && l.at == 0:
		l.at = now
	case l.flown && now-l.at >= landedFor:
		*l = Ended{}
		return true
	}
	return false
}
