package guard

import (
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// TestStopIsBrakingDistanceAhead: a robot comes to rest v·reaction + v²/2a ahead, along its velocity.
func TestStopIsBrakingDistanceAhead(t *testing.T) {
	c := Config{Reaction: 0.2, Brake: 4}
	for _, x := range []struct {
		name    string
		v, want so3.Vec3
	}{
		{"at rest", so3.Vec3{}, so3.Vec3{Z: 1}},
		{"4 m/s", so3.Vec3{X: 4}, so3.Vec3{X: 2.8, Z: 1}},
		{"5 m/s aslant", so3.Vec3{Y: 3, Z: -4}, so3.Vec3{Y: 2.475, Z: -2.3}},
	} {
		t.Run(x.name, func(t *testing.T) {
			if got := c.stoppingPoint(&quad.State{P: so3.Vec3{Z: 1}, V: x.v}); got.Sub(x.want).Norm() > 1e-12 {
				t.Errorf("stops at %v, want %v", got, x.want)
			}
		})
	}
}
