package control

import (
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
	"vnd/pkg/flight/motors"
)

// Decision is what the guard made of a tick.
type Decision struct {
	Seq      uint64         // of the request that it answers; 0: of none
	Now      int64          // time of the tick, ns
	Sent     quad.Command   // what goes out, unless Silent
	Motors   motors.Command // the same for each motor, where those are commanded
	Stage    guard.Stage
	Cause    guard.Cause // of a guard that has tripped
	Offboard bool        // the autopilot follows commands
	Silent   bool        // nothing goes out
	Wind     so3.Vec3    // that the guard believes in, m/s² in the world
}

// guardSide is what decides.
type guardSide struct {
	guard       *guard.Guard
	notOffboard bool // commands are not followed
	lands       bool // the autopilot lands by itself
	landing     landingEnd

	// Of requests from another process:
	bundle      string // whose commands count
	requestedAt int64  // when the newest came, ns
	asked       bool   // there was one
}

// SetOffboard says whether the autopilot follows commands (offboard) from the next tick on. While it does not, the task
// reference waits at its beginning, the policy runs under the prior mean, and nothing trips the guard. A robot that is
// not ready for handover gets the guard's command: it may be followed before the autopilot reports so. The guard keeps
// control authority if commands are followed from such a place on.
func (l *Loop) SetOffboard(offboard bool) { l.notOffboard = !offboard }

// SetAutopilotLands says whether the autopilot lands by itself, without a position from here, where commands stop.
func (l *Loop) SetAutopilotLands(lands bool) { l.lands = lands }

// decide has the guard answer a request at now (ns); nil: the policy is not heard. target is where its task has the
// robot, m in the world.
func (l *Loop) decide(now int64, q *Request, target so3.Vec3, d *Decision) {
	in := guard.Input{Now: seconds(now, l.origin), Stamp: seconds(l.stamp, l.origin), State: l.state,
		NoCommand: q == nil, NotOffboard: l.notOffboard, AutopilotLands: l.lands,
		TwoSources: l.track.mixed.found(l.stamp), AttitudeLeapt: l.track.turns.found(l.stamp)}
	if q != nil {
		in.Command, in.FrameAge = q.Command, q.FrameAge
	}
	if l.rotors != nil {
		in.NoRates = !l.rotors.measures(now)
	}
	if l.notOffboard || l.guard.Stage() == guard.NotOffboard { // or it was, in the last tick
		in.NotReady = !l.config.ReadyForHandover(&l.state, target)
	}
	if l.landing.over(in.Stamp, &in.State, q, l.guard.Stage().PolicyFlies(), &l.config.Guard) {
		l.guard.Land()
	}
	*d = Decision{Now: now, Sent: l.guard.Tick(&in), Stage: l.guard.Stage(), Cause: l.guard.Tripped(),
		Offboard: !l.notOffboard, Silent: l.guard.Silent(), Wind: l.guard.Wind()}
	if q != nil {
		d.Seq = q.Seq
	}
	if l.rotors != nil {
		l.rotors.decide(now, q, d)
	}
}

// Reset returns control authority to the policy.
func (l *Loop) Reset() error { return l.guard.Reset() }
