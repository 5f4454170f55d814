package so3

import (
	"math"
	"testing"
)

func TestFinite(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(-1)
	for _, c := range []struct {
		name string
		x    float64
		want bool
	}{{"number", 1e308, true}, {"NaN", nan, false}, {"infinite", inf, false}} {
		t.Run(c.name, func(t *testing.T) {
			for _, v := range []Vec3{{X: c.x}, {Y: c.x}, {Z: c.x}, {c.x, c.x, c.x}} {
				if v.Finite() != c.want {
					t.Errorf("%v: %v", v, v.Finite())
				}
			}
			for _, q := range []Quat{{W: c.x}, {X: c.x}, {Y: c.x}, {Z: c.x}} {
				if q.Finite() != c.want {
					t.Errorf("%v: %v", q, q.Finite())
				}
			}
		})
	}
}
