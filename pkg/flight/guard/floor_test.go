package guard

import (
	"math"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// A source that froze is not believed again because the robot, as reckoned, is on the floor by now.
func TestFrozenDownToTheFloor(t *testing.T) {
	for _, height := range []float64{0.21, 0.22, 0.23, 0.24, 0.25, 0.26, 1} {
		for _, descent := range []float64{0.2, 0.5} {
			g := newGuard(t, func(c *Config) { c.BlindDescent = descent })
			p := still{quad.Reference{P: so3.Vec3{Z: height + 0.3}}}
			w := &world{body: newBody(p.r.P, so3.Vec3{}, so3.Identity())}
			w.wind = [3]float64{2, 0, 0}
			var last quad.State
			low, blind := false, false
			flyGuarded(g, w, PathFollower{newLaw(t), p}, 16, func(at float64, in *Input) {
				if at == 3 {
					g.Land()
				}
				if low = low || at > 3 && in.State.P.Z < height; low {
					in.State = last
				}
				last = in.State
			}, func(at float64, _ *quad.State) {
				blind = blind || g.Mode() == BlindLanding
				if blind && g.Mode() != BlindLanding && g.Mode() != Landed {
					t.Fatalf("from %.2f m on, at %g m/s: at %.2f s %v", height, descent, at, g.Mode())
				}
			})
			if g.Mode() != Landed || w.hardest > 1 {
				t.Errorf("from %.2f m on, at %g m/s: %v for %v, met the floor at %.2f m/s", height, descent, g.Mode(),
					g.Tripped(), w.hardest)
			}
		}
	}
}

// Two sources in turn trip the guard; it holds on the states that are left.
func TestTwoSourcesTrip(t *testing.T) {
	g := newGuard(t)
	healthy(t, g, 50)
	in := hovering(50)
	in.TwoSources = true
	if g.Tick(&in); g.Stage() != Hold || g.Tripped() != Jump {
		t.Errorf("%v for %v", g.Stage(), g.Tripped())
	}
}

// Where a state comes back the law holds in the wind that is known, and does not have to learn it anew.
func TestHoldsInTheKnownWind(t *testing.T) {
	g, p := newGuard(t), still{quad.Reference{P: so3.Vec3{Z: 2}}}
	w := &world{body: newBody(p.r.P, so3.Vec3{}, so3.Identity())}
	w.wind = [3]float64{2.5, 0, 0}
	flyGuarded(g, w, PathFollower{newLaw(t), p}, 9, func(at float64, in *Input) {
		if at >= 5 && at < 5.8 {
			in.Stamp = 5
		}
	}, func(at float64, s *quad.State) {
		if off := math.Abs(s.P.X); at > 5 && off > 0.12 && at < 6.8 {
			t.Fatalf("at %.2f s %.2f m off", at, off)
		}
	})
}

// A state after one that was not believed has to be nearer than one after a good state.
func TestComesBackByMoreThanTheModelsError(t *testing.T) {
	for name, c := range map[string]struct {
		after, turn float64 // rad
		believed    bool
	}{
		"after a good one": {0, 0.1, true}, "after a jump": {0.3, 0.1, false}, "after a jump, right": {0.3, 0.03, true},
	} {
		g := newGuard(t)
		healthy(t, g, 50)
		for k, turn := range []float64{c.after, c.turn} {
			in := hovering(50 + k)
			in.State.Q = so3.Exp(so3.Vec3{X: turn})
			g.Tick(&in)
		}
		if g.belief.rejected == c.believed {
			t.Errorf("%s: rejected %v", name, g.belief.rejected)
		}
	}
}

// On the floor the law does not lean after a place that drifts away.
func TestStaysLevelOnTheFloor(t *testing.T) {
	g := newGuard(t)
	healthy(t, g, 50)
	g.mode, g.restingFor = Landing, 0.2
	g.holdPoint = so3.Vec3{X: 1}
	g.belief.state = quad.State{P: so3.Vec3{Z: 0.03}, V: so3.Vec3{X: 0.3}, Q: so3.Identity()}
	if c := g.fly(0.02); math.Hypot(c.Rates.X, c.Rates.Y) > 0.1 || c.Thrust > 0.6*quad.Gravity {
		t.Errorf("on the floor: %+v", c)
	}
}

// A robot that slides over the floor has met it, however slowly it sinks.
func TestMeetsTheFloorSliding(t *testing.T) {
	g := newGuard(t)
	s := quad.State{P: so3.Vec3{Z: 0.1}, V: so3.Vec3{X: 0.6, Z: -0.1}, Q: so3.Identity()}
	if got := g.endangered(&s); got != Floor {
		t.Errorf("sliding: %v", got)
	}
	if s.V.X = 0.2; g.endangered(&s) != None {
		t.Error("a slow one is endangered")
	}
}

// Just above the floor a slow robot is guarded, too: one that leans goes faster than it may touch before the law acts.
func TestGuardsSlowFlightJustAboveTheFloor(t *testing.T) {
	for tilt, want := range map[float64]Cause{0: None, 0.2: Floor} {
		g := newGuard(t)
		healthy(t, g, 50)
		g.belief.state = quad.State{P: so3.Vec3{Z: 0.09}, V: so3.Vec3{X: 0.32, Z: -0.2}, Q: so3.Exp(so3.Vec3{Y: tilt})}
		in := Input{Command: hoverCommand}
		if got := g.checkCommand(&in, 0.02); got != want {
			t.Errorf("tilted by %g rad: %v, expected %v", tilt, got, want)
		}
	}
}

// On the floor what was commanded does not move the robot: its velocity is that of its positions.
func TestVelocityOnTheFloor(t *testing.T) {
	var d detector
	p := plant{}
	p.send(0, quad.Command{Thrust: 5}) // would fall in the air
	for k := range 20 {
		d.add(&quad.State{P: so3.Vec3{Z: 0.03}, Q: so3.Identity()}, 0.02*float64(k), &p)
	}
	if v, ok := d.velocity(so3.Vec3{Z: 0.03}, 0.39, so3.Vec3{}, false); !ok || v.Norm() > 1e-9 {
		t.Errorf("%v m/s", v)
	}
}

// A reset of a robot that lands, just above the floor, does not drop it.
func TestResetDropsNothing(t *testing.T) {
	g, p := newGuard(t), still{quad.Reference{P: so3.Vec3{Z: 0.6}}}
	w := &world{body: newBody(p.r.P, so3.Vec3{}, so3.Identity())}
	var low error
	flyGuarded(g, w, PathFollower{newLaw(t), p}, 12, func(at float64, _ *Input) {
		if at == 3 {
			g.Land()
		}
	}, func(_ float64, s *quad.State) {
		if low == nil && g.Mode() == Landing && s.P.Z < 0.15 && s.V.Z < -0.3 {
			if low = g.Reset(); low == nil || g.Mode() != Landing {
				t.Fatalf("at %.2f m: %v, %v", s.P.Z, low, g.Mode())
			}
		}
	})
	if low == nil || g.Mode() != Landed || w.hardest > 0.6 || g.Reset() != nil {
		t.Errorf("%v, then %v, met the floor at %.2f m/s", low, g.Mode(), w.hardest)
	}
}

// The rollout knows of all of the delay that was told: from the same speed a slower robot needs a longer way.
func TestRolloutKnowsLongDelays(t *testing.T) {
	need := func(delay float64) float64 { // distance to the fence from which on it could not stop, m
		g := newGuard(t, func(c *Config) { c.Response.ThrustDelay, c.Response.RateDelay = delay, delay })
		for x := 3.7; x > 0; x -= 0.01 {
			g.belief.known, g.now = true, 1
			g.belief.motion = motion{at: 1, acting: hoverCommand,
				state: quad.State{P: so3.Vec3{X: x, Z: 2}, V: so3.Vec3{X: 3}, Q: so3.Identity()}}
			g.sent = hoverCommand
			if g.recoverable(hoverCommand, 1) == None {
				return 4 - x
			}
		}
		return 4
	}
	if soon, late := need(0.02), need(0.1); late < soon+0.3 {
		t.Errorf("%.2f m with 20 ms, %.2f m with 100 ms", soon, late)
	}
}

// A robot that lands and slides over the floor is borne by it: its motors stop as soon as those of one that stands.
func TestStopsWhileItSlides(t *testing.T) {
	for _, speed := range []float64{0, 0.7} {
		g := newGuard(t)
		healthy(t, g, 50)
		slide := func(k int) Input {
			in := hovering(k)
			place := so3.Vec3{X: speed * (in.Stamp - hovering(50).Stamp), Z: 0.03}
			in.State = quad.State{P: place.Add(trackerNoise(k)), V: so3.Vec3{X: speed, Z: -0.04}, Q: so3.Identity()}
			return in
		}
		k, in := 50, slide(50)
		g.mode = Landing
		g.belief.begin(&in.State, in.Stamp)
		for ; g.mode == Landing && k < 150; k++ {
			in = slide(k)
			g.Tick(&in)
		}
		if after := 0.02 * float64(k-50); g.mode != Landed || after > minRestTime+0.2 {
			t.Errorf("at %.1f m/s: %v after %.2f s", speed, g.mode, after)
		}
	}
}

// A robot that lands and is quick just above the floor is not borne by it yet: what acts on it is a wind.
func TestFliesJustAboveTheFloor(t *testing.T) {
	g := newGuard(t)
	s := quad.State{P: so3.Vec3{Z: 0.1}, V: so3.Vec3{X: 0.7, Z: -0.1}, Q: so3.Identity()}
	for rests, want := range map[float64]bool{0: false, restingSoon: false, 2 * restingSoon: true} {
		g.mode, g.restingFor = Landing, rests
		if got := g.stands(&s); got != want {
			t.Errorf("at rest for %.1f s: it stands: %v", rests, got)
		}
	}
}
