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
	from     float64 // m, the height at which they began to
	least    motion  // what commands make of it since then, were it as heavy as what lifted it allows
	lifted   float64 // m/s², the thrust that lifted it
	done     bool    // they have shown it long enough
	unseen   bool    // the robot should be in the air by now, and no state shows it
}

const (
	liftFrom   = 0.5  // weights, the thrust of the first moment
	liftRate   = 12.0 // m/s³ by which thrust grows
	liftProof  = 0.06 // s for which states have to show that it rises
	liftSpeed  = 0.35 // m/s, at least, of a robot that has risen by leastRise: it has 0.5
	mostUnseen = 0.5  // m that the robot may rise unseen: one of four thirds of its weight has been seen by then
	leastRise  = 0.04 // m by which a robot has left the ground, which is no noise

	// Thrust has grown by 3.1 m/s² beyond the weight once a robot has risen by leastRise. Noise may hide a part, and a
	// load that hangs from a slack cable is lifted later.
	liftExcess  = 1.5 // m/s²
	leastBehind = 0.2 // m by which a robot may stay behind the heaviest that its thrust lifts
	surelyRisen = 0.4 // m by which nobody lifts another body by chance

	// Nobody knows what its motors give, so that it sinks by less thrust than any robot's weight, not by a speed.
	unseenDescent = 3.0 // s after which it stands
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
	g.liftBy(&l.free, quad.Gravity)
	behind := false
	if l.done {
		behind = g.staysBehind() // what rose was another body
	} else if l.done = g.showsRise(dt); l.done {
		g.climbZ, l.least = g.belief.state.P.Z, g.belief.motion
		g.detector.bear()
	} else {
		behind = l.free.state.P.Z > g.holdPoint.Z+mostUnseen
	}
	if behind {
		g.unsee(in.Stamp)
	}
	return l.unseen
}

// showsRise takes in what the newest state shows, and reports whether a rise has been shown long enough. What somebody
// lifts by hand is slower, or stands again.
func (g *Guard) showsRise(dt float64) bool {
	l, z := &g.lift, g.belief.state.P.Z
	switch {
	case g.rises() && l.risenFor == 0:
		l.risenFor, l.from = dt, z
	case g.rises() && z >= l.from+liftSpeed*l.risenFor:
		l.risenFor += dt
	default:
		l.risenFor, l.lifted = 0, g.sent.Thrust
	}
	return l.risenFor >= liftProof
}

// staysBehind reports whether a robot that has left the ground does less than commands make of any that they lifted.
func (g *Guard) staysBehind() bool {
	l, z := &g.lift, g.belief.state.P.Z
	heaviest := l.lifted
	if heaviest < g.limits.MaxThrust { // its thrust has grown by so much since it bore the robot
		heaviest -= liftExcess
	}
	g.liftBy(&l.least, heaviest)
	return z < g.holdPoint.Z+surelyRisen && l.least.state.P.Z > z+leastBehind
}

// liftBy carries m on to now under the commands sent, for a robot of some weight, m/s², that the ground bears.
func (g *Guard) liftBy(m *motion, weight float64) {
	g.belief.plant.advance(m, g.now, so3.Vec3{Z: quad.Gravity - weight})
	if s := &m.state; s.P.Z < g.holdPoint.Z {
		s.P.Z, s.V = g.holdPoint.Z, so3.Vec3{}
	}
}

// unsee has the robot believed where commands make it, until it has landed.
func (g *Guard) unsee(stamp float64) {
	g.lift.unseen = true
	g.belief.begin(&g.lift.free.state, stamp)
}

// endLift ends a take-off before states have shown it. A robot that should be in the air then lands from there.
func (g *Guard) endLift() {
	l := &g.lift
	if !l.done {
		g.detector.bear()
	}
	if l.unseen || l.done || g.blindFor == 0 && g.rises() {
		return
	}
	g.liftBy(&l.free, quad.Gravity)
	if l.free.state.P.Z > g.holdPoint.Z+leastRise {
		g.unsee(g.now)
	}
}

// leaves reports whether a robot leaves the ground, which bears it still: of a tilted one that does not turn, commands
// say nothing yet.
func (g *Guard) leaves() bool { return g.mode == TakingOff && !g.lift.done }

// forgetLift has nobody know any more where a robot is that rose unseen.
func (g *Guard) forgetLift() {
	if g.lift.unseen {
		g.lift.unseen, g.belief.known = false, false
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
