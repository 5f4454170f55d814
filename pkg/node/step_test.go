package node

import (
	"testing"

	"vnd/msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/control"
	"vnd/pkg/flight/guard"
)

// TestStepOfLandingStands: rows of a robot that may stand on the floor are told apart, in landings alone.
func TestStepOfLandingStands(t *testing.T) {
	for name, c := range map[string]struct {
		task   string
		z, v   float64
		stands bool
	}{
		"on the floor": {"land", 0.03, 0, true},
		"on its way":   {"land", 0.03, -0.3, false},
		"follows":      {"land", -0.1, 0, false},
		"hovers low":   {"hover", 0.03, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			var m msgs.Step
			r := control.TickRecord{Seq: 7, Stamp: 5e9, Stage: guard.Policy, Task: c.task,
				State: quad.State{P: so3.Vec3{Z: c.z}, V: so3.Vec3{Z: c.v}, Q: so3.Identity()},
				Sent:  quad.Command{Thrust: 9}, Reference: []quad.Reference{{P: so3.Vec3{Z: -0.1}}}}
			bridge.PutStep(&m, &r, "world")
			s := ControllerStep(&m)
			if s.Stands != c.stands || s.Seq != 7 || s.Stamp != 5e9 || s.State.P.Z != c.z || s.Sent.Thrust != 9 ||
				s.Stage != guard.Policy {
				t.Errorf("%+v", s)
			}
			m.Reference = nil
			if ControllerStep(&m).Stands {
				t.Error("stands without a reference")
			}
		})
	}
}
