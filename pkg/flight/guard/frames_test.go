package guard

import (
	"math"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// TestTakesOffWithoutFrames: a policy that flies by landmarks need not see them on the way up. It flies where they show
// at the height of the take-off; else the law lands.
func TestTakesOffWithoutFrames(t *testing.T) {
	for _, sees := range []bool{true, false} {
		g := newGuard(t)
		w := &world{body: newBody(so3.Vec3{}, so3.Vec3{}, so3.Identity())}
		highest, flew := 0., false
		flyGuarded(g, w, PathFollower{newLaw(t), outward{}}, 20, func(at float64, in *Input) {
			in.FrameAge = math.Inf(1)
			if sees && in.State.P.Z > 0.8 {
				in.FrameAge = 0.05
			}
			if at == 1 {
				if err := g.TakeOff(); err != nil {
					t.Fatal(err)
				}
			}
		}, func(_ float64, s *quad.State) {
			highest, flew = max(highest, s.P.Z), flew || g.Stage().PolicyFlies()
		})
		want, cause := Flying, None
		if !sees {
			want, cause = Landed, Unseen
		}
		if flew != sees || highest < 0.85 || g.Mode() != want || g.Tripped() != cause {
			t.Errorf("landmarks in view: %v; %v for %v, %.2f m high, the policy flew: %v", sees, g.Mode(), g.Tripped(),
				highest, flew)
		}
	}
}
