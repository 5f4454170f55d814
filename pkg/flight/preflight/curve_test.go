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
			c := Curve(Figure{slope, 0.02}, x.believed, hover)
			if t.Logf("slope %.3f: %.3f ± %.3f", slope, c.Value, c.Margin); math.Abs(c.Value-x.curve) > 0.1 {
				t.Errorf("%+v", c)
			}
		})
	}
}
