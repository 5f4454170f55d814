package guard

import (
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

func TestFenceHasSixFaces(t *testing.T) {
	b, err := newBox([]float64{-1, -2, 0}, []float64{1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	if !b.contains(so3.Vec3{Z: 1.5}) {
		t.Error("the middle is outside")
	}
	for name, p := range map[string]so3.Vec3{"east": {X: 1.01, Z: 1.5}, "west": {X: -1.01, Z: 1.5},
		"north": {Y: 2.01, Z: 1.5}, "south": {Y: -2.01, Z: 1.5}, "lid": {Z: 3.01}, "floor": {Z: -.01}} {
		t.Run(name, func(t *testing.T) {
			if b.contains(p) {
				t.Errorf("%v is inside", p)
			}
		})
	}
}

// The integral stands still while the law asks for more than it may, and grows where it does not.
func TestIntegralStopsAtALimit(t *testing.T) {
	for _, c := range []struct {
		name  string
		off   float64 // m
		speed float64 // m/s, away from the reference
		grows bool
	}{{"near", 0.1, 0, true}, {"far and fast", 1, 5, false}} {
		t.Run(c.name, func(t *testing.T) {
			l := newLaw(t)
			l.gains.Integral = 1
			s := quad.State{P: so3.Vec3{X: -c.off, Z: 1}, V: so3.Vec3{X: -c.speed}, Q: so3.Identity()}
			for k := range 100 {
				l.Track(0.01*float64(k), &s, &quad.Reference{P: so3.Vec3{Z: 1}})
			}
			if grew := l.integral.Norm() > 0.01; grew != c.grows {
				t.Errorf("integral %v m/s²", l.integral)
			}
		})
	}
}
