package guard

import (
	"math"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// A tick without a follower low in a landing or a take-off ends in a landing. Least thrust would drop the robot.
func TestMomentWithoutAFollowerLow(t *testing.T) {
	for _, height := range []float64{0, 0.6} { // take-offs, and landings
		for at := 1.4; at < 4.6; at += 0.02 {
			g, w := newGuard(t), &world{body: newBody(so3.Vec3{Z: height}, so3.Vec3{}, so3.Identity())}
			if off := withoutAFollower(t, g, w, at); w.hardest > 1.1 || off > 0.05 || g.Mode().Aloft() {
				t.Errorf("from %g m, at %.2f s: the floor at %.2f m/s, off at %.2f m, %v", height, at, w.hardest, off,
					g.Mode())
			}
		}
	}
}

// withoutAFollower takes off and lands, or lands from where the robot is, with a tick at some time in which commands
// are not followed, and returns the height at which motors stop, m.
func withoutAFollower(t *testing.T, g *Guard, w *world, at float64) (off float64) {
	t.Helper()
	start, flew := w.state().P, false
	flyGuarded(g, w, PathFollower{newLaw(t), still{quad.Reference{P: start}}}, 9, func(now float64, in *Input) {
		switch {
		case start.Z == 0 && now == 1:
			w.hardest = 0
			if err := g.TakeOff(); err != nil {
				t.Fatal(err)
			}
		case start.Z == 0 && now == 4 || start.Z > 0 && now == 2:
			g.Land()
		}
		in.NotReady, in.NotOffboard = true, math.Abs(now-at) < 0.01
	}, func(_ float64, s *quad.State) {
		if flew = flew || g.Mode().Aloft(); flew && g.Stage() == Off {
			off = max(off, s.P.Z)
		}
	})
	return off
}
