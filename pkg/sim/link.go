package sim

import (
	"math"

	"vnd/pkg/core/quad"
)

// Link carries commands to the autopilot.
type Link struct {
	Delay     float64 `param:"delay" default:"0.01" min:"0" max:"0.2" unit:"s" doc:"time from a command's sending to the autopilot"`
	ThrustLag float64 `param:"thrust_lag" default:"0" min:"0" max:"1" unit:"s" doc:"time constant with which the autopilot smooths commanded thrust"`
	RateLag   float64 `param:"rate_lag" default:"0" min:"0" max:"1" unit:"s" doc:"time constant with which the autopilot smooths commanded body rates"`
	RateGain  float64 `param:"rate_gain" default:"1" min:"0.1" max:"3" doc:"body rate that the autopilot goes for over the one commanded"`
}

// link is the commands under way.
type link struct {
	delay float64
	asked quad.Command // the newest that arrived
	// shares of it that smoothing takes in an integration step
	thrustShare, rateShare float64
	rateGain               float64
	until                  float64    // time at which the newest command ends, s
	queue                  [256]timed // a ring: more are under way only if commands come faster than every 0.8 ms
	first                  int
	n                      int
}

// timed is a command and when it arrives.
type timed struct {
	at      float64
	command quad.Command
}

func newLink(w *World) link {
	share := func(lag float64) float64 {
		if lag == 0 {
			return 1
		}
		return 1 - math.Exp(-w.Step/lag)
	}
	l := &w.Link
	return link{delay: l.Delay, thrustShare: share(l.ThrustLag), rateShare: share(l.RateLag), rateGain: l.RateGain}
}

// follow returns what the autopilot follows at a time, after it followed last.
func (l *link) follow(now float64, last quad.Command) quad.Command {
	l.asked = l.receive(now, l.asked)
	c := l.asked
	if l.rateGain != 1 {
		c.Rates = c.Rates.Scale(l.rateGain)
	}
	if l.thrustShare != 1 {
		c.Thrust = last.Thrust + l.thrustShare*(c.Thrust-last.Thrust)
	}
	if l.rateShare != 1 {
		c.Rates = last.Rates.Add(c.Rates.Sub(last.Rates).Scale(l.rateShare))
	}
	return c
}

// send takes a command off the controller's hands at a time. A full queue loses its oldest.
func (l *link) send(now float64, c quad.Command) {
	if !c.Rates.Finite() || !finiteNumber(c.Thrust) {
		return
	}
	if l.n == len(l.queue) {
		l.first, l.n = (l.first+1)%len(l.queue), l.n-1
	}
	c.Thrust = max(0, c.Thrust)
	l.queue[(l.first+l.n)%len(l.queue)] = timed{now + l.delay, c}
	l.n++
}

// receive returns the newest command that has arrived by now, last where none has.
func (l *link) receive(now float64, last quad.Command) quad.Command {
	const rounding = 1e-9 // s: a command must not be a step late for its last bit
	for l.n > 0 && l.queue[l.first].at <= now+rounding {
		last = l.queue[l.first].command
		l.first, l.n = (l.first+1)%len(l.queue), l.n-1
	}
	return last
}
