package guard

import (
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// coasting reports whether a robot that flies straight on is said to drift, where one of its stamps is off by late, s.
func coasting(late float64) (drifted bool) {
	const speed = 3.0
	var d detector
	var p plant
	at := 0.0
	for i := range 120 {
		at += 0.0225
		if i == 60 {
			at += late
		}
		d.add(&quad.State{P: so3.Vec3{X: speed * at, Z: 1}, V: so3.Vec3{X: speed}, Q: so3.Identity()}, at, &p)
		_, found := d.drifting()
		drifted = drifted || found
	}
	return drifted
}

// A sample that comes a few milliseconds late, with its stamp, moves nothing: a fast robot does not drift for it.
func TestUnevenStampsAreNoDrift(t *testing.T) {
	for name, late := range map[string]float64{"even": 0, "5 ms late": 0.005, "4 ms early": -0.004} {
		t.Run(name, func(t *testing.T) {
			if coasting(late) {
				t.Error("a robot that flies straight on was said to drift")
			}
		})
	}
}
