package guard

import (
	"math"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// wrongSources are faults of a tracker from 3 s on; each is found within some time.
func wrongSources() []wrongSource {
	var last quad.State
	var held []Input
	return []wrongSource{
		{"sound", None, 0, func(float64, *Input) {}},
		{"frozen", Frozen, 0.1, func(at float64, in *Input) {
			if at < 3 {
				last = in.State
			}
			in.State = last
		}},
		{"frozen, with noise", Jump, 0.3, func(at float64, in *Input) {
			if at < 3 {
				last = in.State
				return
			}
			in.State.P = last.P.Add(trackerNoise(int(at * 50)))
			in.State.Q, in.State.V = last.Q, so3.Vec3{}
		}},
		{"mirrored velocity", Inconsistent, 0.3, func(at float64, in *Input) {
			if at >= 3 {
				in.State.V.X = -in.State.V.X
			}
		}},
		{"mirrored roll", Disobeyed, 0.5, func(at float64, in *Input) {
			if at >= 3 {
				in.State.Q.X = -in.State.Q.X
			}
		}},
		{"drift", Drifting, 0.5, func(at float64, in *Input) {
			if at >= 3 {
				in.State.P.Y += 0.15 * (at - 3)
				in.State.V.Y += 0.15
			}
		}},
		{"hidden delay", Delayed, 0.3, func(at float64, in *Input) {
			held = append(held, *in)
			if n := len(held); at >= 3 {
				in.State = held[max(n-5, 0)].State
			}
		}},
	}
}

type wrongSource struct {
	name   string
	cause  Cause
	within float64 // s
	spoil  func(at float64, in *Input)
}

// A source that is wrong, though each of its states is well-formed, trips the guard within a time; a sound one never.
func TestFindsSourcesThatAreWrong(t *testing.T) {
	for _, c := range wrongSources() {
		t.Run(c.name, func(t *testing.T) {
			g, found := newGuard(t), math.Inf(1)
			p := eight{}.At(0)
			w := &world{body: newBody(p.P, p.V, so3.Identity())}
			seen := map[Cause]bool{}
			flyGuarded(g, w, PathFollower{newLaw(t), eight{}}, 5, c.spoil, func(at float64, _ *quad.State) {
				if v := g.Violation(); v != None && at > 0 {
					seen[v] = true
					found = min(found, at)
				}
			})
			if c.cause == None {
				if len(seen) != 0 {
					t.Errorf("a sound source: %v", seen)
				}
				return
			}
			if !seen[c.cause] || found < 3 || found > 3+c.within+0.02 {
				t.Errorf("found %v, first at %.2f s; expected %v within %g s after 3 s", seen, found, c.cause, c.within)
			}
		})
	}
}

// A mirrored roll shows within 0.3 s from any phase of the figure-eight: by a jump where the robot is tilted, else by
// turns.
func TestFindsMirroredRollFromAnyPhase(t *testing.T) {
	for k := range 20 {
		onset, found := 3+0.1*float64(k), math.Inf(1)
		g, p := newGuard(t), eight{}.At(0)
		w := &world{body: newBody(p.P, p.V, so3.Identity())}
		flyGuarded(g, w, PathFollower{newLaw(t), eight{}}, onset+1, func(at float64, in *Input) {
			if at >= onset {
				in.State.Q.X = -in.State.Q.X
			}
		}, func(at float64, _ *quad.State) {
			if g.Violation() != None {
				found = min(found, at-onset)
			}
		})
		if found < 0 || found > 0.3 {
			t.Errorf("from %.1f s on: found after %.2f s", onset, found)
		}
	}
}

// The transitions are a state machine: no pair of mode and event twice, every mode can be reached, and from every mode
// in which motors turn a landing or the autopilot can.
func TestTransitions(t *testing.T) {
	seen := map[[2]uint8]bool{}
	to := map[Mode][]Mode{}
	for _, x := range Transitions {
		k := [2]uint8{uint8(x.From), uint8(x.On)}
		if seen[k] || x.From == x.To || x.From >= modeCount || x.To >= modeCount || x.On >= eventCount {
			t.Errorf("%v on %v to %v", x.From, x.On, x.To)
		}
		seen[k] = true
		to[x.From] = append(to[x.From], x.To)
	}
	reach := func(from Mode) map[Mode]bool {
		r := map[Mode]bool{from: true}
		for queue := []Mode{from}; len(queue) > 0; queue = queue[1:] {
			for _, m := range to[queue[0]] {
				if !r[m] {
					r[m] = true
					queue = append(queue, m)
				}
			}
		}
		return r
	}
	for m := range modeCount {
		r := reach(m)
		if !reach(Disarmed)[m] || !r[Disarmed] || m.Aloft() && (!r[Landed] || !r[Autopilot]) {
			t.Errorf("from %v: %v", m, r)
		}
		if m.String() == "unknown" {
			t.Errorf("mode %d has no name", m)
		}
	}
}

// An attitude that leapt is not believed, however small the leap: not for as long as another jump is not. What is there
// in the end is another frame. One that is back before is the robot's.
func TestLeapOfTheAttitude(t *testing.T) {
	for name, c := range map[string]struct {
		ticks     int // that it lasts
		elsewhere bool
	}{"for a moment": {20, false}, "for ever": {60, true}} {
		g := newGuard(t)
		healthy(t, g, 50)
		for k := range 60 {
			in := hovering(50 + k)
			if k < c.ticks {
				in.State.Q = so3.Exp(so3.Vec3{X: 0.1})
				in.AttitudeLeapt = k < 29 // for 0.6 s, as control says it
			}
			g.Tick(&in)
			if k < 25 && (g.Stage() != Blind && k < c.ticks || g.Tripped() != Jump) {
				t.Fatalf("%s: tick %d: %v for %v", name, k, g.Stage(), g.Tripped())
			}
			if k == 0 && g.belief.state.Q.Tilt() > 0.01 {
				t.Errorf("%s: believed by %.2f rad", name, g.belief.state.Q.Tilt())
			}
		}
		if g.belief.elsewhere != c.elsewhere || g.belief.rejected {
			t.Errorf("%s: elsewhere %v, rejected %v", name, g.belief.elsewhere, g.belief.rejected)
		}
	}
}
