package guard

import (
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// upright is the policy's command without what would tilt the robot beyond MaxTilt. The nearer to that it is when the
// command begins to act, the slower it may tilt further: a control barrier function (Ames and others 2019). dt is the
// time since the last tick, s.
func (g *Guard) upright(c quad.Command, dt float64) quad.Command {
	beyond, most := g.beyond, g.config.MaxTilt-tiltMargin
	if g.beyond = 0; g.uncut || most >= math.Pi {
		return c
	}
	m, p := g.belief.present(g.now), &g.belief.plant
	r := p.learned()
	p.advance(&m, g.now+r.RateDelay, g.belief.wind)
	outwards := m.state.Q.Conj().Rotate(so3.Vec3{Z: 1}.Cross(m.state.Q.ZAxis())) // about which it tilts, in the body
	n := outwards.Norm()
	if n < 0.01 { // it stands upright, or on its head
		return c
	}
	outwards = outwards.Scale(1 / n)
	left := most - m.state.Q.Tilt() - r.RateLag*m.acting.Rates.Dot(outwards)
	over := c.Rates.Add(p.bias).Dot(outwards) - min(tiltGain, 1/dt)*left
	if !(over > 0) {
		return c
	}
	g.beyond = beyond + over*min(dt, longTick)
	c.Rates = c.Rates.Sub(outwards.Scale(over))
	return g.limits.Clip(c)
}

const (
	tiltMargin = 0.05 // rad, of MaxTilt
	tiltGain   = 20   // rad/s for a radian that is left
	mostBeyond = 0.5  // rad, by which a policy may have asked to tilt further
	longTick   = 0.05 // s, the longest that one command is taken to have asked for
)
