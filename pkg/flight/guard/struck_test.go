package guard

import (
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// A robot that falls, and is handed back as it meets the floor, stays there. A belief that falls on below the floor
// would have the law raise it by all it has.
func TestWhatHitTheFloorStaysThere(t *testing.T) {
	for _, height := range []float64{0.6, 1, 2} {
		for fell := 0.1; fell < 0.75; fell += 0.02 {
			g, hover := newGuard(t), quad.Reference{P: so3.Vec3{Z: height}}
			w := &world{body: newBody(hover.P, so3.Vec3{}, so3.Identity())}
			top, off := 0.0, 0.0
			flyGuarded(g, w, PathFollower{newLaw(t), still{hover}}, 12, func(at float64, in *Input) {
				if in.NotOffboard = at > 2 && at < 2+fell; in.NotOffboard { // nothing turns
					w.weaker = 1
				} else {
					w.weaker = 0
				}
			}, func(at float64, s *quad.State) {
				if w.hardest > 1.6 {
					top = max(top, s.P.Z)
				}
				if at > 2+fell && g.Stage() == Off {
					off = max(off, s.P.Z)
				}
			})
			if w.hardest > 1.6 && (top > 0.2 || off > 0.1 || g.Mode() != Landed) {
				t.Errorf("from %g m, for %.2f s: the floor at %.2f m/s, then up to %.2f m, off at %.2f m, %v",
					height, fell, w.hardest, top, off, g.Mode())
			}
		}
	}
}
