package sim

import (
	"math"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// TestRateStep commands a step of each rate in turn: followed without standing error and with little overshoot, roll
// and pitch with a time constant as measured on small quadrotors (20 … 60 ms).
func TestRateStep(t *testing.T) {
	axes := []func(so3.Vec3) float64{
		func(v so3.Vec3) float64 { return v.X }, func(v so3.Vec3) float64 { return v.Y },
		func(v so3.Vec3) float64 { return v.Z },
	}
	for i, want := range []so3.Vec3{{X: 2}, {Y: 2}, {Z: 1}} {
		s := mustNew(t, ideal())
		size, rise, peak := axes[i](want), math.Inf(1), 0.
		for range 600 {
			s.Step(quad.Command{Thrust: gravity, Rates: want}, .001)
			x := axes[i](s.Truth().Rates)
			peak = math.Max(peak, x)
			if x > .632*size {
				rise = math.Min(rise, s.Time())
			}
		}
		end := s.Truth().Rates
		if gap := end.Sub(want).Norm(); gap > .05*size {
			t.Errorf("%v rad/s end at %v", want, end)
		}
		if peak > 1.2*size {
			t.Errorf("%v rad/s overshoot to %.2f", want, peak)
		}
		if fast, slow := []float64{.02, .02, .01}[i], []float64{.06, .06, .15}[i]; rise < fast || rise > slow {
			t.Errorf("%v rad/s rise in %.3f s, expected %v … %v", want, rise, fast, slow)
		}
	}
}

// TestRateIntegral holds the rates against the torque of a payload off the centre.
func TestRateIntegral(t *testing.T) {
	w := ideal()
	w.Conditions = Conditions{Name: []string{"loaded"}, Payload: []float64{.03}, PayloadX: []float64{.01},
		PayloadY: []float64{-.01}}
	s := mustNew(t, w)
	worst := 0.
	for range 5000 {
		s.Step(quad.Command{Thrust: gravity}, .001)
		worst = math.Max(worst, s.Truth().Rates.Norm())
	}
	if end := s.Truth().Rates.Norm(); worst < .05 || end > .1*worst {
		t.Errorf("rates of %.3f rad/s after a peak of %.3f, expected the integral to take them away", end, worst)
	}
}

// TestWindup: integrals clear on the ground and rest where motors saturate.
func TestWindup(t *testing.T) {
	w := Default()
	l := newRateLoop(&w)
	for range 1000 {
		l.step(gravity, so3.Vec3{X: 1}, so3.Vec3{}, true)
	}
	if l.sum != [3]float64{} {
		t.Errorf("integrals of %v though saturated", l.sum)
	}
	for range 1000 {
		l.step(gravity, so3.Vec3{X: 1}, so3.Vec3{}, false)
	}
	if math.Abs(l.sum[0]-1) > 1e-9 {
		t.Errorf("integral %v of 1 rad/s over 1 s", l.sum[0])
	}
	if l.step(0, so3.Vec3{}, so3.Vec3{}, false); l.sum != [3]float64{} {
		t.Errorf("integrals of %v on the ground", l.sum)
	}
}
