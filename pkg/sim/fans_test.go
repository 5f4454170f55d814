package sim

import (
	"math"
	"testing"

	"vnd/pkg/core/so3"
)

func TestJet(t *testing.T) {
	f := newFans(&Fans{[]float64{1}, []float64{2}, []float64{1}, []float64{math.Pi / 2}, []float64{0}, []float64{5},
		[]float64{.3}})
	at := func(x, y, z float64) so3.Vec3 {
		return f.at(so3.Vec3{X: 1 + x, Y: 2 + y, Z: 1 + z},
			0)
	} // y is along the jet
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
	f := newFans(&Fans{[]float64{0}, []float64{0}, []float64{0}, []float64{0}, []float64{0}, []float64{5},
		[]float64{.3}})
	flux := func(x float64) (sum float64) {
		const dr = .001
		for r := dr / 2; r < x; r += dr {
			u := f.at(so3.Vec3{X: x, Y: r}, 0).X
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

// TestOneFanBlows: a condition may name the only fan that blows; the others stand still.
func TestOneFanBlows(t *testing.T) {
	w := Default()
	w.Fans = Fans{X: []float64{-3, 0}, Y: []float64{0, -3}, Z: []float64{1, 1}, Heading: []float64{0, math.Pi / 2},
		Elevation: []float64{0, 0},
		Speed:     []float64{9, 6}, Diameter: []float64{2, 2}}
	w.Conditions = Conditions{Name: []string{"both", "east", "north", "off"}, Fan: []int{0, 1, 2, 1},
		Fans: []float64{1, 1, 0.5, 0}}
	for name, want := range map[string]so3.Vec3{"both": {X: 9, Y: 6}, "east": {X: 9}, "north": {Y: 3}, "off": {}} {
		only, err := w.Only(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := mustNew(t, only).blown(0, so3.Vec3{Z: 1}); got.Sub(want).Norm() > 1e-9 {
			t.Errorf("%s: %v m/s between the fans, expected %v", name, got, want)
		}
	}
	w.Conditions.Fan[3] = 3
	if err := w.Check(); err == nil ||
		err.Error() != `parameter "conditions.fan": element 3 is 3, expected one of the 2 of fans.x, counted from 1, or 0 for all` {
		t.Errorf("a third fan of two: %v", err)
	}
}
