package closedloop

import (
	"math"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/sim"
)

// windy is a vehicle in the air of a steady wind, in m/s², whose poses reach the autopilot by relay alone.
func windy(t *testing.T, seed uint64, wind float64) *Vehicle {
	t.Helper()
	w := sim.Default()
	w.Conditions = sim.Conditions{Name: []string{"wind"}, WindX: []float64{wind}}
	v, err := NewVehicleIn(w, seed, so3.Vec3{Z: 1}, Autopilot{Timeout: 0.5, Descent: 0.5, Height: 1, Climb: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	v.ExternalPoses()
	return v
}

// relay lets time pass with what becomes of the poses on their way.
func relay(v *Vehicle, seconds float64, change func(s *sim.Sample) bool) {
	for end := v.Time() + seconds; v.Time() < end; {
		v.Advance(0.0025)
		for _, s := range v.Mocap() {
			if change == nil || change(&s) {
				v.Pose(s)
			}
		}
	}
}

func lost(*sim.Sample) bool { return false }

// TestAutopilotLandsWithoutPoses: dead reckoning holds a position for five seconds, then the autopilot descends level,
// meets the floor softly and knows that it stands.
func TestAutopilotLandsWithoutPoses(t *testing.T) {
	for seed := range uint64(20) {
		v := windy(t, seed, 0.7)
		relay(v, 8, nil)
		relay(v, 4.5, lost)
		s := v.Truth().State
		if off := math.Hypot(s.P.X, s.P.Y); v.Mode() != Waiting || off > 0.8 || math.Abs(s.P.Z-1) > 0.4 {
			t.Errorf("seed %d: %v, %.2f m off, at %.2f m after 4.5 s of dead reckoning", seed, v.Mode(), off, s.P.Z)
		}
		touchdown := 0.0
		for v.Mode() != Disarmed && v.Mode() != Crashed && v.Time() < 30 {
			before := v.Truth().State
			relay(v, 0.0025, lost)
			if v.Truth().State.P.Z < 0.04 && before.P.Z >= 0.04 {
				touchdown = max(touchdown, before.V.Norm())
			}
		}
		if z := v.Truth().State.P.Z; v.Mode() != Disarmed || touchdown > 1.5 || z > 0.05 {
			t.Errorf("seed %d: %s at %.2f m, touched down at %.2f m/s", seed, v.Status(), z, touchdown)
		}
	}
}

// TestAutopilotSeesPosesNotTheTruth: it holds where the poses say it is; a jump beyond its gate it refuses.
func TestAutopilotSeesPosesNotTheTruth(t *testing.T) {
	for _, c := range []struct{ jump, moved float64 }{{0.3, 0.3}, {0.8, 0}} {
		v := windy(t, 1, 0)
		relay(v, 4, nil)
		relay(v, 4, func(s *sim.Sample) bool { s.P.X += c.jump; return true })
		if x := -v.Truth().State.P.X; v.Mode() != Waiting || math.Abs(x-c.moved) > 0.15 {
			t.Errorf("poses %.1f m off: moved by %.2f m, want %.2f m", c.jump, x, c.moved)
		}
	}
}

// TestAutopilotStaysUnderFaultyPoses: samples that are none, or of another time, change nothing.
func TestAutopilotStaysUnderFaultyPoses(t *testing.T) {
	for name, change := range map[string]func(s *sim.Sample) bool{
		"no number":       func(s *sim.Sample) bool { s.P.Z = math.NaN(); return true },
		"zero quaternion": func(s *sim.Sample) bool { s.Q = so3.Quat{}; return true },
		"of the future":   func(s *sim.Sample) bool { s.Stamp += 1; return true },
		"of the past":     func(s *sim.Sample) bool { s.Stamp -= 1; return true },
	} {
		t.Run(name, func(t *testing.T) {
			v := windy(t, 1, 0)
			relay(v, 4, nil)
			relay(v, 3, change)
			s := v.Truth().State
			if off := s.P.Sub(so3.Vec3{Z: 1}).Norm(); v.Mode() != Waiting || off > 0.5 {
				t.Errorf("%v, %.2f m off", v.Mode(), off)
			}
		})
	}
}

// TestAutopilotLandsAfterBlindOffboard: in offboard mode body rates need no position; when commands stop it lands.
func TestAutopilotLandsAfterBlindOffboard(t *testing.T) {
	v := windy(t, 3, 0)
	relay(v, 3, nil)
	for range 50 {
		v.Command(quad.Command{Thrust: quad.Gravity / 0.97})
		relay(v, 0.02, lost)
	}
	if v.Mode() != Offboard {
		t.Fatalf("%v while commands come", v.Mode())
	}
	relay(v, 15, lost)
	if s := v.Truth().State; v.Mode() != Disarmed || s.P.Z > 0.05 {
		t.Errorf("%s at %v", v.Status(), s.P)
	}
}

// TestVehicleRepeats: the same world, seed and commands give the same states to the bit, another seed others.
func TestVehicleRepeats(t *testing.T) {
	end := func(seed uint64) quad.State {
		v := windy(t, seed, 0.7)
		relay(v, 3, nil)
		v.Reset()
		relay(v, 3, nil)
		return v.Truth().State
	}
	if a, b := end(5), end(5); a != b {
		t.Errorf("%v and %v", a, b)
	}
	if a, b := end(5), end(6); a == b {
		t.Errorf("two seeds give %v", a)
	}
}

// rest carries a navigation on that begins at a state, while the vehicle stands still and upright in the origin. Its
// accelerometer is off by some m/s².
func rest(begin quad.State, bias so3.Vec3, seconds float64, poses, barometer bool) *navigation {
	const dt = 0.005
	var n navigation
	n.reset(begin)
	for n.now < seconds {
		n.predict(so3.Vec3{}, so3.Vec3{Z: quad.Gravity}.Add(bias).Scale(dt), dt)
		if poses {
			n.pose(&sim.Sample{Stamp: n.now, Q: so3.Identity()})
		}
		if barometer {
			n.height(0, dt)
		}
	}
	return &n
}

// TestNavigationLearnsFromPoses: a wrong velocity and an accelerometer that is off are corrected within seconds.
func TestNavigationLearnsFromPoses(t *testing.T) {
	bias := so3.Vec3{X: 0.1, Y: -0.05, Z: 0.1}
	n := rest(quad.State{Q: so3.Identity(), V: so3.Vec3{X: 0.3}}, bias, 20, true, false)
	if s := n.state; s.V.Norm() > 0.02 || s.P.Norm() > 0.02 || n.accelBias.Sub(bias).Norm() > 0.03 {
		t.Errorf("moves at %v at %v, off by %v", s.V, s.P, n.accelBias)
	}
}

// TestBarometerHoldsTheHeight: without poses an accelerometer that is off would carry the height away by 45 m in 30 s.
func TestBarometerHoldsTheHeight(t *testing.T) {
	bias := so3.Vec3{Z: 0.1}
	if n := rest(quad.State{Q: so3.Identity()}, bias, 30, false, true); math.Abs(n.state.P.Z) > 0.7 {
		t.Errorf("with the barometer %.2f m", n.state.P.Z)
	}
	if n := rest(quad.State{Q: so3.Identity()}, bias, 30, false, false); math.Abs(n.state.P.Z) < 20 {
		t.Errorf("without the barometer %.2f m", n.state.P.Z)
	}
}
