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

// A robot that something turns, such as a propeller that breaks, is measured truly: the law does not fly it blind. What
// turns it is learned, for the time without states.
func TestATurnedRobotIsBelieved(t *testing.T) {
	for name, aside := range map[string][3]float64{"roll": {0.7}, "pitch": {0, -0.7}, "both, and yaw": {0.5, 0.4, 0.3}} {
		t.Run(name, func(t *testing.T) {
			g, p := newGuard(t), still{quad.Reference{P: so3.Vec3{Z: 1}}}
			w := &world{body: newBody(p.r.P, so3.Vec3{}, so3.Identity())}
			flyGuarded(g, w, PathFollower{newLaw(t), p}, 8, intact, func(at float64, _ *quad.State) {
				if at >= 3 {
					w.aside = aside
				}
				if v := g.Violation(); v != None && at > 0.1 {
					t.Fatalf("at %.2f s: %v", at, v)
				}
			})
			if off := g.belief.plant.bias.Sub(vec(aside)).Norm(); off > 0.2 {
				t.Errorf("the turn learned is %.2f rad/s, expected %v", g.belief.plant.bias, aside)
			}
		})
	}
}
