package sim

import (
	"math"

	"vnd/pkg/core/so3"
)

// A load on a cable stretches it by cableStretch where it hangs still, as half a metre of thin nylon does: its spring
// is as stiff as the load is heavy. cableDamping is that of the spring, as a share of the critical one.
const (
	cableStretch = 0.0004 // m
	cableDamping = 0.1
)

// hung is a load on a cable: a point mass of its own.
type hung struct{ p, v so3.Vec3 } // in the world, m and m/s

// cable hangs a point mass on the body. It pulls where it is stretched and never pushes: a load may be thrown up. The
// load knows no drag.
type cable struct {
	mass    float64  // of the load, kg; 0: none hangs
	at      so3.Vec3 // where it hangs on the body, m
	length  float64  // m
	spring  float64  // N/m
	damping float64  // N s/m
	floor   *Ground  // that carries a load which lies on it
}

// hang has a load of a condition hang still below where it is fixed, or takes it off.
func (m *motion) hang(p payload, g *Ground) {
	if p.cable <= 0 || p.mass <= 0 {
		m.cable = cable{}
		return
	}
	k := p.mass * gravity / cableStretch
	m.cable = cable{p.mass, p.at, p.cable, k, 2 * cableDamping * math.Sqrt(k*p.mass), g}
	b := &m.body
	arm := b.q.Rotate(p.at)
	m.body.load = hung{p: b.p.Add(arm).Sub(so3.Vec3{Z: p.cable + cableStretch}),
		v: b.v.Add(b.q.Rotate(b.w.Cross(p.at)))}
}

// pull returns the force on the body in the world, N, where it acts on the body, and the load's acceleration, m/s².
func (c *cable) pull(b *body, r *so3.Mat3, wind so3.Vec3) (force, a so3.Vec3) {
	d := b.load.p.Sub(b.p.Add(r.MulVec(c.at)))
	a = wind.Sub(so3.Vec3{Z: gravity})
	if n := d.Norm(); n > c.length {
		along := d.Scale(1 / n)
		speed := b.load.v.Sub(b.v.Add(r.MulVec(b.w.Cross(c.at)))).Dot(along)
		force = along.Scale(max(0, c.spring*(n-c.length)+c.damping*speed))
		a = a.Sub(force.Scale(1 / c.mass))
	}
	if depth := c.floor.Height - b.load.p.Z; depth > 0 {
		a.Z += c.floor.press(depth, b.load.v.Z) / c.mass
	}
	return force, a
}

// Load returns where a load on a cable is and how it moves, in the world; false where none hangs.
func (s *Simulator) Load() (p, v so3.Vec3, hangs bool) {
	return s.body.load.p, s.body.load.v, s.cable.mass > 0
}
