package guard

import (
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// A source that drifts and a robot that was pushed look the same: the path has a kink, and goes on. So a landing after
// one is at a speed that is right for both: whether the states are true or rise or sink by themselves, the robot sinks,
// and meets the floor softly.
const (
	driftMemory  = 10.0 // s for which a drift is not forgiven
	justFlies    = 1.0  // s of the policy, after a take-off or a return
	sameKink     = 0.5  // s for which one kink is found again and again
	mostUp       = 1.0  // m/s; what is faster is no drift
	mostDescent  = 0.85 // m/s, at most, of states that sink by themselves
	softDescent  = 0.7  // m/s at which the floor is met where they rise, while states sink by leastDescent at least
	leastDescent = 0.15 // m/s
	surelySinks  = 0.3  // m/s at which a robot sinks whose states do by themselves
)

// drifts reports whether the position drifted of late.
func (g *Guard) drifts() bool { return g.since(g.driftedAt) < driftMemory }

// findDrift looks for a kink in the path. One that ends a drift takes its speed away again; so would the floor.
func (g *Guard) findDrift() {
	g.detector.misfit.takesOff = g.mode == TakingOff || g.mode == Flying && g.inMode < justFlies
	if _, found := g.detector.drifting(); !found {
		return
	}
	up := g.detector.kink.Z
	switch {
	case g.since(g.kinkAt) <= sameKink: // it grows until it is amid the window
		if math.Abs(up) > math.Abs(g.kinkUp) {
			g.kinkUp = up
		}
	case !g.drifts() || !g.mayTouch():
		g.driftUp, g.kinkUp, g.kinkAt = g.upDrift(), up, g.now
	}
	g.driftedAt = g.now
}

// upDrift is the speed at which the source may drift upwards, m/s.
func (g *Guard) upDrift() float64 {
	up := g.driftUp + g.kinkUp
	if math.Abs(up) > mostUp || !g.drifts() && g.mode != Landing {
		return 0
	}
	return up
}

// midway is the velocity of a hold, m/s, world: the robot sinks or rises by half of what states may do by themselves.
func (g *Guard) midway() so3.Vec3 { return so3.Vec3{Z: g.upDrift() / 2} }

// holdsInDrift reports whether the law has stopped a robot whose source drifts: it lands then, for only the floor is
// sure.
func (g *Guard) holdsInDrift() bool { return g.belief.state.V.Sub(g.midway()).Norm() < returnSpeed }

// descent is the speed of a landing by states, m/s.
func (g *Guard) descent() float64 {
	d, up := g.config.Descent, g.upDrift()
	if up > 0 {
		return min(d, max(softDescent-up, leastDescent))
	}
	return max(d, min(surelySinks-up, mostDescent))
}

// sinksBeneath reports whether a state sinks as those do that sink by themselves while the robot stands on the floor.
func (g *Guard) sinksBeneath(s *quad.State) bool {
	up := g.upDrift()
	return up < -maxRestSpeed/2 && math.Abs(s.V.Z-up) < maxRestSpeed
}
