package sim

import (
	"vnd/pkg/core/quad"
)

// Link carries commands to the autopilot.
type Link struct {
	Delay float64 `param:"delay" default:"0.01" min:"0" max:"0.2" unit:"s" doc:"from Step to the autopilot"`
}

// link is the commands under way.
type link struct {
	delay float64
	until float64    // time at which the newest command ends, s
	queue [256]timed // a ring: more are under way only if commands come faster than every 0.8 ms
	first int
	n     int
}

// timed is a command and when it arrives.
type timed struct {
	at      float64
	command quad.Command
}

func newLink(w *World) link { return link{delay: w.Link.Delay} }

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
