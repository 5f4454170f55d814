package motors

import (
	"math"
	"math/rand/v2"
	"testing"

	"vnd/pkg/core/so3"
)

// swung is a vehicle whose rotors lag, which turns as is asked for, with attitudes that come 10 ms late.
func swung(m *Turning, ask func(t float64) so3.Vec3, disturbed so3.Vec3, noise float64) (worst float64) {
	const seconds = 3
	const tick, fine, late = 0.02, 0.0005, 0.01
	rng := rand.New(rand.NewPCG(1, 1))
	var w, turn, angle, before so3.Vec3
	for at := tick; at < seconds; at += tick {
		a := ask(at - tick)
		m.Ask(a)
		for k := 0.0; k < tick-fine/2; k += fine {
			turn = turn.Add(a.Sub(turn).Scale(fine / motorLag))
			w = w.Add(turn.Add(disturbed).Scale(fine))
			angle = angle.Add(w.Scale(fine))
		}
		seen := angle.Sub(w.Scale(late)).Add(so3.Vec3{X: rng.NormFloat64(), Y: rng.NormFloat64()}.Scale(noise))
		m.Attitudes(seen.Sub(before).Scale(1/tick), int64((at-late-tick/2)*1e9))
		before = seen
		if e := m.At(int64(at * 1e9)).Sub(w).Norm(); at > 0.3 {
			worst = max(worst, e)
		}
	}
	return worst
}

// The rates that motors lead to are known without a gyroscope: while they change quickly, under a torque that nobody
// knows of, and of noisy attitudes.
func TestTurningIsKnownWithoutAGyroscope(t *testing.T) {
	fast := func(t float64) so3.Vec3 { return so3.Vec3{X: 20 * math.Sin(15*t), Y: 15 * math.Cos(11*t)} }
	for name, c := range map[string]struct {
		disturbed    so3.Vec3
		noise, worst float64 // rad, rad/s
	}{
		"fast":             {so3.Vec3{}, 0, 0.1},
		"an unknown load":  {so3.Vec3{Y: 2}, 0, 0.35},
		"of noisy samples": {so3.Vec3{}, 0.001, 0.2},
	} {
		t.Run(name, func(t *testing.T) {
			m := &Turning{}
			m.At(0)
			if e := swung(m, fast, c.disturbed, c.noise); e > c.worst {
				t.Errorf("off by %.3f rad/s, expected at most %g", e, c.worst)
			} else {
				t.Logf("off by %.3f rad/s", e)
			}
		})
	}
}

// After a pause nothing is known, and a clock that was set back begins anew.
func TestTurningForgets(t *testing.T) {
	for name, to := range map[string]int64{"a pause": 2e9, "back": 5e8} {
		t.Run(name, func(t *testing.T) {
			m := &Turning{}
			m.At(1e9)
			m.Measured(so3.Vec3{X: 3})
			if w := m.At(1e9 + 1e7); w.X != 3 {
				t.Errorf("%v after 10 ms without torque, expected 3 rad/s", w)
			}
			if w := m.At(to); w != (so3.Vec3{}) {
				t.Errorf("%v, expected none", w)
			}
		})
	}
}
