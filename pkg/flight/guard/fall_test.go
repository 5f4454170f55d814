package guard

import (
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// A robot that hears no commands and shows no state is held in the air by its autopilot. The guard believes that it has
// landed. As commands reach it again it falls, and is caught. One in a hand, or on the floor, is left alone.
func TestCatchesARobotThatHadNotLanded(t *testing.T) {
	const lost, back = 3.0, 9.0 // s
	for _, c := range []struct {
		name    string
		height  func(at float64) float64 // of a robot that something else moves, from lost on
		follows float64                  // when commands reach it again, s
		caught  bool
	}{
		{"held by its autopilot", func(float64) float64 { return 1 }, back, true},
		{"commands come later than states", func(float64) float64 { return 1 }, back + 2, true},
		{"on the floor", func(float64) float64 { return 0 }, 1e6, false},
		{"held in a hand", func(float64) float64 { return 1 }, 1e6, false},
		{"lowered by a hand", func(at float64) float64 { // 4 m/s², to 1 m/s
			t := max(0, at-back-1)
			if t < 0.25 {
				return 1 - 2*t*t
			}
			return max(0.1, 1.125-t)
		}, 1e6, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newGuard(t)
			w := &world{body: newBody(so3.Vec3{Z: 1}, so3.Vec3{}, so3.Identity())}
			lowest := 1.0
			flyGuarded(g, w, PathFollower{newLaw(t), still{}}, 20, func(at float64, in *Input) {
				if at > lost && at < back {
					in.Stamp = lost
				}
				in.NoCommand = at > lost
			}, func(at float64, s *quad.State) {
				if at > lost && at < c.follows {
					w.body = newBody(so3.Vec3{Z: c.height(at)}, so3.Vec3{}, so3.Identity())
					w.hardest = 0
				}
				if at > lost+4 && at < min(c.follows, back) && g.Mode() != Landed {
					t.Fatalf("at %.2f s: %v", at, g.Mode())
				}
				if at > back && !c.caught && g.sent.Thrust > 1.01 {
					t.Fatalf("at %.2f s: %v, a thrust of %.1f m/s²", at, g.Mode(), g.sent.Thrust)
				}
				if at > c.follows && at < c.follows+2 {
					lowest = min(lowest, s.P.Z)
				}
			})
			if c.caught && (lowest < 0.3 || g.Mode() != Landed || w.hardest > 1) {
				t.Errorf("fell to %.2f m, %v at the end, met the floor at %.2f m/s", lowest, g.Mode(), w.hardest)
			}
		})
	}
}
