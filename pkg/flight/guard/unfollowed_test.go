package guard

import "testing"

// Commands that nobody follows move no robot: where states are missing for a moment, no wind is made of them.
func TestUnfollowedCommandsAreNoWind(t *testing.T) {
	g := newGuard(t)
	seen := 0.0
	for k := range 100 {
		in := hovering(k)
		in.NotOffboard, in.Command.Thrust = true, 14
		if k >= 80 && k < 97 {
			in.Stamp = seen
		}
		seen = in.Stamp
		g.Tick(&in)
	}
	if w := g.Wind().Norm(); g.Mode() != Autopilot || w > 0.3 {
		t.Errorf("%v, in a wind of %.2f m/s²", g.Mode(), w)
	}
}
