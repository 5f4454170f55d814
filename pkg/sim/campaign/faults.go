package campaign

import (
	"fmt"
	"math"
	"math/rand/v2"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/control"
	"vnd/pkg/vnd/bundle"
)

// between draws from lo to hi, and names the fault by it.
func (r *Run) between(lo, hi float64, label string) float64 {
	r.Size = lo + (hi-lo)*r.rng.Float64()
	r.Label = fmt.Sprintf(label, r.Size)
	return r.Size
}

// forEver is a length that no flight reaches, s.
const forEver = 1e6

// dropOut loses every sample for some time.
func dropOut(length float64) func(t float64, m *Sample) bool {
	return func(t float64, _ *Sample) bool { return t >= length }
}

// frozen repeats the last pose under fresh stamps.
func frozen() func(t float64, m *Sample) bool {
	var last *quad.State
	return func(_ float64, m *Sample) bool {
		if last == nil {
			first := m.State
			last = &first
		}
		m.State = *last
		return true
	}
}

// jumped moves and turns the pose for some time.
func jumped(by so3.Vec3, turn so3.Quat, length float64) func(t float64, m *Sample) bool {
	return func(t float64, m *Sample) bool {
		if t < length {
			m.State.P, m.State.Q = m.State.P.Add(by), m.State.Q.Mul(turn)
		}
		return true
	}
}

// drifting moves the pose at a steady speed.
func drifting(velocity so3.Vec3) func(t float64, m *Sample) bool {
	return func(t float64, m *Sample) bool {
		m.State.P = m.State.P.Add(velocity.Scale(t))
		return true
	}
}

// late delays samples. A driver that stamps on receipt hides that: hidden.
func late(by float64, hidden bool) func(t float64, m *Sample) bool {
	return func(_ float64, m *Sample) bool {
		m.Arrival += by
		if hidden {
			m.Stamp += by
		}
		return true
	}
}

// passingDelay plans a hidden delay that is over after some seconds. Samples that are on their way then are lost, or
// come all at once.
func passingDelay(r *Run) {
	by := r.between(0.08, 0.3, "%.3f s")
	over, lost := 1+5*r.rng.Float64(), r.rng.IntN(2) == 0
	r.Label += fmt.Sprintf(" for %.2f s", over)
	if lost {
		r.Label += ", some lost"
	}
	r.After = 20
	r.Mocap = func(t float64, m *Sample) bool {
		if t >= over {
			return true
		}
		return late(min(by, over-t), true)(t, m) && (t <= over-by || !lost)
	}
}

// mirrored changes the velocity of an odometry: reversed, or one axis of it.
func mirrored(x, y, z float64) func(t float64, m *Sample) bool {
	return func(_ float64, m *Sample) bool {
		v := &m.State.V
		v.X, v.Y, v.Z = x*v.X, y*v.Y, z*v.Z
		return true
	}
}

// signFlips gives quaternions random signs.
func signFlips(rng *rand.Rand) func(t float64, m *Sample) bool {
	return func(_ float64, m *Sample) bool {
		if q := &m.State.Q; rng.IntN(2) == 0 {
			*q = so3.Quat{W: -q.W, X: -q.X, Y: -q.Y, Z: -q.Z}
		}
		return true
	}
}

// noState are samples that are no state of a robot.
var noState = []struct {
	name   string
	change func(m *Sample)
}{
	{"NaN", func(m *Sample) { m.State.P.X = math.NaN() }},
	{"infinite", func(m *Sample) { m.State.P.Z = math.Inf(-1) }},
	{"zero quaternion", func(m *Sample) { m.State.Q = so3.Quat{} }},
	{"NaN quaternion", func(m *Sample) { m.State.Q.W = math.NaN() }},
	{"millimetres", func(m *Sample) { m.State.P = m.State.P.Scale(1000) }},
}

// direction is a random unit vector; level has no z.
func direction(rng *rand.Rand, level bool) so3.Vec3 {
	for {
		v := so3.Vec3{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}
		if level {
			v.Z = 0
		}
		if n := v.Norm(); n > 1e-3 {
			return v.Scale(1 / n)
		}
	}
}

// knownTwist is when a wrong velocity can be told from noise: it errs by 0.3 m/s; s after the onset.
func knownTwist(x, y, z float64) func(r *Run) float64 {
	const noticed = 0.3 // m/s
	return func(r *Run) float64 {
		for i := range r.Ticks {
			k := &r.Ticks[i]
			v := k.Truth.V
			if k.T >= r.Onset && (so3.Vec3{X: (1 - x) * v.X, Y: (1 - y) * v.Y, Z: (1 - z) * v.Z}).Norm() >= noticed {
				return k.T - r.Onset
			}
		}
		return math.Inf(1)
	}
}

// land orders a landing of the guard, as the service ~/land does.
func land(at float64) Order {
	return Order{At: at, Do: func(l *control.Loop) error { l.Guard().Land(); return nil }}
}

// reset orders what the service ~/reset_guard does. A refusal is no error of the flight.
func reset(at float64) Order {
	return Order{At: at, Do: func(l *control.Loop) error { _ = l.Reset(); return nil }}
}

// swap has a bundle flown from the onset on. One that does not load is refused, and the one before flies on.
func swap(b *bundle.Bundle, robot string, rate float64) Order {
	return Order{Bundle: b, Do: func(l *control.Loop) error {
		if p, err := control.LoadPolicy(b, robot, rate); err == nil {
			l.SetPolicy(p)
		}
		return nil
	}}
}
