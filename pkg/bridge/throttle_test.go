package bridge

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"vnd/pkg/core/quad"
)

// A vehicle that hovers at 0.5 of 16 V: with a linear and with a square thrust curve, on a full and on a sagging
// battery.
func TestThrottleTable(t *testing.T) {
	linear, square := Throttle{Hover: 0.5, Voltage: 16}, Throttle{Hover: 0.5, Curve: 1, Voltage: 16}
	idle := Throttle{Hover: 0.5, Least: 0.2, Voltage: 16}
	for _, c := range []struct {
		name      string
		t         Throttle
		thrust    float64 // of hover's
		volts     float64
		throttle  float64
		clipped   bool
		uncharged bool // the voltage counts for nothing
	}{
		{"hover", linear, 1, 16, 0.5, false, false},
		{"half the thrust", linear, 0.5, 16, 0.25, false, false},
		{"half the thrust goes with the square", square, 0.5, 16, 0.5 * math.Sqrt2 / 2, false, false},
		{"twice the thrust goes with the square", square, 2, 16, 0.5 * math.Sqrt2, false, false},
		{"a voltage of 0.9 leaves 0.81 of the thrust", linear, 1, 14.4, 0.5 / 0.81, false, false},
		{"which a square curve makes up for by 1/0.9", square, 1, 14.4, 0.5 / 0.9, false, false},
		{"more than there is", linear, 2.1, 16, 1, true, false},
		{"no thrust", square, 0, 16, 0, false, false},
		{"less than none", square, -1, 16, 0, true, false},
		{"a voltage that is not known", linear, 1, 0, 0.5, false, true},
		{"a voltage that is no number", linear, 1, math.NaN(), 0.5, false, true},
		{"a voltage of another battery", linear, 1, 3.7, 0.5, false, true},
		{"motors that go on turning", idle, 1, 16, 0.5, false, false},
		{"half the thrust, of which they give a fifth", idle, 0.5, 16, 0.5 * 0.3 / 0.8, false, false},
		{"twice the thrust, beyond that", idle, 1.8, 16, 1, false, false},
		{"less than they give", idle, 0.1, 16, 0, true, false},
		{"a voltage leaves 0.81 of that, too", idle, 0.81, 14.4, 0.5, false, false},
		{"an autopilot that sees to its battery", Throttle{Hover: 0.5}, 1, 14.4, 0.5, false, true},
	} {
		u, clipped := c.t.Of(c.thrust*quad.Gravity, c.volts)
		if math.Abs(u-c.throttle) > 1e-12 || clipped != c.clipped {
			t.Errorf("%s: throttle %g, clipped %v, expected %g, %v", c.name, u, clipped, c.throttle, c.clipped)
		}
		if sag := c.t.sag(c.volts); (sag == 1) != (c.uncharged || c.volts == 16) {
			t.Errorf("%s: %g of the thrust is left", c.name, sag)
		}
	}
}

// Throttle is the inverse of thrust, and grows with it.
func TestThrottleInverts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		x := Throttle{rapid.Float64Range(0.05, 1).Draw(rt, "hover"), rapid.Float64Range(0, 1).Draw(rt, "curve"),
			rapid.Float64Range(0, 0.9).Draw(rt, "least"), rapid.Float64Range(3, 60).Draw(rt, "voltage")}
		volts := x.Voltage * rapid.Float64Range(0.5, 1.5).Draw(rt, "share")
		u := rapid.Float64Range(0, 1).Draw(rt, "throttle")
		thrust, _ := x.Thrust(u, volts)
		if got, _ := x.Of(thrust, volts); math.Abs(got-u) > 1e-7 { // a root of next to nothing
			rt.Fatalf("throttle %g gives %g m/s², which takes %g", u, thrust, got)
		}
		if more, _ := x.Of(thrust+0.1, volts); more < u-1e-7 {
			rt.Fatalf("more thrust takes less throttle: %g, %g", u, more)
		}
	})
}
