package sim

import (
	"math"
	"testing"

	"vnd/pkg/so3"
)

func TestJet(t *testing.T) {
	f := newFans(&Fans{[]float64{1}, []float64{2}, []float64{1}, []float64{math.Pi / 2}, []float64{0}, []float64{5}, []float64{.3}})
	at := func(x, y, z float64) so3.Vec3 { return f.at(so3.Vec3{X: 1 + x, Y: 2 + y, Z: 1 + z}) } // y is along the jet
	near := func(got, want float64) bool { return math.Abs(got-want) < 1e-9 }
	if v := at(0, 1, 0); !near(v.Y, 5) || !near(v.X, 0) || !near(v.Z, 0) {
		t.Errorf("in the core %v m/s, expected 5 along y", v)
	}
	if v := at(0, 6, 0); !near(v.Y, 5*6*.3/6) {
		t.Errorf("%v m/s after 20 diameters, expected 1.5", v.Y)
	}
	for _, angle := range []float64{0, 1, 2.5, 4} {
		r := .094 * 6
		if v := at(r*math.Cos(angle), 6, r*math.Sin(angle)); !near(v.Y, .75) {
			t.Errorf("%v m/s at the half width, expected half of 1.5", v.Y)
		}
	}
	if v := at(0, -.1, 0); v != (so3.Vec3{}) {
		t.Errorf("%v m/s behind the fan, expected none", v)
	}
}

// TestJetMomentum: far from the outlet a free jet keeps its momentum, ∫u²dA, whatever the distance.
func TestJetMomentum(t *testing.T) {
	f := newFans(&Fans{[]float64{0}, []float64{0}, []float64{0}, []float64{0}, []float64{0}, []float64{5}, []float64{.3}})
	flux := func(x float64) (sum float64) {
		const dr = .001
		for r := dr / 2; r < x; r += dr {
			u := f.at(so3.Vec3{X: x, Y: r}).X
			sum += u * u * 2 * math.Pi * r * dr
		}
		return sum
	}
	if a, b := flux(3), flux(6); math.Abs(a-b) > 1e-3*a {
		t.Errorf("momentum flux %v at 3 m and %v at 6 m", a, b)
	}
	outlet := 25 * math.Pi * .15 * .15
	if a := flux(3); a < .5*outlet || a > 1.5*outlet {
		t.Errorf("momentum flux %v, expected about the outlet's %v", a, outlet)
	}
}
