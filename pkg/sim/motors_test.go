package sim

import (
	"math"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// TestMotorsAreDrivenAsCommanded: before a command comes and at the command that carries it the vehicle stays; the
// left motors roll it to the right.
func TestMotorsAreDrivenAsCommanded(t *testing.T) {
	w := ideal()
	hover := math.Sqrt(w.Airframe.Mass * gravity / (4 * w.Motor.Thrust))
	level := quad.State{P: so3.Vec3{Z: 1}, Q: so3.Identity()}
	flown := func(m [4]float64, seconds float64) Truth {
		s := mustNew(t, w)
		s.Fit(&Motors{Hover: hover})
		s.Reset(level, 1)
		s.Step(MotorCommand(m), seconds)
		return s.Truth()
	}
	for _, seconds := range []float64{w.Link.Delay / 2, .5} {
		now := flown([4]float64{hover, hover, hover, hover}, seconds)
		if off := now.State.P.Sub(level.P).Norm() + now.Rates.Norm(); off > 1e-6 {
			t.Errorf("after %g s it is off by %g", seconds, off)
		}
	}
	if r := flown([4]float64{hover, 1.05 * hover, 1.05 * hover, hover}, .1).Rates; !(r.X > 1) || math.Abs(r.Y) > 1e-6 {
		t.Errorf("stronger left motors turn it by %v", r)
	}
	if top := flown([4]float64{9, 9, 9, 9}, .5).RotorSpeed[0]; top > w.Motor.Speed {
		t.Errorf("a motor turns at %g rad/s, its greatest speed is %g", top, w.Motor.Speed)
	}
}

// TestMotorsGiveThrustByTheirCurve: from in proportion to what drives them to its square.
func TestMotorsGiveThrustByTheirCurve(t *testing.T) {
	for curve, half := range map[float64]float64{0: .5, .5: .375, 1: .25} {
		w := ideal()
		w.Motor.Curve = curve
		s := mustNew(t, w)
		s.Fit(&Motors{})
		s.Step(MotorCommand([4]float64{.5, .5, .5, .5}), 1)
		speed := s.Truth().RotorSpeed[0] / w.Motor.Speed
		if share := speed * speed; math.Abs(share-half) > 1e-9 {
			t.Errorf("curve %g, driven at a half: %g of full thrust, expected %g", curve, share, half)
		}
	}
}

func TestGyroscopeIsNearTheTruth(t *testing.T) {
	var s Sensors
	s.Reset(1)
	const n = 2000
	var mean so3.Vec3
	for range n {
		mean = mean.Add(s.Rates(so3.Vec3{X: 1, Y: -2, Z: 3}).Scale(1. / n))
	}
	if off := mean.Sub(so3.Vec3{X: 1, Y: -2, Z: 3}).Norm(); !(off > 0 && off < .003) {
		t.Errorf("off by %g rad/s in the mean", off)
	}
}
