package guard

import (
	"math"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// What a command does depends on how long it is held, to the millisecond, and not on where the model's steps fall.
func TestModelFollowsCommandsOfAnyTiming(t *testing.T) {
	b := newBody(so3.Vec3{}, so3.Vec3{X: 1}, so3.Identity())
	m := motion{state: b.state(), acting: hoverCommand}
	p := plant{response: Response{ThrustLag: thrustLag, RateLag: rateLag, Drag: drag, AxialDrag: axialDrag}}
	for k, ms := range []int{17, 23, 11, 29, 13, 26, 19, 21, 14, 31, 12, 20} {
		c := quad.Command{Thrust: 7 + float64(k%3)*4, Rates: so3.Vec3{X: 4 * float64(1-k%2*2), Y: 5 * float64(k%4-1)}}
		p.send(m.at, c)
		for range ms {
			b.step(c)
		}
		p.advance(&m, m.at+0.001*float64(ms), so3.Vec3{})
	}
	s := b.state()
	turn, off := so3.Log(s.Q.Conj().Mul(m.state.Q)).Norm(), s.V.Sub(m.state.V).Norm()
	if turn > 0.02 || off > 0.03 {
		t.Errorf("off by %.3f rad and %.3f m/s", turn, off)
	}
	p = plant{}
	p.send(0, quad.Command{Thrust: 1})
	p.send(1, quad.Command{Thrust: 2})
	p.send(2, quad.Command{Thrust: 4})
	for name, c := range map[string]struct{ from, to, want float64 }{
		"the newest": {2.5, 3, 4}, "across a change": {1.75, 2.25, 3}, "across two": {0.5, 2.5, 2.25},
		"before the first": {-2, -1, 1}, "until a change": {1.5, 2, 2},
	} {
		if got := p.held(c.from, c.to).Thrust; math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %g, expected %g", name, got, c.want)
		}
	}
}

// Thrust goes down near the floor where a touch-down is not felt at once, and further once it was. Without states it
// goes down the further the more the wind pushes: by so much the robot falls.
func TestSettlesWhereTouchDownIsNotFelt(t *testing.T) {
	const weight, gentle, windy = quad.Gravity, quad.Gravity - gentleFall, quad.Gravity - gentleFall - 3*windyFall
	for name, c := range map[string]struct {
		mode                  Mode
		blind, hidden, rested float64
		height, wind, most    float64
	}{
		"blind, low":            {BlindLanding, 1, 0, 0, 0.1, 0, gentle},
		"blind, low, in a wind": {BlindLanding, 1, 0, 0, 0.1, 3, windy},
		"blind, high":           {BlindLanding, 1, 0, 0, 0.2, 0, math.Inf(1)},
		"blind in a hold":       {Holding, 1, 0, 0, 0.1, 0, math.Inf(1)},
		"late, low":             {Landing, 0, 0.2, 0, 0.1, 0, settlingThrust * weight},
		"late, on the floor":    {Landing, 0, 0.2, 0.02, 0.03, 0, standingThrust * weight},
		"good states, low":      {Landing, 0, 0, 0, 0.1, 0, math.Inf(1)},
		"good states, touching": {Landing, 0, 0, 0.02, 0.03, 0, math.Inf(1)},
		"good states, standing": {Landing, 0, 0, 0.12, 0.03, 0, standingThrust * weight},
	} {
		g := newGuard(t)
		g.mode, g.blindFor, g.hiddenDelay, g.restingFor = c.mode, c.blind, c.hidden, c.rested
		g.belief.wind.Y = c.wind
		s := quad.State{P: so3.Vec3{Z: c.height}, Q: so3.Identity()}
		if got := g.settling(&s); math.Abs(got-c.most) > 1e-9 {
			t.Errorf("%s: at most %g m/s², expected %g", name, got, c.most)
		}
	}
}

// A robot that is higher than believed comes down softly all the same: its motors do not stop at once.
func TestLandsBlindFromHigherThanBelieved(t *testing.T) {
	for _, off := range []float64{0, 0.15, 0.3} {
		g, p := newGuard(t), still{quad.Reference{P: so3.Vec3{Z: 1}}}
		w := &world{body: newBody(p.r.P, so3.Vec3{}, so3.Identity())}
		flyGuarded(g, w, PathFollower{newLaw(t), p}, 12, func(at float64, in *Input) {
			if at > 3 {
				in.Stamp = 2.98
			}
		}, func(at float64, _ *quad.State) {
			if at == 3.2 {
				g.belief.state.P.Z -= off
			}
		})
		if g.Mode() != Landed || !w.landed || w.hardest > 0.9 {
			t.Errorf("%.2f m too low: %v, met the floor at %.2f m/s", off, g.Mode(), w.hardest)
		}
	}
}

// A landing on dead reckoning goes on to the floor though an autopilot would land: states were false before they ended.
func TestLandsBlindUnderAnAutopilot(t *testing.T) {
	g, p := newGuard(t), still{quad.Reference{P: so3.Vec3{Z: 1}}}
	w := &world{body: newBody(p.r.P, so3.Vec3{}, so3.Identity())}
	flyGuarded(g, w, PathFollower{newLaw(t), p}, 12, func(at float64, in *Input) {
		const falseFrom, until = 3.0, 3.55
		in.AutopilotLands = true
		if at > falseFrom {
			in.State.P.X += 2
			in.Stamp = min(in.Stamp, until)
		}
	}, func(float64, *quad.State) {})
	if g.Mode() != Landed || !w.landed || w.hardest > 0.9 {
		t.Errorf("%v, met the floor at %.2f m/s, expected a landing at 0.9 at most", g.Mode(), w.hardest)
	}
}

// Where the frame has moved down, so has the floor: a robot that is believed below the ground has not met it yet.
func TestLandsBlindWhereTheFrameHasMovedDown(t *testing.T) {
	for _, last := range []float64{0.2, 0.5, 0.8} { // m, the true height of the last sample
		g, p := newGuard(t), still{quad.Reference{P: so3.Vec3{Z: 1}}}
		w := &world{body: newBody(p.r.P, so3.Vec3{}, so3.Identity())}
		until := math.Inf(1)
		flyGuarded(g, w, PathFollower{newLaw(t), p}, 14, func(at float64, in *Input) {
			const moved, lands, by = 2.0, 3.5, 0.7
			if at > lands {
				g.Land()
			}
			if at > lands && in.State.P.Z < last {
				until = min(until, in.Stamp)
			}
			if at > moved {
				in.State.P.Z -= by
			}
			in.Stamp = min(in.Stamp, until)
		}, func(float64, *quad.State) {})
		if g.Mode() != Landed || !w.landed || w.hardest > 1 {
			t.Errorf("last seen at %.1f m: %v, met the floor at %.2f m/s, expected a landing at 1 at most", last,
				g.Mode(), w.hardest)
		}
	}
}

// pumping asks for a thrust that goes up and down, as a policy does that shakes.
type pumping struct{ quad.Controller }

func (p pumping) Command(t float64, s *quad.State) quad.Command {
	c := p.Controller.Command(t, s)
	c.Thrust += 7 * math.Sin(2*math.Pi*4*t)
	return c
}

// A robot that shakes is known as well as one that does not: neither the velocity that its source made of positions,
// which is late, nor the rotors, which pull less in the mean than is commanded, lead the belief astray.
func TestKnowsARobotThatShakes(t *testing.T) {
	g, p := newGuard(t, func(c *Config) { c.Response.ThrustDelay = 0 }), still{quad.Reference{P: so3.Vec3{Z: 1}}}
	w := &world{body: newBody(p.r.P, so3.Vec3{}, so3.Identity())}
	var before so3.Vec3
	worst, wind, n := 0.0, 0.0, 0.0
	flyGuarded(g, w, pumping{PathFollower{newLaw(t), p}}, 8, func(_ float64, in *Input) {
		in.State.V, before = before, in.State.V
	}, func(at float64, s *quad.State) {
		if at > 4 {
			worst = max(worst, math.Abs(g.belief.present(at).state.V.Z-s.V.Z))
			wind, n = wind+g.belief.wind.Z, n+1
		}
	})
	if worst > 0.03 || math.Abs(wind/n) > 0.05 || g.Mode() != Flying {
		t.Errorf("%v, off by %.3f m/s, with a wind of %.3f m/s² that is none", g.Mode(), worst, wind/n)
	}
}

// The wind is known down to the floor: late states are carried on in it.
func TestKnowsTheWindUntilItStands(t *testing.T) {
	g := newGuard(t)
	w := &world{body: newBody(so3.Vec3{Z: 1}, so3.Vec3{}, so3.Identity())}
	w.wind = [3]float64{2, 0, 0}
	low := 0
	flyGuarded(g, w, PathFollower{newLaw(t), still{quad.Reference{P: so3.Vec3{Z: 1}}}}, 12, func(at float64, _ *Input) {
		if at == 4 {
			g.Land()
		}
	}, func(at float64, s *quad.State) {
		if falls := s.P.Z < 0.17 && s.V.Z < -0.3; falls && at > 4 {
			if low++; g.belief.wind.X < 1 {
				t.Fatalf("at %.2f m a wind of %.2f m/s²", s.P.Z, g.belief.wind.X)
			}
		}
	})
	if low == 0 || g.belief.wind != (so3.Vec3{}) {
		t.Errorf("%d ticks low, at rest a wind of %v", low, g.belief.wind)
	}
}

// The autopilot holds the last command until it lands by itself: that one does not turn the robot any further.
func TestLastCommandBeforeSilenceIsCalm(t *testing.T) {
	g, p := newGuard(t), eight{}
	w := &world{body: newBody(p.At(0).P, p.At(0).V, so3.Identity())}
	var last quad.Command
	flyGuarded(g, w, PathFollower{newLaw(t), p}, 5, func(at float64, in *Input) {
		if in.AutopilotLands = true; at > 3 {
			in.Stamp = 3
		}
	}, func(float64, *quad.State) {
		if !g.Silent() {
			last = g.sent
		}
	})
	if n := last.Rates.Norm(); !g.Silent() || n > 0.6 || math.Abs(last.Thrust-quad.Gravity) > 2 {
		t.Errorf("silent %v after %+v", g.Silent(), last)
	}
}

// A hidden delay of which only a part was found is found to the end. What was learned of turns under it is forgotten.
func TestHiddenDelayIsFoundToTheEnd(t *testing.T) {
	g, p := newGuard(t, func(c *Config) { c.Hold = 100 }), eight{}
	w := &world{body: newBody(p.At(0).P, p.At(0).V, so3.Identity())}
	var held []Input
	cut := false
	flyGuarded(g, w, PathFollower{newLaw(t), p}, 8, func(at float64, in *Input) {
		held = append(held, *in)
		if at >= 3 {
			in.State = held[max(len(held)-1-7, 0)].State
		}
	}, func(at float64, _ *quad.State) {
		if g.hiddenDelay > 0 && !cut {
			if cut = true; g.detector.bias != (so3.Vec3{}) || g.belief.plant.bias != (so3.Vec3{}) {
				t.Errorf("at %.2f s a bias of %v", at, g.detector.bias)
			}
			s, believed := w.state(), g.belief.present(at).state
			if off := believed.V.Sub(s.V).Norm(); off > 0.1 || believed.P.Sub(s.P).Norm() > 0.03 {
				t.Errorf("as it was found, the belief was off by %.2f m/s", off)
			}
			g.hiddenDelay = 0.02
		}
	})
	if !cut || math.Abs(g.hiddenDelay-0.14) > 0.045 {
		t.Errorf("a hidden delay of %.3f s, expected 0.14", g.hiddenDelay)
	}
}

// Where velocities lie, the law lands on positions: the robot is neither blind nor led astray.
func TestLandsOnPositionsWhereVelocitiesLie(t *testing.T) {
	for name, sign := range map[string]so3.Vec3{"reversed": {X: -1, Y: -1, Z: -1}, "one axis": {X: 1, Y: -1, Z: 1}} {
		t.Run(name, func(t *testing.T) {
			g, p := newGuard(t), eight{}
			w := &world{body: newBody(p.At(0).P, p.At(0).V, so3.Identity())}
			w.wind = [3]float64{0.5, 1, 0}
			found := false
			flyGuarded(g, w, PathFollower{newLaw(t), p}, 15, func(at float64, in *Input) {
				if v := &in.State.V; at >= 3 {
					*v = so3.Vec3{X: v.X * sign.X, Y: v.Y * sign.Y, Z: v.Z * sign.Z}
				}
			}, func(at float64, s *quad.State) {
				if found = found || g.Count(Inconsistent) > 0; !found || w.landed {
					return
				}
				if off := g.belief.present(at).state.V.Sub(s.V).Norm(); g.Stage() == Blind || off > 0.2 {
					t.Fatalf("at %.2f s: %v, the velocity off by %.2f m/s", at, g.Stage(), off)
				}
			})
			if !found || g.Mode() != Landed || w.hardest > 0.6 {
				t.Errorf("%v for %v, met the floor at %.2f m/s", g.Mode(), g.Tripped(), w.hardest)
			}
		})
	}
}

// States that are not believed teach nothing of what turns the robot.
func TestLearnsNoTurnsOfRejectedStates(t *testing.T) {
	g, p, first := newGuard(t), eight{}, None
	w := &world{body: newBody(p.At(0).P, p.At(0).V, so3.Identity())}
	flyGuarded(g, w, PathFollower{newLaw(t), p}, 3.5, func(at float64, in *Input) {
		if at >= 3 { // elsewhere, and turning
			in.State.P.X++
			in.State.Q = in.State.Q.Mul(so3.Exp(so3.Vec3{X: 0.8 * (at - 3)}))
		}
	}, func(float64, *quad.State) {
		if first == None {
			first = g.Violation()
		}
	})
	last := g.Violation() // of a place and turns that are both wrong
	if n := g.detector.bias.Norm(); first != Jump || last != Jump && last != Disobeyed || n > minBias {
		t.Errorf("first %v, then %v, a turn of %.2f rad/s learned", first, last, n)
	}
}

// Where states return after a moment in which the robot hardly braked, the law does not tilt it far on the way back to
// where it should have stopped.
func TestBrakesGentlyWhereStatesReturn(t *testing.T) {
	for v, limit := range map[float64]float64{1: 0.335, 1.5: 0.38} { // m/s, rad
		g := newGuard(t)
		w := &world{body: newBody(so3.Vec3{X: -3, Z: 2}, so3.Vec3{X: v}, so3.Identity())}
		most := 0.0
		flyGuarded(g, w, PathFollower{newLaw(t), leaving{v}}, 4, func(at float64, in *Input) {
			if at > 2 && at < 2.2 {
				in.State.Q = in.State.Q.Mul(so3.Exp(so3.Vec3{Y: 0.36}))
			}
		}, func(at float64, s *quad.State) {
			if g.Mode() == Holding {
				most = max(most, s.Q.Tilt())
			}
		})
		if most > limit || g.Count(Jump) == 0 {
			t.Errorf("at %g m/s: tilted by %.3f rad, at most %g", v, most, limit)
		}
	}
}

// leaving goes along x at a speed, m/s.
type leaving struct{ v float64 }

func (l leaving) At(t float64) quad.Reference {
	return quad.Reference{P: so3.Vec3{X: l.v*t - 3, Z: 2}, V: so3.Vec3{X: l.v}}
}
