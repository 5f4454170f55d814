package control

import (
	"math"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
)

// Samples off the track are left out for a moment. So are those of a source that repeats itself, for less: then the
// guard is to see it.
func TestTrackLeavesOutWhatIsNotOnIt(t *testing.T) {
	const ms = int64(1e6)
	at := func(k int64) quad.State {
		return quad.State{P: so3.Vec3{X: 5 * 0.005 * float64(k), Z: 1}, Q: so3.Identity()}
	}
	for name, c := range map[string]struct {
		spoil         func(k int64, s *quad.State)
		left, jumps   int
		mixed, behind bool
	}{
		"straight on": {func(int64, *quad.State) {}, 0, 0, false, false},
		"a reflection": {func(k int64, s *quad.State) {
			if k == 100 || k == 101 {
				s.P.Y += 0.05
			}
		}, 2, 0, false, false},
		"a turned one": {func(k int64, s *quad.State) {
			if k == 100 {
				s.Q = so3.Exp(so3.Vec3{X: 0.2})
			}
		}, 1, 0, false, false},
		"a jump": {func(k int64, s *quad.State) {
			if k >= 100 {
				s.P.Y += 0.2
			}
		}, 4, 1, false, false},
		"two sources": {func(k int64, s *quad.State) {
			if k >= 100 && k%2 == 0 {
				s.P.Y += 0.05
			}
		}, 100, 0, true, false},
		"frozen": {func(k int64, s *quad.State) {
			if k >= 100 {
				*s = at(100)
			}
		}, 3, 1, false, true},
		"places in whole millimetres, attitudes anew": {func(k int64, s *quad.State) {
			s.P.X, s.Q = .001*float64(k/7), so3.Exp(so3.Vec3{X: 1e-4 * float64(k)})
		}, 0, 0, false, true},
		"each sample twice": {func(k int64, s *quad.State) { *s = at(k &^ 1) }, 150, 0, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			var x track
			left, jumps := 0, 0
			for k := range int64(300) {
				s := at(k)
				c.spoil(k, &s)
				switch x.add(&s, 5*ms*(k+1)) {
				case leftOut, again:
					left++
				case jumped:
					jumps++
				}
			}
			if left != c.left || !c.behind && jumps != c.jumps || x.mixed.found(300*5*ms) != c.mixed {
				t.Errorf("%d left out, %d jumps, two sources: %v", left, jumps, x.mixed.found(300*5*ms))
			}
		})
	}
}

// Of a source that sends each pose twice nobody says that samples are wrong.
func TestPosesThatComeTwiceAreNotWrong(t *testing.T) {
	f, n, before := newClosed(t, defaults(), "a.vnd"), 0, Sample{}
	f.advance(4, func(m *Sample) bool {
		if v := f.loop.Validity(); v != Valid {
			t.Fatalf("sample %d: %s", n, f.loop.config.ExplainInvalid("pose", &before, v))
		}
		if n++; n%2 == 0 {
			m.State = before.State
		}
		before = *m
		return true
	})
	if last := f.ticks[len(f.ticks)-1]; f.sim.Crashed() || last.Cause != guard.None {
		t.Errorf("crashed %v, %v", f.sim.Crashed(), last.Cause)
	}
}

// A pose that comes again, until the guard knows that its source is frozen, is no robot that stopped: the policy flies
// on from the one before. Quick turns would leave an attitude that the guard does not know.
func TestFrozenPoseIsNotAnswered(t *testing.T) {
	for k := range 8 {
		f := newClosed(t, defaults(), "a.vnd")
		f.loop.SetReference(taskReference(t, "track"))
		f.advance(7.4+0.05*float64(k), nil) // about where it is slow
		flown, most, n := len(f.ticks), 0.0, 0
		for _, k := range f.ticks[flown-50:] {
			most = max(most, k.Command.Rates.Norm())
		}
		var first *Sample
		f.advance(0.2, func(m *Sample) bool {
			if first == nil {
				before := *m
				first = &before
			}
			m.State = first.State
			return true
		})
		for _, k := range f.ticks[flown:] {
			if !k.Stage.PolicyFlies() {
				break
			}
			n++
			if w := k.Command.Rates.Norm(); w > most+0.1 {
				t.Errorf("%d ticks after it froze the policy turns by %.1f rad/s, at most %.1f before", n, w, most)
			}
		}
		if n == 0 || n > 6 {
			t.Errorf("the policy flies on for %d ticks", n)
		}
	}
}

// Of two sources in turn one is flown, and the robot lands.
func TestLandsOnOneOfTwoSources(t *testing.T) {
	f := newClosed(t, defaults(), "a.vnd")
	f.advance(4, nil)
	drift, second := 0.0, false
	f.advance(9, func(m *Sample) bool {
		drift += 0.001
		if second = !second; second {
			m.State.P.X += drift
		}
		return true
	})
	last := f.ticks[len(f.ticks)-1]
	if f.sim.Crashed() || last.Cause != guard.Jump || f.loop.Guard().Mode() != guard.Landed {
		t.Errorf("%v for %v, crashed %v", f.loop.Guard().Mode(), last.Cause, f.sim.Crashed())
	}
}

// A task goes on from where its path is nearest, slowly at first, and is on its path all the time.
func TestTaskResumesOnItsPath(t *testing.T) {
	c := taskReference(t, "track")
	c.start = 1
	before := c.at(5)
	c.halt(before.P.Add(so3.Vec3{Z: 0.1}), 5.3)
	if r := c.at(6); r.P.Sub(before.P).Norm() > 0.1 || r.V.Norm() != 0 {
		t.Fatalf("it waits at %v, %v m/s, expected at %v", r.P, r.V, before.P)
	}
	c.goOn(7)
	last := c.at(7)
	for k := 1; k < 300; k++ {
		now := 7 + 0.02*float64(k)
		c.goOn(now)
		r := c.at(now)
		if step := r.P.Sub(last.P).Sub(r.V.Add(last.V).Scale(0.01)).Norm(); step > 2e-3 {
			t.Fatalf("at %.2f s it jumps by %.4f m", now, step)
		}
		if gain := r.V.Sub(last.V).Sub(r.A.Add(last.A).Scale(0.01)).Norm(); gain > 0.02 {
			t.Fatalf("at %.2f s the velocity jumps by %.4f m/s", now, gain)
		}
		last = r
	}
	if !c.resume.over || math.Abs(last.V.Norm()-c.Path.At(13-0.02-c.start).V.Norm()) > 1e-6 {
		t.Errorf("it is still %+v, at %v m/s", c.resume, last.V)
	}
}

// What is given back to a policy in a wind begins as far from it as it usually stays behind.
func TestBeginsAsFarBehindAsUsual(t *testing.T) {
	l := newLoop(t, defaults())
	l.SetPolicy(loadedPolicy(t, "a.vnd", 50))
	l.SetReference(taskReference(t, "hover"))
	l.task.start = 0
	r := l.task.at(1)
	behind := so3.Vec3{X: 0.1, Y: -0.05}
	l.seen = quad.State{P: r.P.Sub(behind), Q: so3.Identity()}
	for range 500 {
		l.learnLag(1)
	}
	l.seen.V = so3.Vec3{X: 1}
	l.seen.P = so3.Vec3{X: 3, Z: 1}
	l.learnLag(1) // a robot on its way says nothing
	l.startFromHere()
	if off := l.here.P.Sub(l.seen.P).Sub(behind).Norm(); off > 0.01 {
		t.Errorf("it begins %v from the robot, expected %v", l.here.P.Sub(l.seen.P), behind)
	}
}

// The way back from where the guard held takes its time.
func TestWayBackTakesItsTime(t *testing.T) {
	l := newLoop(t, defaults())
	l.SetPolicy(loadedPolicy(t, "a.vnd", 50))
	l.SetReference(taskReference(t, "hover"))
	l.task.start = 0
	l.seen = quad.State{P: l.task.at(1).P.Add(so3.Vec3{X: 0.05}), Q: so3.Identity()}
	l.startFromHere()
	l.continuity(1)
	for now, last := 1.0, l.task.at(1); now < 1+backTime; now += 0.02 {
		r := l.task.at(now)
		if a := r.V.Sub(last.V).Norm() / 0.02; a > 0.2 {
			t.Fatalf("%.2f s after the return: %.2f m/s²", now-1, a)
		}
		last = r
	}
}
