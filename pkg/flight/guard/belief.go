package guard

import (
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// belief is where the robot is: as measured, or carried on from there by the commands sent. It finds states that cannot
// be, and bridges the time without any.
type belief struct {
	jump, jumpAngle, settle float64

	state quad.State
	at    float64  // time of state, s
	wind  so3.Vec3 // lasting acceleration beyond thrust and gravity, m/s²
	stamp float64  // of the last state given, believed or not, s; −Inf before the first
	known bool     // a state was believed once

	rejected  bool       // the last state was not believed
	candidate quad.State // that state
	agreedFor float64    // time for which such states agreed among themselves, s
}

// windMemory is the time constant of the wind's estimate, s.
const windMemory = 1.0

// maxReckoning is the longest time over which dead reckoning is held against a measurement, s.
const maxReckoning = 0.2

func newBelief(c *Config) belief {
	return belief{jump: c.Jump, jumpAngle: c.JumpAngle, settle: c.Settle, stamp: math.Inf(-1)}
}

// update tests a valid state of a new stamp, under the command sent last, and reports whether it is believed.
func (b *belief) update(s *quad.State, stamp float64, sent quad.Command) bool {
	elapsed := min(stamp-b.stamp, maxReckoning)
	b.stamp = stamp
	if !b.known {
		b.accept(s, stamp)
		return true
	}
	expected := b.state
	dt := min(max(stamp-b.at, 0), maxReckoning)
	move(&expected, dt, sent, b.wind)
	if b.agrees(s, &expected) {
		if dt > 0 {
			off := s.V.Sub(expected.V).Scale(1 / dt)
			b.wind = clampNorm(b.wind.Add(off.Scale(min(dt/windMemory, 1))), quad.Gravity)
		}
		b.accept(s, stamp)
		return true
	}
	move(&b.candidate, elapsed, sent, b.wind)
	if b.rejected && b.agrees(s, &b.candidate) {
		b.agreedFor += elapsed
	} else {
		b.agreedFor = 0
	}
	b.candidate, b.rejected = *s, true
	if b.agreedFor >= b.settle {
		b.accept(s, stamp)
	}
	return !b.rejected
}

func (b *belief) accept(s *quad.State, stamp float64) {
	b.state, b.at, b.known, b.rejected = *s, stamp, true, false
	b.state.Q = s.Q.Normalize()
}

func (b *belief) agrees(s, expected *quad.State) bool {
	turn := so3.Log(expected.Q.Conj().Mul(s.Q)).Norm()
	return s.P.Sub(expected.P).Norm() <= b.jump && turn <= b.jumpAngle
}

// deadReckon carries the belief on to now under the command sent.
func (b *belief) deadReckon(now float64, sent quad.Command) {
	move(&b.state, min(max(now-b.at, 0), maxReckoning), sent, b.wind)
	b.at = now
}

// move carries s on by dt as a body whose thrust and rates are the command's.
func move(s *quad.State, dt float64, c quad.Command, wind so3.Vec3) {
	a := s.Q.ZAxis().Scale(c.Thrust).Add(wind).Sub(so3.Vec3{Z: quad.Gravity})
	s.P = s.P.Add(s.V.Scale(dt)).Add(a.Scale(dt * dt / 2))
	s.V = s.V.Add(a.Scale(dt))
	s.Q = s.Q.Mul(so3.Exp(c.Rates.Scale(dt))).Normalize()
}

// Bounds of what a state in an arena can hold; beyond, a position is a mistake of units and arithmetic might overflow.
const (
	maxDistance = 1e6 // m
	maxSpeed    = 1e3 // m/s
)

// valid reports whether s is a state at all.
func valid(s *quad.State) bool {
	return s.P.Norm() <= maxDistance && s.V.Norm() <= maxSpeed && math.Abs(s.Q.Norm()-1) <= quad.NormSlack
}
