package guard

import (
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// check tests everything, tripped or not, and returns the first thing that is wrong.
func (g *Guard) check(in *Input, dt float64, missed bool) Cause {
	found := g.checkState(in, dt)
	if missed {
		found = Missed
	}
	if found == None {
		found = g.checkMotion()
	}
	if asked := g.checkCommand(in.Command, dt); found == None {
		found = asked
	}
	if found == None && in.NotReady && (in.NotOffboard || g.notOffboard) {
		found = NotReady
	}
	if found != None && found != g.violation {
		g.counts[found]++
	}
	return found
}

// checkState brings the belief up to date: by the state given or, where that cannot be used, by dead reckoning.
func (g *Guard) checkState(in *Input, dt float64) Cause {
	b, wrong := &g.belief, None
	switch age := in.Now - in.Stamp; {
	case !(math.Abs(age) <= g.config.MaxAge):
		wrong = Stale
	case !valid(&in.State):
		wrong = Invalid
	default:
		if in.Stamp < b.stamp-g.config.MaxAge { // the clock was set back
			b.stamp, b.at = in.Stamp, in.Stamp
		} else if in.Stamp > b.stamp {
			g.updateBelief(in)
		}
		if b.rejected {
			wrong = Jump
		}
	}
	if wrong == None {
		g.blindFor = 0
		return None
	}
	g.blindFor += dt
	if b.known && g.phase != Off {
		b.deadReckon(g.now, g.sent)
	}
	return wrong
}

// updateBelief hands the belief a new state.
func (g *Guard) updateBelief(in *Input) {
	before := g.belief.state.P
	believed := g.belief.update(&in.State, in.Stamp, g.sent)
	if !g.flying() { // what the ground bears is no wind
		g.belief.wind = so3.Vec3{}
	}
	if believed && g.latched && g.phase != Off && in.State.P.Sub(before).Norm() > g.config.Jump {
		g.hold() // believed again, elsewhere: the law goes on from there
	}
}

// checkMotion tests the robot's motion.
func (g *Guard) checkMotion() Cause {
	s := &g.belief.state
	switch {
	case !g.belief.known:
		return Stale
	case !g.fence.contains(s.P) || !g.fence.contains(g.config.stoppingPoint(s)):
		return Fence
	case math.Acos(min(max(s.Q.ZAxis().Z, -1), 1)) > g.config.MaxTilt:
		return Tilt
	case s.V.Norm() > g.config.MaxSpeed:
		return Speed
	}
	return None
}

// checkCommand tests the policy's command.
func (g *Guard) checkCommand(c quad.Command, dt float64) Cause {
	if !c.Finite() {
		return NotFinite
	}
	if g.phase != Policy || !g.atLimit(c) {
		g.saturatedFor = 0
		return None
	}
	if g.saturatedFor += dt; g.saturatedFor > g.config.Saturation {
		return Saturated
	}
	return None
}

// atLimit reports whether a command is at a limit of the airframe or beyond it.
func (g *Guard) atLimit(c quad.Command) bool {
	l := &g.limits
	at := func(x, most float64) bool { return math.Abs(x) >= most*(1-1e-6) }
	return c.Thrust <= l.MinThrust || at(c.Thrust, l.MaxThrust) || at(c.Rates.X, l.MaxTiltRate) ||
		at(c.Rates.Y, l.MaxTiltRate) || at(c.Rates.Z, l.MaxYawRate)
}
