package guard

import (
	"testing"

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
