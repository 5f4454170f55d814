package guard

import (
	"math"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// stalled is the input of a tick after a stall of so many seconds behind the last one before it, in which an autopilot
// has the robot sink by 0.8 m/s, elsewhere; what turned it then still acts for a while.
func stalled(k int, stall, since float64) Input {
	in := hovering(k)
	in.Now, in.Stamp = in.Now+stall, in.Stamp+stall
	turned := 0.3 * (1 - math.Exp(-since/0.1))
	in.State = quad.State{P: in.State.P.Add(so3.Vec3{X: 0.6, Y: 0.3, Z: -0.2 - 0.8*since}),
		V: so3.Vec3{X: 0.5, Z: -0.8}, Q: so3.FromEuler(turned, 0, 0)}
	return in
}

// After a stall in which the robot has gone elsewhere the law goes on from where it is, and does not fly blind.
func TestGoesOnFromWhereAStallEnds(t *testing.T) {
	for _, stall := range []float64{0.6, 1, 4} {
		g := newGuard(t)
		healthy(t, g, 50)
		for k := 50; k < 65; k++ {
			in := stalled(k, stall, 0.02*float64(k-50))
			g.Tick(&in)
			off := g.belief.state.P.Sub(in.State.P).Norm()
			if g.Stage() != Hold || g.Tripped() != Missed || off > 0.05 {
				t.Fatalf("%g s, tick %d after: %v for %v, %.2f m off the state", stall, k-50, g.Stage(), g.Tripped(),
					off)
			}
		}
		if at := g.holdPoint; at.Sub(so3.Vec3{X: 0.6, Y: 0.3, Z: 0.8}).Norm() > 0.6 {
			t.Errorf("%g s: it holds at %v", stall, at)
		}
		if !g.belief.elsewhere {
			t.Errorf("%g s: the policy may fly again", stall)
		}
	}
}

// A source that was not believed before a stall is not believed after it, nor after a second one.
func TestStallHelpsNoFalseSource(t *testing.T) {
	jumped := func(in *Input) { in.State.P.X++ }
	for _, c := range []struct {
		name   string
		before func(*Input)
		stalls int
	}{
		{"jumped", jumped, 1},
		{"jumped, two stalls", jumped, 2},
		{"frozen", func(in *Input) { in.State = hovering(50).State }, 1},
		{"invalid", func(in *Input) { in.State.Q = so3.Quat{} }, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newGuard(t)
			healthy(t, g, 50)
			for k := 50; k < 60; k++ {
				in := hovering(k)
				c.before(&in)
				g.Tick(&in)
			}
			for i := range c.stalls {
				in := hovering(60 + i)
				late := 0.6 * float64(i+1)
				if in.Now += late; i == c.stalls-1 { // no state came between
					in.Stamp += late
				}
				jumped(&in)
				if g.Tick(&in); g.Stage() != Blind {
					t.Errorf("after stall %d %v: %v is believed", i+1, g.Stage(), g.belief.state.P)
				}
			}
		})
	}
}

// Right after a stall, too, a robot is not from one state to the next where it cannot have flown.
func TestJumpsRightAfterAStall(t *testing.T) {
	g := newGuard(t)
	healthy(t, g, 50)
	for k := 50; k < 60; k++ {
		in, want := stalled(k, 0.6, 0.02*float64(k-50)), Hold
		if k == 54 || k == 55 {
			in.State.P.X++
			want = Blind
		}
		if g.Tick(&in); g.Stage() != want {
			t.Errorf("tick %d after: %v, expected %v", k-50, g.Stage(), want)
		}
	}
}

// On the ground, where an autopilot has landed, the motors stop soon after a stall. Until then nothing lifts the robot.
func TestStallThatEndsOnTheGround(t *testing.T) {
	for name, moves := range map[string]func(k int, s *quad.State){
		"still":              func(int, *quad.State) {},
		"on a low box":       func(_ int, s *quad.State) { s.P.Z += 0.12 },
		"on a pad that goes": func(k int, s *quad.State) { s.V.X, s.P.X = 0.3, 0.3*0.02*float64(k) },
		"bounces": func(k int, s *quad.State) {
			if k == 4 || k == 5 {
				s.V.Z, s.P.Z = 0.55, 0.04
			}
		},
	} {
		for _, from := range []Mode{Flying, Holding, Landing} {
			g := stalledGuard(t, from, func(c *Config) { c.Hold = 600 })
			for k := range 40 {
				in := onTheGround(k)
				moves(k, &in.State)
				if c := g.Tick(&in); c.Thrust > settlingThrust*quad.Gravity {
					t.Fatalf("%s, %v, tick %d after: %v, thrust %.1f m/s²", name, from, k, g.Stage(), c.Thrust)
				}
			}
			if g.Stage() != Off {
				t.Errorf("%s, %v: it is %v in the end", name, from, g.Stage())
			}
		}
	}
}

// stalledGuard is one whose next tick is the first after a stall in a mode.
func stalledGuard(t *testing.T, in Mode, change func(*Config)) *Guard {
	t.Helper()
	g := newGuard(t, change)
	healthy(t, g, 50)
	switch in {
	case Holding:
		g.Trip()
	case Landing:
		g.Land()
	}
	last := hovering(50)
	if g.Tick(&last); g.mode != in {
		t.Fatalf("%v, expected %v", g.mode, in)
	}
	return g
}

// onTheGround is the input of tick k after a stall, of a robot that stands.
func onTheGround(k int) Input {
	in := hovering(51 + k)
	in.Now, in.Stamp = in.Now+4, in.Stamp+4
	in.State.P.Z -= 0.97
	return in
}

// The motors of a robot that fell in a stall, and lies on its side or back, stop at once.
func TestStallThatEndsInAFall(t *testing.T) {
	for _, from := range []Mode{Flying, Holding, Landing} {
		for _, tilt := range []float64{1.2, math.Pi / 2, 3.1} {
			g := stalledGuard(t, from, func(*Config) {})
			for k := range 60 {
				in := onTheGround(k)
				in.State.Q = so3.FromEuler(tilt, 0, 0)
				if c := g.Tick(&in); c.Thrust > quad.Gravity/2 || k > 0 && g.mode != Landed {
					t.Fatalf("%v, tilted by %.1f rad, tick %d: %v, thrust %.1f m/s²", from, tilt, k, g.mode, c.Thrust)
				}
			}
		}
	}
}

// The time of a stall is none at rest, whatever gap is allowed. No reset stops motors before the ground is proven.
func TestGroundAfterAStallTakesItsTime(t *testing.T) {
	for _, from := range []Mode{Flying, Holding, Landing} {
		g := stalledGuard(t, from, func(c *Config) { c.MaxGap = 1 })
		for k := range 12 {
			in := onTheGround(k)
			in.Now, in.Stamp = in.Now-3.3, in.Stamp-3.3
			g.Tick(&in)
			if g.mode.LawFlies() && g.Reset() == nil || !g.mode.Aloft() {
				t.Fatalf("%v, tick %d: %v", from, k, g.mode)
			}
		}
	}
}

// A robot that stands low after a stall does not fly by the policy again.
func TestPolicyWaitsForTheGroundAfterAStall(t *testing.T) {
	g := newGuard(t, func(c *Config) { c.ReturnAfter = 0.1 })
	for k := range 80 {
		in := hovering(k)
		if in.State.P.Z -= 0.85; k < 50 {
			g.Recall(Policy)
		} else {
			in.Now, in.Stamp = in.Now+0.7, in.Stamp+0.7
		}
		if g.Tick(&in); k >= 50 && g.mode == Flying {
			t.Fatalf("tick %d after: the policy flies", k-50)
		}
	}
	if g.mode != Landed {
		t.Errorf("it is %v", g.mode)
	}
}

// A state or two that have the robot stand right after a stall do not stop the motors of one that flies.
func TestFalseGroundAfterAStall(t *testing.T) {
	for _, n := range []int{1, 2, 4} {
		g := newGuard(t)
		healthy(t, g, 50)
		for k := 50; k < 70; k++ {
			in := hovering(k)
			in.Now, in.Stamp = in.Now+0.7, in.Stamp+0.7
			if in.State.P.Z -= 0.2; k < 50+n {
				in.State.P.Z -= 0.75
			}
			c := g.Tick(&in)
			if thrust := c.Thrust / quad.Gravity; g.mode != Holding || thrust < 0.8 || thrust > 1.5 {
				t.Errorf("%d false, tick %d after: %v, thrust %.2f g", n, k-50, g.mode, thrust)
			}
		}
		if g.Stage() != Hold || math.Abs(g.belief.state.P.Z-0.8) > 0.05 {
			t.Errorf("%d false: %v, believed at %.2f m", n, g.Stage(), g.belief.state.P.Z)
		}
	}
}
