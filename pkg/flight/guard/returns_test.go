package guard

import (
	"math"
	"slices"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// A source that comes and goes ends in a landing when it is there for the third time in ten seconds, on dead reckoning
// as well as beside an autopilot. One that does so seldom does not.
func TestLandsWhereStatesComeAndGo(t *testing.T) {
	for name, c := range map[string]struct {
		every, lost float64 // s
		autopilot   bool
		lands       bool
	}{
		"often":                       {1.5, 0.7, false, true},
		"often, beside an autopilot":  {1.5, 0.45, true, true},
		"seldom":                      {8, 0.7, false, false},
		"seldom, beside an autopilot": {8, 0.45, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGuard(t, func(c *Config) { c.Hold, c.ReturnAfter = 100, 50 })
			w := &world{body: newBody(so3.Vec3{Z: 1}, so3.Vec3{}, so3.Identity())}
			seen, modes := 0.0, []Mode(nil)
			spoil := func(at float64, in *Input) {
				if in.AutopilotLands = c.autopilot; at < c.every || math.Mod(at, c.every) > c.lost {
					seen = in.Stamp
				}
				in.Stamp = seen
			}
			flyGuarded(g, w, PathFollower{newLaw(t), still{quad.Reference{P: so3.Vec3{Z: 1}}}}, 3.6*c.every, spoil,
				func(float64, *quad.State) {
					if n := len(modes); n == 0 || modes[n-1] != g.Mode() {
						modes = append(modes, g.Mode())
					}
				})
			alone, last := BlindLanding, Holding
			if c.autopilot {
				alone = Autopilot
			}
			if c.lands {
				last = Landing
			}
			want := []Mode{Disarmed, Flying, Holding, alone, Holding, alone, Holding, alone, last}
			if !slices.Equal(modes, want) {
				t.Errorf("%v, expected %v", modes, want)
			}
		})
	}
}
