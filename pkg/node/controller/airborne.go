package controller

import (
	"errors"
	"fmt"
	"time"

	"vnd/pkg/flight/control"
	"vnd/pkg/flight/guard"
)

// airborne reports whether the robot flies by this node's commands, at the newest tick.
func (c *Controller) airborne() (flies bool, tick uint64) {
	turns, tick := c.motorsTurn()
	return turns && c.aboveGround(), tick
}

// aboveGround reports whether the robot is, whoever flies it, by the state of the newest tick.
func (c *Controller) aboveGround() (high bool) {
	p := c.params.Load()
	c.last.Read(func(t *control.TickRecord) { high = t.Stamp != 0 && p.Guard.Flying(&t.State) })
	return high
}

// motorsTurn reports whether they do so by this node's commands, at the newest tick: a hand's breadth above the ground,
// too.
func (c *Controller) motorsTurn() (turn bool, tick uint64) {
	f := c.ticker()
	if f == nil || !c.ticking() || f.stopped.Load() {
		return false, 0
	}
	c.last.Read(func(t *control.TickRecord) {
		turn = t.Stamp != 0 && t.Stage != guard.NotOffboard && t.Stage != guard.Off
		tick = t.Seq
	})
	return turn, tick
}

// takesOver reports whether the vehicle's autopilot lands by itself when commands end: its failsafe does that, it is
// connected, armed, and was received a moment ago.
func (c *Controller) takesOver() bool {
	a := c.autopilot()
	if a == nil || !a.landsUnasked() {
		return false
	}
	s, age := a.lastReport()
	return age < silence && s.Connected && s.Armed
}

// Bounds of the wait for a landing.
const (
	maxLanding = 60 * time.Second
	standstill = 3 * time.Second // without a tick: commands end by themselves
)

// landFirst returns when nobody needs commands any more: the robot stands, or its autopilot takes over. Where neither
// is so it has the guard land, and waits.
func (c *Controller) landFirst() error {
	if c.role == policySide {
		return c.endRemote()
	}
	flies, tick := c.airborne()
	if !flies || c.takesOver() {
		return nil
	}
	for asked := time.Now(); c.land() != nil; { // on a busy machine its thread may come late
		if time.Since(asked) > standstill || !wait(c.ctx) {
			return nil // no ticks, so no commands to wait for
		}
	}
	c.Log().Warn().Msg("the robot flies, and no autopilot is known that takes over: it lands before commands end")
	at, begun := time.Now(), time.Now()
	for time.Since(begun) < maxLanding {
		if !wait(c.ctx) {
			return errors.New("the program ends in flight")
		}
		now, next := false, uint64(0)
		if now, next = c.motorsTurn(); !now || c.takesOver() {
			return nil
		}
		if next != tick {
			tick, at = next, time.Now()
		}
		if time.Since(at) > standstill {
			return nil
		}
	}
	return fmt.Errorf("the robot has not landed in %v: it flies on under the guard", maxLanding)
}
