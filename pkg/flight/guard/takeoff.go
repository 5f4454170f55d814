package guard

import (
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// lift is how the robot leaves the ground. States may be those of another body, which stands: then nothing shows that
// the robot rises, and a law that waits for it to would send it through the ceiling.
type lift struct {
	free     motion  // what commands make of a robot of the usual weight
	risenFor float64 // time for which states have shown that it rises, s
	done     bool    // they have shown it long enough
	unseen   bool    // the robot should be in the air by now, and no state shows it
}

const (
	liftFrom   = 0.5  // weights, the thrust of the first moment
	liftRate   = 16.0 // m/s³ by which thrust grows
	liftProof  = 0.06 // s for which states have to show that it rises
	mostUnseen = 0.42 // m that the robot may rise unseen: one of four thirds of its weight has been seen by then
	leastRise  = 0.04 // m by which a robot has left the ground, which is no noise

	// Nobody knows what its motors give, so that it sinks by less thrust than any robot's weight, not by a speed.
	unseenDescent = 3.0 // s after which it stands
	mostBehind    = 0.5 // m by which a robot that climbs may stay behind its reference: a quarter more weight takes 0.4
)

// begin has a robot that stands leave the ground.
func (l *lift) begin(s *quad.State, now float64) {
	*l = lift{free: motion{at: now, state: quad.State{P: s.P, Q: s.Q}}}
}

// liftThrust is what goes out until the robot has left the ground, m/s².
func (g *Guard) liftThrust() float64 {
	return min(liftFrom*quad.Gravity+liftRate*g.inMode, g.limits.MaxThrust)
}

// risesUnseen reports whether the robot should have left the ground in a take-off, and no state shows it. From then on
// it is believed to be where commands make it, until it has landed.
func (g *Guard) risesUnseen(in *Input, dt float64) bool {
	l := &g.lift
	if g.mode != TakingOff {
		return false
	}
	g.belief.plant.advance(&l.free, g.now, so3.Vec3{})
	if free := &l.free.state; free.P.Z < g.holdPoint.Z {
		free.P.Z, free.V = g.holdPoint.Z, so3.Vec3{}
	}
	if l.done {
		if g.climbZ > g.belief.state.P.Z+mostBehind+g.config.TakeoffSpeed/10 { // what rose was another body
			g.unsee(in.Stamp)
		}
		return l.unseen
	}
	if l.risenFor += dt; !g.rises() {
		l.risenFor = 0
	}
	if l.done = l.risenFor >= liftProof; l.done {
		g.climbZ = g.belief.state.P.Z
	}
	if !l.done && l.free.state.P.Z > g.holdPoint.Z+mostUnseen {
		g.unsee(in.Stamp)
	}
	return l.unseen
}

// unsee has the robot believed where commands make it, until it has landed.
func (g *Guard) unsee(stamp float64) {
	g.lift.unseen = true
	g.belief.begin(&g.lift.free.state, stamp)
}

// endLift ends a take-off before states have shown it. A robot that should be in the air then lands from there.
func (g *Guard) endLift() {
	l := &g.lift
	if l.unseen || l.done || g.blindFor == 0 && g.rises() {
		return
	}
	g.belief.plant.advance(&l.free, g.now, so3.Vec3{})
	if l.free.state.P.Z > g.holdPoint.Z+leastRise {
		g.unsee(g.now)
	}
}

// climb raises the climbing reference of a robot that has left the ground, and returns its height and speed.
func (g *Guard) climb(dt float64) (z, v float64) {
	top := g.config.Ground + g.config.TakeoffHeight
	if g.lift.done && g.climbZ < top {
		v = g.config.TakeoffSpeed
		g.climbZ = min(g.climbZ+v*dt, top)
	}
	return g.climbZ, v
}

// mayRise reports whether a robot that takes off may have left the ground, where least thrust would have it fall.
func (g *Guard) mayRise() bool { return g.rises() || g.lift.free.state.P.Z > g.holdPoint.Z }

// rises reports whether states show that a robot that takes off has left the ground.
func (g *Guard) rises() bool { return g.belief.state.P.Z > g.holdPoint.Z+leastRise }
