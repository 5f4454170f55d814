package sim

import (
	"fmt"
	"math"
	"testing"

	"vnd/pkg/core/so3"
	"vnd/pkg/flight/reference"
)

// slung is an ideal motion of still rotors with a load of 38 g on half a metre of cable, off the centre.
func slung(t *testing.T) *motion {
	m := drop(t, payload{})
	m.hang(payload{mass: .038, at: so3.Vec3{X: .02, Y: -.01, Z: -.03}, cable: .5}, &Ground{Height: -1e6})
	return m
}

// slungMomenta are momenta of body and load: angular momentum is about the centre of mass of both.
func slungMomenta(m *motion) (energy float64, linear, angular so3.Vec3) {
	energy, linear, angular = momenta(m)
	b, c := &m.body, &m.cable
	load := b.load.v.Scale(c.mass)
	hook := b.p.Add(b.q.Rotate(c.at))
	stretch := max(0, b.load.p.Sub(hook).Norm()-c.length)
	energy += c.mass*(b.load.v.Dot(b.load.v)/2+gravity*b.load.p.Z) + c.spring*stretch*stretch/2
	both := b.p.Scale(m.mass.mass).Add(b.load.p.Scale(c.mass)).Scale(1 / (m.mass.mass + c.mass))
	angular = angular.Add(b.p.Sub(both).Cross(linear)).Add(b.load.p.Sub(both).Cross(load))
	return energy, linear.Add(load), angular
}

// TestCableConserves: what a cable does is between body and load. Without damping energy stays, whether it is taut,
// slack or snaps taut; momenta stay with damping, too, and energy is then only lost.
func TestCableConserves(t *testing.T) {
	for name, damped := range map[string]bool{"elastic": false, "damped": true} {
		t.Run(name, func(t *testing.T) {
			m := slung(t)
			if !damped {
				m.cable.damping = 0
			}
			m.body.v, m.body.w = so3.Vec3{X: 1, Z: 3}, so3.Vec3{X: 4, Y: -5, Z: 3}
			m.body.load.v = so3.Vec3{X: -1, Y: 2, Z: 1}
			e0, p0, l0 := slungMomenta(m)
			last, slack := e0, 0
			for range 2000 {
				m.step(.001)
				e, _, _ := slungMomenta(m)
				if damped && e > last+1e-6 {
					t.Fatalf("energy rises from %v to %v J", last, e)
				}
				last = e
				d := m.body.load.p.Sub(m.body.p.Add(m.body.q.Rotate(m.cable.at)))
				if d.Norm() < m.cable.length {
					slack++
				}
			}
			e, p, l := slungMomenta(m)
			if gap := math.Abs(e - e0); !damped && gap > 3e-4*math.Abs(e0) {
				t.Errorf("energy changes by %.1e J of %.2f", gap, e0)
			}
			p0.Z -= (m.mass.mass + m.cable.mass) * gravity * 2
			if gap := p.Sub(p0).Norm(); gap > 1e-10 {
				t.Errorf("momentum changes by %.1e kg m/s besides gravity's", gap)
			}
			if gap := l.Sub(l0).Norm(); gap > 1e-7*l0.Norm() {
				t.Errorf("angular momentum changes by %.1e of %.1e kg m²/s", gap, l0.Norm())
			}
			if slack == 0 || slack == 2000 {
				t.Errorf("slack in %d of 2000 steps, expected some", slack)
			}
		})
	}
}

// TestCablePendulum: under rotors that carry both, the load swings with √((1 + m/M)·g/L), as seen from the body.
func TestCablePendulum(t *testing.T) {
	m := mustNew(t, ideal()).motion
	m.body.p = so3.Vec3{Z: 100}
	m.hang(payload{mass: .038, cable: .5}, &Ground{Height: -1e6})
	ratio := m.cable.mass / m.mass.mass
	speed := m.rotors.hover * math.Sqrt(1+ratio)
	for i := range m.target {
		m.target[i], m.body.rotor[i] = speed, speed
	}
	const angle = .02
	m.body.load.p = m.body.p.Add(so3.Vec3{X: m.cable.length * angle, Z: -m.cable.length - cableStretch})
	before := m.body.load.p.X - m.body.p.X
	var crossings []float64
	for k := range 5000 {
		m.step(.001)
		x := m.body.load.p.X - m.body.p.X
		if before > 0 != (x > 0) {
			crossings = append(crossings, float64(k)+before/(before-x))
		}
		before = x
	}
	n := len(crossings) - 1
	period := 2 * (crossings[n] - crossings[0]) / float64(n) / 1000
	want := 2 * math.Pi / math.Sqrt((1+ratio)*gravity/(.5+cableStretch))
	if math.Abs(period-want) > .002*want {
		t.Errorf("swings in %.4f s, expected %.4f s", period, want)
	}
	if tilt := m.body.q.Tilt(); tilt > 1e-9 {
		t.Errorf("a load below the centre tilts the body by %.1e rad", tilt)
	}
}

// TestCableHangsStill: under a law the load hangs half a metre below, its weight is carried, and where it comes off the
// body is as before.
func TestCableHangsStill(t *testing.T) {
	w := Default()
	w.Conditions = Conditions{Name: []string{"empty", "hung"}, Payload: []float64{0, .03}, Cable: []float64{0, .5}}
	w.Schedule = Schedule{[]string{"empty", "hung", "empty"}, []float64{0, 2, 20}, 0}
	s := mustNew(t, w)
	at := so3.Vec3{Z: 1}
	hover(t, s, at, 1)
	if _, _, hangs := s.Load(); hangs {
		t.Error("a load hangs before its time")
	}
	hover(t, s, at, 18)
	p, v, hangs := s.Load()
	if gap := s.State().P.Sub(p).Sub(so3.Vec3{Z: .5 + cableStretch}).Norm(); !hangs || gap > .002 || v.Norm() > .01 {
		t.Errorf("hangs %v: %.4f m from where it should, at %.4f m/s", hangs, gap, v.Norm())
	}
	if got := s.Truth().RotorSpeed[0] / s.rotors.hover; math.Abs(got*got-1-.03/.192) > .01 {
		t.Errorf("thrust is %.3f of the vehicle's weight, expected %.3f", got*got, 1+.03/.192)
	}
	hover(t, s, at, 4)
	if _, _, hangs := s.Load(); hangs {
		t.Error("the load still hangs")
	}
}

// TestCableLiesOnTheFloor: a load that is let down is carried by the floor.
func TestCableLiesOnTheFloor(t *testing.T) {
	m := slung(t)
	w := Default()
	m.cable.floor = &w.Ground
	m.body.p, m.body.v = so3.Vec3{Z: .3}, so3.Vec3{}
	m.body.load = hung{p: so3.Vec3{Z: .05}}
	for range 1500 {
		held := m.body
		m.step(.001)
		load := m.body.load
		m.body = held // by hand
		m.body.load = load
	}
	depth := m.cable.mass * gravity / w.Ground.Stiffness
	if gap := math.Abs(m.body.load.p.Z + depth); gap > 1e-4 || m.body.load.v.Norm() > .01 {
		t.Errorf("lies at %.4f m and moves by %.4f m/s, expected −%.4f m", m.body.load.p.Z, m.body.load.v.Norm(), depth)
	}
}

// TestCableAlongEights: a robot that stays on the slow eight with a load carries it. On those of 4 and 6 m/s it would
// need several times its full thrust: the load swings sideways at twice the eight's rate, close to its own √(g/L).
func TestCableAlongEights(t *testing.T) {
	const full = 20. // of the thrust that may be commanded, m/s²
	for _, f := range []struct {
		width, speed float64
		carried      bool
	}{{3, 2.3, true}, {3, 4, false}, {6, 6, false}} {
		t.Run(fmt.Sprintf("%.1f m/s", f.speed), func(t *testing.T) {
			most, first := thrustAlong(t, f.width, f.speed, full)
			t.Logf("at most %.2f of the full thrust; beyond it from %.1f s on", most, first)
			if carried := most < 1; carried != f.carried {
				t.Errorf("carried along the path: %v, expected %v", carried, f.carried)
			}
		})
	}
}

// thrustAlong is the most that a robot with a load needs in 18 s exactly on an eight, over the full thrust, and when it
// needs more than that.
func thrustAlong(t *testing.T, width, speed, full float64) (most, first float64) {
	const dt = 2e-5
	depth := width / 3
	path, err := reference.New(&reference.FigureEight{Center: []float64{0, 0, 0}, Width: width, Depth: depth,
		Period: 2 * math.Pi / speed * math.Hypot(width/2, depth), Ramp: 2})
	if err != nil {
		t.Fatal(err)
	}
	m := slung(t)
	m.cable.at = so3.Vec3{}
	level, b := so3.Identity().Mat3(), m.body
	for i := range int(18 / dt) {
		r := path.At(float64(i) * dt)
		b.p, b.v = r.P, r.V
		if i == 0 {
			b.load = hung{p: b.p.Sub(so3.Vec3{Z: m.cable.length}), v: b.v}
		}
		pull, a := m.cable.pull(&b, &level, so3.Vec3{})
		b.load.v = b.load.v.Add(a.Scale(dt))
		b.load.p = b.load.p.Add(b.load.v.Scale(dt))
		need := r.A.Add(so3.Vec3{Z: gravity}).Sub(pull.Scale(1/m.mass.mass)).Norm() / full
		if need > 1 && most <= 1 {
			first = float64(i) * dt
		}
		most = max(most, need)
	}
	return most, first
}
