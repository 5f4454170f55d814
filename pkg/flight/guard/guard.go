package guard

import (
	"errors"
	"fmt"
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// Input is what a tick hands to the guard. All times are of one clock, in s.
type Input struct {
	Now         float64
	Stamp       float64 // of State; −Inf while there is none
	State       quad.State
	Command     quad.Command // what the policy asks for
	NotOffboard bool         // the command that goes out is not followed: the autopilot flies by itself, or stands

	// NotReady says that no policy can take over from State: the robot stands, or is far from its task reference. It
	// counts until commands are followed, and in the first tick in which they are.
	NotReady bool
}

// Guard decides, tick for tick, which command goes out. It is for one goroutine and allocates nothing after New.
type Guard struct {
	config Config
	limits quad.Limits
	fence  box
	law    *Law
	belief belief

	phase         Stage // Policy, Hold, Land or Off
	latched       bool
	landRequested bool    // that was asked for
	blindFor      float64 // time without a usable state, s
	limited       bool    // the policy's command was cut
	notOffboard   bool    // the command was not followed
	saturatedFor  float64 // time for which the policy asked for the limits, s

	now       float64 // of the last tick, NaN before the first, s
	heldFor   float64 // time since the trip, s
	cause     Cause   // of the trip
	violation Cause   // of the last tick
	counts    [causeCount]uint64

	holdPoint  so3.Vec3 // where the law holds
	yaw        float64
	descentZ   float64 // height of the descending reference, m
	restingFor float64 // time at rest on the way down, s
	sent       quad.Command
}

// inset is how far inside the geofence the law holds, m.
const inset = 0.3

// New returns a guard that has seen nothing. The error names the parameter at fault.
func New(c Config, l quad.Limits) (*Guard, error) {
	law, err := NewLaw(c.Gains, l)
	if err != nil {
		return nil, err
	}
	fence, err := newBox(c.FenceMin, c.FenceMax)
	if err != nil {
		return nil, err
	}
	if !(c.Ground+minFlightHeight < fence.hi.Z-inset) {
		return nil, fmt.Errorf("ground is at %g m, expected below the geofence's top at %g m", c.Ground, fence.hi.Z)
	}
	return &Guard{config: c, limits: l, fence: fence, law: law, belief: newBelief(&c), phase: Off, now: math.NaN()}, nil
}

// Tick returns the command that goes out: always finite and within the limits.
func (g *Guard) Tick(in *Input) quad.Command {
	dt, missed := g.elapse(in.Now)
	g.violation = g.check(in, dt, missed)
	g.notOffboard = in.NotOffboard
	switch {
	case g.notOffboard:
		g.standBy()
	case g.latched:
	case g.violation != None:
		g.trip(g.violation)
	default:
		g.phase = Policy
	}
	if g.phase == Policy {
		g.sent = g.limits.Clip(in.Command)
		g.limited = g.sent != in.Command
		return g.sent
	}
	if !g.notOffboard {
		g.descend(dt)
	}
	g.sent = g.fallback()
	return g.sent
}

// standBy sees to it that a breach lasts no longer than it is there while commands are not followed, for it concerns no
// flight of the policy, and neither does an attempted handover; one that tripped the guard in a flight before goes
// on, and so does a landing. Either way the law begins anew with every tick, where the robot is by then: that is where
// it holds, or lands, when commands are followed again.
func (g *Guard) standBy() {
	g.belief.wind, g.saturatedFor = so3.Vec3{}, 0
	if g.cause == NotReady && !g.landRequested {
		g.latched = false
	}
	switch {
	case g.latched:
		g.trip(g.cause)
		if g.landRequested && g.phase == Hold {
			g.land()
		}
	case g.violation != None:
		g.trip(g.violation)
		g.latched = false
	default:
		g.phase = Policy
	}
}

// elapse returns the time since the last tick, at most MaxGap, and whether it was longer or the clock went back.
func (g *Guard) elapse(now float64) (dt float64, missed bool) {
	last := g.now
	if now-now == 0 {
		g.now = now
	}
	if math.IsNaN(last) { // the first tick
		return 0, false
	}
	dt = now - last
	if !(dt >= 0) {
		return 0, true
	}
	return min(dt, g.config.MaxGap), dt > g.config.MaxGap
}

// trip takes control authority from the policy. A robot that stands is not made to fly: its motors stop, until a reset
// or, where only the state was missing, until it comes.
func (g *Guard) trip(c Cause) {
	g.cause, g.heldFor, g.limited = c, 0, false
	g.law.Reset()
	if !g.flying() {
		g.phase, g.latched = Off, g.belief.known && c != Stale
		g.landRequested = g.landRequested && g.latched
		return
	}
	g.phase, g.latched = Hold, true
	g.law.integral = clampNorm(g.belief.wind.Scale(-1), g.config.Gains.MaxIntegral)
	g.hold()
}

// minFlightHeight is the height above the ground, m, and minFlightSpeed the speed, m/s, from which on a robot flies.
const (
	minFlightHeight = 0.2
	minFlightSpeed  = 0.5
)

func (g *Guard) flying() bool { return g.belief.known && g.config.Flying(&g.belief.state) }

// Flying reports whether a robot is in the air, as far as its height and its speed tell.
func (c *Config) Flying(s *quad.State) bool {
	return s.P.Z > c.Ground+minFlightHeight || s.V.Norm() > minFlightSpeed
}

// hold sets the law's hold point where the robot can stop, inside the fence and off the ground.
func (g *Guard) hold() {
	s := &g.belief.state
	g.holdPoint = g.fence.inside(g.config.stoppingPoint(s), inset)
	g.holdPoint.Z = max(g.holdPoint.Z, min(g.config.Ground+2*minFlightHeight, g.fence.hi.Z-inset))
	g.yaw = s.Q.Yaw()
	g.descentZ = s.P.Z
}

// Touch-down: the reference is well below the robot, and that does not move; or, blind, the robot is believed so far
// below the floor that it must be there (in 4 s reckoning went wrong by 0.6 m in a simulated wind).
const (
	touchdownMargin = 0.4  // m
	maxRestSpeed    = 0.15 // m/s
	minRestTime     = 0.5  // s
	maxBelowFloor   = 1.0  // m
)

// descend moves from Hold to Land to Off as time goes by.
func (g *Guard) descend(dt float64) {
	s := &g.belief.state
	g.heldFor += dt
	if g.phase == Hold && (g.heldFor >= g.config.Hold || g.blindFor > g.config.Blind) {
		g.land()
	}
	if g.phase != Land {
		return
	}
	g.descentZ = max(g.descentZ-g.config.Descent*dt, s.P.Z-1.25*touchdownMargin)
	if g.descentZ < s.P.Z-touchdownMargin && s.V.Norm() < maxRestSpeed {
		g.restingFor += dt
	} else {
		g.restingFor = 0
	}
	if g.restingFor >= minRestTime || g.blindFor > 0 && s.P.Z < g.config.Ground-maxBelowFloor {
		g.phase = Off
	}
}

func (g *Guard) land() { g.phase, g.descentZ, g.restingFor = Land, g.belief.state.P.Z, 0 }

// fallback is the command of the guard's own.
func (g *Guard) fallback() quad.Command {
	r := quad.Reference{P: g.holdPoint, Yaw: g.yaw}
	switch g.phase {
	case Off:
		return g.limits.Clip(quad.Command{})
	case Land:
		r.P.Z, r.V.Z = g.descentZ, -g.config.Descent
	}
	return g.law.Track(g.now, &g.belief.state, &r)
}

// Stage says who was in charge of the last tick.
func (g *Guard) Stage() Stage {
	switch {
	case g.notOffboard:
		return NotOffboard
	case g.phase == Policy && g.limited:
		return Limited
	case (g.phase == Hold || g.phase == Land) && g.blindFor > 0:
		return Blind
	}
	return g.phase
}

// Tripped is why the policy does not fly, or would not if commands were followed; None while it does.
func (g *Guard) Tripped() Cause {
	if g.phase == Policy {
		return None
	}
	return g.cause
}

// Violation is what was wrong at the last tick, tripped already or not.
func (g *Guard) Violation() Cause { return g.violation }

// Count is how often something went wrong: from a tick without it to one with it.
func (g *Guard) Count(c Cause) uint64 { return g.counts[c] }

// Trip takes control authority from the policy on request: the law holds, then lands.
func (g *Guard) Trip() {
	if !g.latched {
		g.trip(Requested)
	}
}

// Land makes the law land, or once commands are followed.
func (g *Guard) Land() {
	g.Trip()
	g.landRequested = g.latched
	if g.phase == Hold {
		g.land()
	}
}

// Reset returns control authority to the policy from the next tick on, or once commands are followed. It refuses while
// anything is wrong, but for the place of a hand-over, which is looked at when that comes.
func (g *Guard) Reset() error {
	switch {
	case !g.belief.known:
		return errors.New("the guard stays: there is no state")
	case g.violation != None && g.violation != NotReady:
		return fmt.Errorf("the guard stays: %v", g.violation)
	case g.latched:
		g.phase, g.latched, g.landRequested, g.saturatedFor = Policy, false, false, 0
	}
	return nil
}
