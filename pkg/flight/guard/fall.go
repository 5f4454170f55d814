package guard

import (
	"math"

	"vnd/pkg/core/quad"
)

// A landing on dead reckoning may be none: where commands did not reach the robot, its autopilot held it in the air.
// Least thrust then drops it as soon as they do. Fresh states show that, for nothing bears a robot in free fall.
const (
	fallWindow = 3   // exhibits in each half of the window, 0.06 s
	fallShare  = 0.6 // of gravity
	catchTime  = 10  // s from the first fresh state on, in which a fall counts as that of a landing that was none
)

// falling reports whether the robot falls freely, by its positions alone.
func (d *detector) falling() bool {
	if d.n <= 2*fallWindow {
		return false
	}
	first, middle, last := d.at(2*fallWindow), d.at(fallWindow), d.at(0)
	before := (middle.p.Z - first.p.Z) / (middle.at - first.at)
	now := (last.p.Z - middle.p.Z) / (last.at - middle.at)
	return now < -minFlightSpeed && before < now/8 && now-before < -fallShare*quad.Gravity*(last.at-first.at)/2
}

// findFall begins anew where the robot falls after a landing that no state showed. One that stood, or that was held for
// long, has landed.
func (g *Guard) findFall(in *Input, dt float64) {
	if g.mode != Landed || !g.unseen {
		return
	}
	height := in.State.P.Z - g.config.Ground
	if g.shownFor += dt; g.shownFor > catchTime || height < restHeight && math.Abs(in.State.V.Z) < maxRestSpeed {
		g.unseen = false
		return
	}
	if height > minFlightHeight && g.detector.falling() {
		g.belief.begin(&in.State, in.Stamp)
		g.belief.elsewhere = true // so that the law lands
		g.falls = true
	}
}
