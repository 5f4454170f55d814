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

// A landing goes on where its states were lost and come back: the law neither holds nor climbs.
func TestLandingGoesOn(t *testing.T) {
	g, p := newGuard(t), still{quad.Reference{P: so3.Vec3{Z: 1}}}
	w := &world{body: newBody(p.r.P, so3.Vec3{}, so3.Identity())}
	flyGuarded(g, w, PathFollower{newLaw(t), p}, 9, func(at float64, in *Input) {
		if at == 3 {
			g.Land()
		}
		if at > 4 && at < 4.2 {
			in.Stamp = 3.98
		}
	}, func(at float64, _ *quad.State) {
		if at > 3.02 && (g.Mode() == Holding || g.Mode() == Flying) {
			t.Fatalf("at %.2f s: %v", at, g.Mode())
		}
	})
	if g.Mode() != Landed || w.hardest > 0.6 || g.Count(Stale) == 0 {
		t.Errorf("%v, met the floor at %.2f m/s", g.Mode(), w.hardest)
	}
}

// A robot that was seen to have touched the floor stands there, whether states come or not: thrust goes down, and the
// motors stop in time.
func TestWhatTouchedTheFloorStaysThere(t *testing.T) {
	g, p := newGuard(t), still{quad.Reference{P: so3.Vec3{Z: 1}}}
	w := &world{body: newBody(p.r.P, so3.Vec3{}, so3.Identity())}
	touched := math.Inf(1)
	flyGuarded(g, w, PathFollower{newLaw(t), p}, 9, func(at float64, in *Input) {
		if at == 3 {
			g.Land()
		}
		if s := &in.State; at > 4 && s.P.Z < 0.05 && math.Abs(s.V.Z) < 0.1 {
			touched = min(touched, at)
		}
		if at > touched {
			in.Stamp = touched - 0.02
		}
	}, func(at float64, _ *quad.State) {
		if after := at - touched; after > 0.15 && g.sent.Thrust > standingThrust*quad.Gravity+1e-6 {
			t.Fatalf("%.2f s after it touched: %.1f m/s²", after, g.sent.Thrust)
		} else if after > minRestTime+0.1 && g.Mode() != Landed {
			t.Fatalf("%.2f s after it touched: %v", after, g.Mode())
		}
	})
	if math.IsInf(touched, 1) {
		t.Error("it never touched the floor")
	}
}

// The policy gets a robot back that hardly moves: its reference stands there, so that it would brake another hard.
func TestPolicyGetsASlowRobotBack(t *testing.T) {
	g := newGuard(t, func(c *Config) { c.ReturnAfter = 0.3 })
	w := &world{body: newBody(so3.Vec3{Z: 1}, so3.Vec3{}, so3.Identity())}
	held, returned := false, math.NaN()
	flyGuarded(g, w, PathFollower{newLaw(t), eight{}}, 9, func(at float64, in *Input) {
		if at > 3 && at < 3.2 {
			in.Stamp = 3
		}
	}, func(_ float64, s *quad.State) {
		if held = held || g.Mode() == Holding; held && g.Mode() == Flying && math.IsNaN(returned) {
			returned = s.V.Norm()
		}
	})
	if !(returned < 1.2*returnSpeed) {
		t.Errorf("it had %.2f m/s", returned)
	}
}

// A policy that gets the robot back asks for more and more of what is sent: a controller that stops again just then
// leaves the robot with a command that is nearly the law's.
func TestLawLeadsOverToThePolicy(t *testing.T) {
	g := newGuard(t)
	healthy(t, g, 50)
	k, stall := 50, 0.2
	next := func() quad.Command {
		in := hovering(k)
		in.Now, in.Stamp = in.Now+stall, in.Stamp+stall
		k++
		return g.Tick(&in)
	}
	law := next()
	for g.Mode() != Flying {
		if law = next(); k > 150 {
			t.Fatalf("the policy does not fly again: %v", g.Tripped())
		}
	}
	whole := asked.Thrust - law.Thrust
	for share := 0.02 / leadOverTime; share < 1-1e-9; share += 0.02 / leadOverTime {
		c := next()
		if got := (c.Thrust - law.Thrust) / whole; math.Abs(got-share) > 0.1 || g.Stage() != Limited {
			t.Fatalf("%.2f of the way to the policy's command, expected %.2f, in stage %v", got, share, g.Stage())
		}
	}
	for range 20 {
		if c := next(); c != asked || g.Stage() != Policy {
			t.Fatalf("%+v in stage %v", c, g.Stage())
		}
	}
}
