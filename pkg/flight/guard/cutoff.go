package guard

import (
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// A network that is cut loses states and commands alike. The robot goes on with the last command that reached it, while
// the belief goes on with those that were sent since. The first states after it contradict the belief, and are true.
const (
	leastCut     = 0.08 // s without a state; less moves a robot to where it is believed all the same
	mostCut      = 0.8  // s; by then an autopilot flies by itself
	cutSpacing   = 0.02 // s, between the times from which on commands may be lost
	cutTries     = 3    // of those times, from the last state on
	cutAngle     = 0.12 // rad by which a state may differ from where the last command leads
	cutTurn      = 0.25 // rad/s, the same for each second without a state
	cutPlace     = 0.05 // m
	cutSpeed     = 0.15 // m/s, the same for each second
	cutVelocity  = 0.6  // m/s
	cutQuickened = 0.5  // m/s², the same for each second
)

// cutOff reports whether a state, some seconds after the one before it, is where the robot went if no command has
// reached it meanwhile, and what acts on it then.
func (b *belief) cutOff(s *quad.State, stamp, elapsed float64) (acting quad.Command, found bool) {
	if b.past.n == 0 || elapsed < leastCut {
		return acting, false
	}
	before := b.past.at(0)
	span := stamp - before.at
	if !(span > 0 && span < mostCut) {
		return acting, false
	}
	for k := range cutTries {
		m := before.motion
		b.plant.advanceCutOff(&m, stamp, before.at+cutSpacing*float64(k), before.wind)
		if s.P.Sub(m.state.P).Norm() < cutPlace+cutSpeed*span &&
			s.V.Sub(m.state.V).Norm() < cutVelocity+cutQuickened*span &&
			so3.Log(m.state.Q.Conj().Mul(s.Q)).Norm() < cutAngle+cutTurn*span {
			return m.acting, true
		}
	}
	return acting, false
}

// advanceCutOff is advance where no command that was sent from a time on has reached the robot.
func (p *plant) advanceCutOff(m *motion, until, from float64, wind so3.Vec3) {
	p.lost, p.lostFrom = true, from
	p.advance(m, until, wind)
	p.lost = false
}
