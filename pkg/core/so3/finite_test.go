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

// Products are finite where the compiler fuses them with what is asked of them, too, as on arm64.
func TestProductsAreFinite(t *testing.T) {
	for i := range 100 {
		x := 1 / float64(i+3)
		if v := (Vec3{x, 1 - x, 2 * x}).Scale(x); !v.Finite() {
			t.Errorf("%v times %v is not finite", v, x)
		}
		if q := (Quat{W: 3, X: x, Y: -x, Z: 1 + x}).Normalize(); !q.Finite() {
			t.Errorf("%v is not finite", q)
		}
	}
}
