package sim

import (
	"math"
	"testing"

	"vnd/pkg/core/so3"
)

// loadAt returns the rotors' load on a level, still body at a height with given speeds, which are held.
func loadAt(m *motion, z float64, speed [4]float64) load {
	m.body = body{p: so3.Vec3{Z: z}, q: so3.Identity(), rotor: speed}
	m.target = speed
	r := m.body.q.Mat3()
	return m.rotors.load(m, &m.body, &r, so3.Vec3{})
}

func TestHoverTrim(t *testing.T) {
	m := mustNew(t, ideal()).motion
	h := m.rotors.hover
	l := loadAt(&m, 0, [4]float64{h, h, h, h})
	if gap := math.Abs(l.force.Z - .192*gravity); gap > 1e-12 {
		t.Errorf("thrust misses the weight by %.1e N", gap)
	}
	if l.torque.Norm() > 1e-15 || math.Abs(l.spin) > 1e-15 {
		t.Errorf("torque %v and spin %v, expected none", l.torque, l.spin)
	}
	k := m.slope(&m.body)
	if k.a.Norm() > 1e-12 || k.alpha.Norm() > 1e-10 {
		t.Errorf("accelerates by %v and %v, expected rest", k.a, k.alpha)
	}
}

// TestTorqueBalance speeds up one rotor after the other: arm times thrust about x and y, κ times thrust about z
// against its turning.
func TestTorqueBalance(t *testing.T) {
	m := mustNew(t, ideal()).motion
	for i, c := range []struct{ x, y, yaw float64 }{{1, -1, -1}, {-1, 1, -1}, {1, 1, 1}, {-1, -1, 1}} {
		var speed [4]float64
		speed[i] = 2000
		l := loadAt(&m, 0, speed)
		f := 3.5 * 2000 * 2000 / (4700 * 4700.)
		want := so3.Vec3{X: c.y * .041 * f, Y: -c.x * .041 * f, Z: c.yaw * .008 * f}
		if gap := l.torque.Sub(want).Norm(); gap > 1e-15 {
			t.Errorf("rotor %d: torque %v, expected %v", i+1, l.torque, want)
		}
	}
}

// TestYawReaction: what speeds a rotor up turns the body the other way.
func TestYawReaction(t *testing.T) {
	m := mustNew(t, ideal()).motion
	m.body.rotor = [4]float64{}
	m.target = [4]float64{1000, 0, 0, 0}
	r := m.body.q.Mat3()
	l := m.rotors.load(&m, &m.body, &r, so3.Vec3{})
	if want := -7e-7 * 1000 / .0245; math.Abs(l.torque.Z-want) > 1e-12 {
		t.Errorf("torque %v N m, expected −J·Ω̇ = %v", l.torque.Z, want)
	}
}

func TestMotorLag(t *testing.T) {
	m := mustNew(t, ideal()).motion
	m.body.rotor = [4]float64{1000, 1000, 1000, 1000}
	m.target = [4]float64{2000, 500, 1000, 0}
	for k := range 100 {
		m.step(.001)
		decay := math.Exp(-float64(k+1) * .001 / .0245)
		for i, to := range m.target {
			if want := to + (1000-to)*decay; math.Abs(m.body.rotor[i]-want) > 1e-4 {
				t.Fatalf("motor %d at %d ms: %v rad/s, expected %v", i+1, k+1, m.body.rotor[i], want)
			}
		}
	}
}

// TestGroundEffect: the cushion is that of Cheeseman and Bennett, grows towards the ground, goes with the tilt, and
// is gone high up.
func TestGroundEffect(t *testing.T) {
	w := Default()
	m := mustNew(t, w).motion
	h := m.rotors.hover
	speed := [4]float64{h, h, h, h}
	free := loadAt(&m, 100, speed).force.Z
	last := free
	for _, z := range []float64{.8, .5, .2, .1, .07, .05, .03} {
		f := loadAt(&m, z, speed).force.Z
		if f < last || (f == last && z < .7) {
			t.Errorf("thrust %v N at %v m, expected more than %v N above it", f, z, last)
		}
		last = f
		x := .0381 / (4 * z)
		if z < .7 && math.Abs(f/free-1/(1-x*x)) > 1e-12 {
			t.Errorf("at %v m the thrust grows by %v, expected %v", z, f/free, 1/(1-x*x))
		}
	}
	if m.rotors.cushion(.05, .5) >= m.rotors.cushion(.05, 1) || m.rotors.cushion(.05, -.1) != 1 {
		t.Error("the cushion stays where the thrust points aside")
	}
}

// TestVibration: an unbalanced rotor shakes with m·r·Ω², averages out over many turns, and has the right impulse in
// each step.
func TestVibration(t *testing.T) {
	const imbalance, speed, h = 1e-7, 1726., .001
	m := mustNew(t, ideal()).motion
	m.rotors.cut = cut{rotor: 1, thrust: 1, torque: 1, imbalance: imbalance}
	m.body.rotor = [4]float64{speed, speed, speed, speed}
	var sum so3.Vec3
	for k := range 20000 {
		m.rotors.shake(&m, h)
		if k < 100 {
			// The integral of the turning force over the step, by its antiderivative.
			a, b := float64(k)*speed*h, float64(k+1)*speed*h
			want := so3.Vec3{X: math.Sin(b) - math.Sin(a), Y: math.Cos(a) - math.Cos(b)}.Scale(imbalance * speed)
			if gap := m.vibration.Scale(h).Sub(want).Norm(); gap > 1e-12 {
				t.Fatalf("impulse of step %d is off by %.1e N s", k, gap)
			}
		}
		sum = sum.Add(m.vibration)
	}
	if mean := sum.Norm() / 20000; mean > 1e-3*imbalance*speed*speed {
		t.Errorf("mean force %.1e N, expected none", mean)
	}
}

// TestSag: with half the voltage a PWM value makes half the speed, a quarter of the thrust.
func TestSag(t *testing.T) {
	w := ideal()
	r := newRotors(&w)
	full, half := r.speed(2, w.Battery.Reference), r.speed(2, w.Battery.Reference/2)
	if math.Abs(r.thrust*full*full-2) > 1e-12 || math.Abs(r.thrust*half*half-.5) > 1e-12 {
		t.Errorf("2 N become %v and %v N, expected 2 and 0.5", r.thrust*full*full, r.thrust*half*half)
	}
	if s := r.speed(100, w.Battery.Reference); math.Abs(r.thrust*s*s-3.5) > 1e-12 {
		t.Errorf("the largest thrust is %v N, expected 3.5", r.thrust*s*s)
	}
}
