package bridge

import (
	"errors"
	"fmt"
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/flight/airframe"
)

// Throttle is how an autopilot's throttle u, 0 to 1, becomes thrust: T/g = (L + (1 − L)·F(u)/F(Hover))·(volts/Voltage)²
// with L = Least and F(u) = (1 − Curve)·u + Curve·u², PX4's THR_MDL_FAC. The square of the voltage is that of a motor's
// speed at one PWM ratio.
type Throttle airframe.Throttle

// Check refuses a hover throttle that no vehicle has.
func (t *Throttle) Check() error { return CheckHover(t.Hover) }

// CheckHover refuses a hover throttle that no vehicle has.
func CheckHover(hover float64) error {
	switch {
	case hover == 0:
		return errors.New("parameter hover_throttle is not set: the throttle, 0 to 1, at which the vehicle hovers")
	case !(hover > 0 && hover <= 1):
		return fmt.Errorf("parameter hover_throttle is %g, expected more than 0 and at most 1", hover)
	}
	return nil
}

// force is F(u).
func (t *Throttle) force(u float64) float64 { return u * (1 - t.Curve + t.Curve*u) }

// sag is what is left of the thrust at a voltage. One that is not measured or is none of such a battery counts as
// whole.
func (t *Throttle) sag(volts float64) float64 {
	const low, high = 0.6, 1.4 // of Voltage: an empty cell has 3.0 V of 4.2 V
	if x := volts / t.Voltage; t.Voltage > 0 && x >= low && x <= high {
		return x * x
	}
	return 1
}

// Thrust is the thrust per mass of a throttle, clipped to 0…1, at a voltage; volts of 0 is not known.
func (t *Throttle) Thrust(throttle, volts float64) (thrust float64, clipped bool) {
	throttle, clipped = clip(throttle, 0, 1)
	share := t.Least + (1-t.Least)*t.force(throttle)/t.force(t.Hover)
	return quad.Gravity * share * t.sag(volts), clipped
}

// Of is the throttle of a thrust per mass at a voltage, clipped to 0…1; volts of 0 is not known.
func (t *Throttle) Of(thrust, volts float64) (throttle float64, clipped bool) {
	f := (thrust/quad.Gravity/t.sag(volts) - t.Least) / (1 - t.Least) * t.force(t.Hover)
	u := f
	if a, b := t.Curve, 1-t.Curve; a > 0 && f > 0 {
		u = 2 * f / (b + math.Sqrt(b*b+4*a*f)) // the root of a·u² + b·u = f that does not cancel
	}
	return clip(u, 0, 1)
}

// Scaled is how throttle becomes thrust where that is gain times what t says. The vehicle then hovers elsewhere.
func (t *Throttle) Scaled(gain float64) Throttle {
	s := *t
	s.Hover, _ = t.Of(quad.Gravity/gain, 0)
	s.Least *= gain
	return s
}

// Battery is the voltage of one, as throttle makes up for it. It sags under the thrust that is asked for, and must not
// be followed quicker than that settles.
type Battery struct {
	volts float64
	at    int64
}

// Measured takes in a voltage of a time, ns, and returns what to go by; what no battery has is left out.
func (b *Battery) Measured(volts float64, at int64) float64 {
	const settle = 2.0 // s
	switch {
	case !(volts > 0) || math.IsInf(volts, 0):
	case b.volts == 0:
		b.volts, b.at = volts, at
	default:
		b.volts += (volts - b.volts) * (1 - math.Exp(-math.Max(float64(at-b.at), 0)/1e9/settle))
		b.at = at
	}
	return b.volts
}
