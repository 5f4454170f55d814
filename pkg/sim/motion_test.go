package sim

import (
	"math"
	"testing"

	"vnd/pkg/core/so3"
)

// drop returns an ideal motion with still rotors.
func drop(t *testing.T, load payload) *motion {
	w := ideal()
	m := mustNew(t, w).motion
	m.mass = loaded(&w.Airframe, load)
	m.body = body{q: so3.Identity()}
	return &m
}

func TestFreeFall(t *testing.T) {
	m := drop(t, payload{})
	m.wind = so3.Vec3{X: 3, Y: -.7}
	m.body.v = so3.Vec3{X: 1, Y: 2, Z: 3}
	p, v := m.body.p, m.body.v
	for range 1500 {
		m.step(.001)
	}
	a := so3.Vec3{X: 3, Y: -.7, Z: -gravity}
	want := p.Add(v.Scale(1.5)).Add(a.Scale(1.5 * 1.5 / 2))
	if gap := m.body.p.Sub(want).Norm(); gap > 1e-11 {
		t.Errorf("%.1e m from p + v·t + ½(g+w)·t²", gap)
	}
}

// TestFallWithDrag: v = −v_T·tanh(g·t/v_T), where v_T is the speed at which drag carries the weight.
func TestFallWithDrag(t *testing.T) {
	m := drop(t, payload{})
	m.drag.area.Z = .006
	terminal := math.Sqrt(.192 * gravity / .006)
	for k := range 3000 {
		m.step(.001)
		at := float64(k+1) * .001
		if want := -terminal * math.Tanh(gravity*at/terminal); math.Abs(m.body.v.Z-want) > 1e-9 {
			t.Fatalf("falls at %v m/s after %v s, expected %v", m.body.v.Z, at, want)
		}
	}
}

// momenta returns energy (J), linear momentum (kg m/s) and angular momentum about the centre of mass (kg m²/s) in the
// world.
func momenta(m *motion) (energy float64, linear, angular so3.Vec3) {
	b := &m.body
	centre := b.p.Add(b.q.Rotate(m.mass.centre))
	v := b.v.Add(b.q.Rotate(b.w.Cross(m.mass.centre)))
	spin := m.mass.inertia.MulVec(b.w)
	energy = m.mass.mass*(v.Dot(v)/2+gravity*centre.Z) + b.w.Dot(spin)/2
	return energy, v.Scale(m.mass.mass), b.q.Rotate(spin)
}

func TestConservation(t *testing.T) {
	m := drop(t, payload{mass: .05, at: so3.Vec3{X: .03, Y: -.02, Z: -.05}})
	m.body.v, m.body.w = so3.Vec3{X: 1, Y: 2, Z: 3}, so3.Vec3{X: 8, Y: -5, Z: 3}
	e0, p0, l0 := momenta(m)
	for range 2000 {
		m.step(.001)
	}
	e, p, l := momenta(m)
	if gap := math.Abs(e - e0); gap > 1e-10 {
		t.Errorf("energy changes by %.1e J of %.2f", gap, e0)
	}
	p0.Z -= m.mass.mass * gravity * 2
	if gap := p.Sub(p0).Norm(); gap > 1e-11 {
		t.Errorf("momentum changes by %.1e kg m/s besides gravity's", gap)
	}
	if gap := l.Sub(l0).Norm(); gap > 1e-13 {
		t.Errorf("angular momentum changes by %.1e of %.1e kg m²/s", gap, l0.Norm())
	}
}

// TestDragDissipates checks that drag never adds energy in still air.
func TestDragDissipates(t *testing.T) {
	m := drop(t, payload{})
	w := Default()
	m.drag, m.rotors = newDrag(&w), newRotors(&w)
	m.rotors.thrust, m.rotors.inertia = 0, 0 // rotors that only drag
	speed := m.rotors.hover
	m.body.rotor, m.target = [4]float64{speed, speed, speed, speed}, [4]float64{speed, speed, speed, speed}
	m.body.v, m.body.w = so3.Vec3{X: 5, Y: -4, Z: 2}, so3.Vec3{X: 8, Y: -5, Z: 3}
	last, _, _ := momenta(m)
	for range 1000 {
		m.step(.001)
		e, _, _ := momenta(m)
		if !(e < last) {
			t.Fatalf("energy rises from %v to %v J", last, e)
		}
		last = e
	}
}

func TestInverse(t *testing.T) {
	w := Default()
	m := loaded(&w.Airframe, payload{mass: .1, at: so3.Vec3{X: .05, Y: .02, Z: -.04}})
	one := m.inertia.Mul(m.inverse)
	for i := range 3 {
		for j := range 3 {
			want := 0.
			if i == j {
				want = 1
			}
			if math.Abs(one[i][j]-want) > 1e-12 {
				t.Fatalf("I·I⁻¹ = %v", one)
			}
		}
	}
}
