package control

import (
	"math"
	"strings"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
)

// A bundle under which the guard trips is taken back at that tick; one of long before is not.
func TestRollsBackAtTheFirstTrip(t *testing.T) {
	for name, seconds := range map[string]float64{"soon": 0, "a minute later": 61} {
		t.Run(name, func(t *testing.T) {
			f := newClosed(t, defaults(), "a.vnd")
			f.advance(2, nil)
			bad := loadedPolicy(t, "b.vnd", 50)
			f.loop.SetPolicy(bad)
			f.advance(0.1+seconds, nil)
			bad.policy.Middle[0] = float32(math.NaN())
			f.advance(0.1, nil)
			back := f.loop.Policy().ID != bad.ID
			if back != (seconds == 0) || back != f.loop.RolledBack() || f.loop.RolledBack() {
				t.Errorf("%s flies, %v", f.loop.Policy().ID, f.ticks[len(f.ticks)-1].Cause)
			}
		})
	}
}

// TestDoesNotGoBackToWhatWasTakenBack: whoever took a bundle back, a trip of the guard does not have it fly again.
func TestDoesNotGoBackToWhatWasTakenBack(t *testing.T) {
	for name, c := range map[string]struct {
		parent string   // of the bundle that is taken back
		before []string // that flew
		back   bool
	}{
		"to its parent":           {"old", nil, false},
		"to one that flew before": {"another", []string{"old"}, false},
		"to one of other descent": {"another", nil, true},
		"many bundles ago":        {"another", strings.Split("old b c d e f g h i j k l m n o p q", " "), true},
	} {
		t.Run(name, func(t *testing.T) {
			f := newClosed(t, defaults(), "a.vnd")
			fly := func(id, parent string) *LoadedPolicy {
				p := loadedPolicy(t, "b.vnd", 50)
				p.ID, p.Parent = id, parent
				f.loop.SetPolicy(p)
				f.advance(0.1, nil)
				return p
			}
			for _, id := range c.before {
				fly(id, "")
			}
			fly("taken back", c.parent)
			old := fly("old", "")
			old.policy.Middle[0] = float32(math.NaN())
			f.advance(0.1, nil)
			if back := f.loop.Policy().ID == "taken back"; back != c.back {
				t.Errorf("%s flies, %v", f.loop.Policy().ID, f.ticks[len(f.ticks)-1].Cause)
			}
		})
	}
}

// A policy gets a state that is older than usual carried on to when it would have come: it hovers as before.
func TestFliesThroughLateSamples(t *testing.T) {
	f := newClosed(t, defaults(), "a.vnd")
	f.advance(4, nil)
	var late []Sample
	f.advance(4, func(m *Sample) bool { // 50 ms behind
		late = append(late, *m)
		if len(late) <= 10 {
			return false
		}
		*m, late = late[0], late[1:]
		return true
	})
	if last := f.ticks[len(f.ticks)-1]; last.Stage != guard.Policy || f.off() > 0.05 || f.sim.Crashed() {
		t.Errorf("%v for %v, %.3f m off", last.Stage, last.Cause, f.off())
	}
	ahead := f.loop.guard.Ahead(&quad.State{P: so3.Vec3{Z: 1}, V: so3.Vec3{X: 1}, Q: so3.Identity()}, 1, 1.05)
	if ahead.P.X < 0.045 || ahead.P.X > 0.055 {
		t.Errorf("50 ms at 1 m/s lead to %v", ahead.P)
	}
}
