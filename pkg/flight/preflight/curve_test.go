package preflight

import (
	"fmt"
	"math"
	"testing"

	"vnd/pkg/core/quad"
)

// A hover shows the curve of its motors, whatever curve its commands went by.
func TestCurveOfAHover(t *testing.T) {
	h := hovered(t, 60, 0.3)
	const hover = 0.36
	thrust := func(c, u float64) float64 { return u * (1 - c + c*u) }
	drive := func(c, f float64) float64 { return 2 * f / (1 - c + math.Sqrt((1-c)*(1-c)+4*c*f)) }
	for _, x := range []struct{ curve, believed float64 }{{1, 1}, {0, 1}, {0.5, 1}, {0.5, 0}, {1, 0}, {0, 0}} {
		t.Run(fmt.Sprintf("%g for %g", x.curve, x.believed), func(t *testing.T) {
			r, _ := resample(changed(h, same, func(c *Commanded) { // to what had the same thrust come about
				u := drive(x.curve, c.Thrust/quad.Gravity*thrust(x.curve, hover))
				c.Thrust = quad.Gravity * thrust(x.believed, u) / thrust(x.believed, hover)
			}))
			slope := r.thrustResponse().slope
			c, known := Curve(Figure{slope, 0.02}, x.believed, hover)
			if t.Logf("slope %.3f: %.3f ± %.3f", slope, c.Value, c.Margin); !known || math.Abs(c.Value-x.curve) > 0.1 {
				t.Errorf("%+v", c)
			}
		})
	}
}

// A slope that no curve has tells none, however certain it seems.
func TestCurveOfNoMotor(t *testing.T) {
	for name, slope := range map[string]Figure{"too flat": {0.35, 0.05}, "too steep": {1.2, 0.05},
		"no number": {math.NaN(), 0.05}, "no interval": {1, math.NaN()}} {
		if c, known := Curve(slope, 1, 0.36); known {
			t.Errorf("%s: %+v", name, c)
		}
	}
}
