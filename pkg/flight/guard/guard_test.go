package guard

import (
	"cmp"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

func newGuard(t testing.TB, change ...func(*Config)) *Guard {
	t.Helper()
	var c Config
	param.Default(&c)
	for _, f := range change {
		f(&c)
	}
	g, err := New(c, defaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// asked is what a healthy policy asks for in these tests: told apart from whatever the law would.
var asked = quad.Command{Thrust: 9.5, Rates: so3.Vec3{X: 0.01, Y: 0.02, Z: 0.03}}

// hovering is the input of tick k of a robot that hovers at 1 m.
func hovering(k int) Input {
	now := 100 + 0.02*float64(k)
	s := quad.State{P: so3.Vec3{Z: 1}.Add(trackerNoise(k)), Q: so3.Identity()}
	return Input{Now: now, Stamp: now - 0.01, State: s, Command: asked}
}

// trackerNoise is that of a tracker, m: no state of a robot in the air comes twice.
func trackerNoise(k int) so3.Vec3 {
	x := float64(k*7919%1000)/1000 - 0.5
	return so3.Vec3{X: 2e-4 * x, Y: -1e-4 * x, Z: 1e-4 * x}
}

func healthy(t *testing.T, g *Guard, ticks int) {
	t.Helper()
	for k := range ticks {
		in := hovering(k)
		if c := g.Tick(&in); c != asked || g.Stage() != Policy || g.Tripped() != None {
			t.Fatalf("tick %d: %+v in stage %v", k, c, g.Stage())
		}
	}
}

var breaches = []struct {
	name  string
	cause Cause
	stage Stage
	spoil func(*Input)
}{
	{"NaN thrust", NotFinite, Hold, func(in *Input) { in.Command.Thrust = math.NaN() }},
	{"infinite rate", NotFinite, Hold, func(in *Input) { in.Command.Rates.Y = math.Inf(-1) }},
	{"old state", Stale, Blind, func(in *Input) { in.Stamp = in.Now - 0.101 }},
	{"state from the future", Stale, Blind, func(in *Input) { in.Stamp = in.Now + 0.2 }},
	{"no stamp", Stale, Blind, func(in *Input) { in.Stamp = math.Inf(-1) }},
	{"NaN position", Invalid, Blind, func(in *Input) { in.State.P.X = math.NaN() }},
	{"zero quaternion", Invalid, Blind, func(in *Input) { in.State.Q = so3.Quat{} }},
	{"degrees in a quaternion", Invalid, Blind, func(in *Input) { in.State.Q = so3.Quat{W: 1, X: 0.2} }},
	{"jump", Jump, Blind, func(in *Input) { in.State.P.X += 0.5 }},
	{"turned frame", Jump, Blind, func(in *Input) { in.State.Q = so3.FromEuler(0, 0, math.Pi/2) }},
	{"millimetres", Jump, Blind, func(in *Input) { in.State.P = in.State.P.Scale(1000) }},
	{"spike of the velocity", Jump, Blind, func(in *Input) { in.State.V.Z = 6.1 }},
	{"at the fence", Fence, Hold, func(in *Input) { in.State.P.Y += 0.054 }},
	{"no room to stop", Fence, Hold, func(in *Input) { in.State.V.Y = 0.55 }},
	{"missed ticks", Missed, Hold, func(in *Input) { in.Now, in.Stamp = in.Now+0.1, in.Stamp+0.1 }},
	{"no frames", Unseen, Hold, func(in *Input) { in.FrameAge = 0.201 }},
	{"frames of the future", Unseen, Hold, func(in *Input) { in.FrameAge = -0.201 }},
	{"an age that is no number", Unseen, Hold, func(in *Input) { in.FrameAge = math.NaN() }},
	{"clock set back", Missed, Hold, func(in *Input) { in.Now, in.Stamp = in.Now-50, in.Stamp-50 }},
}

func TestEngagesWithinOneTick(t *testing.T) {
	for _, b := range breaches {
		t.Run(b.name, func(t *testing.T) {
			g := newGuard(t, func(c *Config) { c.FenceMax, c.MaxTilt = []float64{4, 0.25, 8}, 1 })
			healthy(t, g, 50)
			in := hovering(50)
			b.spoil(&in)
			if c := g.Tick(&in); c == asked || !within(defaultLimits(), c) {
				t.Errorf("went out: %+v", c)
			}
			if g.Stage() != b.stage || g.Tripped() != b.cause || g.Count(b.cause) != 1 {
				t.Errorf("stage %v for %v (%d), want %v for %v", g.Stage(), g.Tripped(), g.Count(b.cause), b.stage,
					b.cause)
			}
		})
	}
}

// A robot that tilts, or speeds up, as commanded trips the guard at the limit.
func TestTripsAtTheLimitsOfMotion(t *testing.T) {
	wide := func(c *Config) { c.FenceMin, c.FenceMax = []float64{-500, -500, -500}, []float64{500, 500, 500} }
	t.Run("tilt", func(t *testing.T) {
		g := newGuard(t, wide)
		for k := range 40 {
			in := hovering(k)
			in.State.P.Z += 100
			in.State.Q = so3.FromEuler(0.05*float64(k), 0, 0)
			in.Command.Rates = so3.Vec3{X: 2.5}
			g.Tick(&in)
			if tilted := 0.05*float64(k) > 1.2; tilted != (g.Tripped() == Tilt) {
				t.Fatalf("at %.2f rad: %v", 0.05*float64(k), g.Tripped())
			}
		}
	})
	t.Run("speed", func(t *testing.T) {
		g := newGuard(t, wide)
		for k := range 80 {
			in := hovering(k)
			at := 0.02 * float64(k)
			in.State.P.Z, in.State.V.Z = 100+5*at*at/2, 5*at
			in.Command.Thrust = 14.81
			g.Tick(&in)
			if fast := 5*at > 6; fast != (g.Tripped() == Speed) {
				t.Fatalf("at %.2f m/s: %v", 5*at, g.Tripped())
			}
		}
	})
}

// A trip lasts until all was well for a second; the same cause within a minute lands. A reset waits until all is well.
func TestReturnsOnceByItself(t *testing.T) {
	for _, b := range breaches {
		if b.cause == Missed || b.cause == Fence { // is over at once; comes again at once
			continue
		}
		t.Run(b.name, func(t *testing.T) {
			g := newGuard(t)
			w := &world{body: newBody(so3.Vec3{Z: 1}, so3.Vec3{}, so3.Identity())}
			var refused error
			spoil := func(at float64, in *Input) {
				if at == 2 || at == 10 {
					b.spoil(in)
				}
				if at == 2.02 {
					refused = g.Reset()
				}
			}
			see := func(at float64, _ *quad.State) {
				policy := at > 0 && at <= 2 || at > 3.06 && at <= 10
				if at > 0 && policy != g.Stage().PolicyFlies() && (at < 2.98 || at > 3.3) ||
					!g.Stage().PolicyFlies() && at > 2 && g.Tripped() != b.cause {
					t.Fatalf("at %.2f s: %v for %v", at, g.Stage(), g.Tripped())
				}
			}
			flyGuarded(g, w, PathFollower{newLaw(t), still{quad.Reference{P: so3.Vec3{Z: 1}}}}, 30, spoil, see)
			if refused == nil || !strings.Contains(refused.Error(), b.cause.String()) {
				t.Errorf("reset during %v: %v", b.cause, refused)
			}
			if g.Mode() != Landed || w.hardest > 0.6 {
				t.Errorf("%v for %v, met the floor at %.2f m/s", g.Mode(), g.Tripped(), w.hardest)
			}
			if err := g.Reset(); err != nil || g.Mode() != Ready {
				t.Errorf("reset on the ground: %v, %v", g.Mode(), err)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	g, l := newGuard(t, func(c *Config) { c.Response = Response{} }), defaultLimits()
	healthy(t, g, 10)
	for k := 10; k < 45; k++ {
		in := hovering(k)
		in.Command = quad.Command{Thrust: 9.8, Rates: so3.Vec3{Z: 50}}
		in.State.Q = so3.FromEuler(0, 0, l.MaxYawRate*max(0.02*float64(k-10)-0.01, 0))
		c := g.Tick(&in)
		if k <= 39 && (c != quad.Command{Thrust: 9.8, Rates: so3.Vec3{Z: l.MaxYawRate}} || g.Stage() != Limited) {
			t.Fatalf("tick %d: %+v in stage %v", k, c, g.Stage())
		}
		if k > 40 && (g.Mode() != Holding || g.Tripped() != Saturated) {
			t.Fatalf("tick %d, 0.6 s of it: stage %v for %v", k, g.Stage(), g.Tripped())
		}
	}
}

func TestOnTheGround(t *testing.T) {
	l := defaultLimits()
	off := quad.Command{Thrust: l.MinThrust}
	g := newGuard(t)
	ground := func(k int) Input {
		in := hovering(k)
		in.State.P.Z = 0.02
		return in
	}
	for k := range 10 { // no state yet
		in := ground(k)
		in.Stamp = math.Inf(-1)
		if c := g.Tick(&in); c != off || g.Stage() != Off || g.Tripped() != Stale {
			t.Fatalf("before the first state: %+v, %v, %v", c, g.Stage(), g.Tripped())
		}
	}
	for k := 10; k < 40; k++ { // nor does the policy lift it once the state is there
		in := ground(k)
		if c := g.Tick(&in); c != off || g.Mode() != Ready {
			t.Fatalf("on the ground: %+v, %v", c, g.Mode())
		}
	}
	if err := g.Reset(); err != nil {
		t.Fatal(err)
	}
	if in := ground(40); g.Tick(&in) != off || g.Mode() != Ready {
		t.Errorf("reset on the ground: %v", g.Mode())
	}
	lost := ground(41)
	lost.Stamp -= 1
	if c := g.Tick(&lost); c != off {
		t.Errorf("state lost on the ground: %+v", c)
	}
	broken := ground(42)
	broken.Command.Thrust = math.NaN()
	if c := g.Tick(&broken); c != off {
		t.Errorf("a NaN lifts a robot from the ground: %+v", c)
	}
	g = newGuard(t)
	in := hovering(0)
	in.State.P.X = 5
	if g.Tick(&in); g.Stage() != Hold || g.Tripped() != Fence {
		t.Errorf("the first state is in the air, outside: %v for %v", g.Stage(), g.Tripped())
	}
}

// world is a body above a floor, seen by a tracker with some latency.
type world struct {
	*body
	hardest float64 // fastest fall at which it met the floor, m/s
	landed  bool
	hz      int     // ticks a second; 0: 50
	slope   float64 // of the floor about y, rad
	load    float64 // that hangs from a slack cable, as a share of the robot
	cable   float64 // m
	cutOff  bool    // commands do not reach it
	newest  quad.Command
}

// receive returns the command that reached the robot last.
func (w *world) receive(c quad.Command) quad.Command {
	if !w.cutOff {
		w.newest = c
	}
	return w.newest
}

// flyGuarded runs w.hz ticks a second for some seconds: policy asks, spoil changes the guard's input, see the truth.
func flyGuarded(g *Guard, w *world, policy quad.Controller, seconds float64, spoil func(t float64, in *Input),
	see func(t float64, s *quad.State)) {
	last, hz := w.state(), cmp.Or(w.hz, 50)
	for k := range int(seconds * float64(hz)) {
		t := float64(k) * (1 / float64(hz))
		s := w.state()
		see(t, &s)
		in := Input{Now: t, Stamp: t - 1/float64(hz), State: last, Command: policy.Command(t, &last)}
		if k == 0 {
			in.Stamp = t
		}
		spoil(t, &in)
		c := w.receive(g.Tick(&in))
		for range 1000 / hz {
			w.move(c)
		}
		last = s
		last.P = last.P.Add(trackerNoise(k))
	}
}

func intact(float64, *Input) {}

// outward leads out of the geofence at speed.
type outward struct{ v so3.Vec3 }

func (o outward) At(t float64) quad.Reference {
	return quad.Reference{P: so3.Vec3{Z: 2}.Add(o.v.Scale(t)), V: o.v}
}

// A policy that flies out at any speed below the limit, with the wind, stays inside; then the law holds, and lands.
func TestStaysInsideTheFence(t *testing.T) {
	for _, v := range []so3.Vec3{{X: 1}, {X: 4}, {X: -3, Y: 3}, {Y: 5}, {Z: 1.5}, {X: 2, Y: 2, Z: 1}} {
		g := newGuard(t)
		w := &world{body: newBody(so3.Vec3{Z: 2}, so3.Vec3{}, so3.Identity())}
		w.wind = [3]float64{1.5, 0.5, 0}
		var last quad.State
		flyGuarded(g, w, PathFollower{newLaw(t), outward{v}}, 25, intact, func(at float64, s *quad.State) {
			if !g.fence.contains(s.P) {
				t.Fatalf("%v: outside at %v after %.2f s", v, s.P, at)
			}
			last = *s
		})
		if g.Tripped() != Fence || g.Stage() != Off || last.P.Z > 0 || w.hardest > 0.8 {
			t.Errorf("%v: %v for %v, at %v, met the floor at %.2f m/s", v, g.Stage(), g.Tripped(), last.P, w.hardest)
		}
	}
}

// A tumbling robot is caught, once more when the policy makes it tumble again, and then lands.
func TestCatchesATumble(t *testing.T) {
	g := newGuard(t)
	w := &world{body: newBody(so3.Vec3{Z: 2}, so3.Vec3{}, so3.Identity())}
	spin := func(at float64, in *Input) {
		if at > 1 {
			in.Command = quad.Command{Thrust: 10, Rates: so3.Vec3{X: 5.9}}
		}
	}
	flyGuarded(g, w, PathFollower{newLaw(t), outward{}}, 20, spin, func(at float64, s *quad.State) {
		if s.P.Z < 0.8 && g.Mode() != Landing && g.Mode() != Landed {
			t.Fatalf("fell to %.2f m", s.P.Z)
		}
	})
	if g.Tripped() != Tilt || g.Mode() != Landed || w.hardest > 0.6 {
		t.Errorf("%v for %v, met the floor at %.2f m/s", g.Mode(), g.Tripped(), w.hardest)
	}
}

// Without any state the robot comes down softly, although from a fast flight in wind.
func TestLandsBlind(t *testing.T) {
	g := newGuard(t)
	w := &world{body: newBody(so3.Vec3{X: 1, Z: 1.5}, so3.Vec3{}, so3.Identity())}
	w.wind = [3]float64{1, -0.5, 0}
	p := eight{}
	w.p, w.v = [3]float64{p.At(0).P.X, p.At(0).P.Y, 1}, [3]float64{p.At(0).V.X, p.At(0).V.Y}
	lose := func(at float64, in *Input) {
		if at > 4.3 {
			in.Stamp = 4.28
		}
	}
	var stages []Stage
	flyGuarded(g, w, PathFollower{newLaw(t), p}, 15, lose, func(at float64, s *quad.State) {
		stages = append(stages, g.Stage())
		if lean := s.Q.Tilt(); at > 5.5 && !w.landed && lean > 0.35 {
			t.Fatalf("tilted by %.2f rad at %.2f s", lean, at)
		}
	})
	if !w.landed || w.hardest > 0.8 || g.Tripped() != Stale || g.Stage() != Off {
		t.Errorf("landed %t at %.2f m/s; %v for %v", w.landed, w.hardest, g.Stage(), g.Tripped())
	}
	for k, s := range stages { // stale by the guard's own clock: 100 ms after 4.28 s
		if at := float64(k-1) * 0.02; at > 4.381 && s <= Limited {
			t.Fatalf("the policy flew at %.2f s", at)
		}
	}
}

// A drop-out, a tracker that jumps away and comes back, and one that jumps for good leave the robot where it is.
func TestHoldsThroughFaultsOfTheTracker(t *testing.T) {
	for _, c := range []struct {
		name  string
		cause Cause
		end   Mode
		spoil func(at float64, in *Input)
	}{
		{"drop-out", Stale, Flying, func(at float64, in *Input) {
			if at > 2 && at < 2.4 {
				in.Stamp = 2
			}
		}},
		{"jump and back", Jump, Flying, func(at float64, in *Input) {
			if at > 2 && at < 2.15 {
				in.State.P = in.State.P.Add(so3.Vec3{X: 2, Y: -1})
			}
		}},
		{"jump for good", Jump, Holding, func(at float64, in *Input) {
			if at > 2 {
				in.State.P = in.State.P.Add(so3.Vec3{X: 1, Y: -1})
			}
		}},
		{"rubbish between", Invalid, Holding, func(at float64, in *Input) {
			if at > 2 && int(at*50)%2 == 0 {
				in.State.V.Y = math.NaN()
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newGuard(t, func(c *Config) { c.Hold = 100 })
			w := &world{body: newBody(so3.Vec3{Z: 1.5}, so3.Vec3{}, so3.Identity())}
			w.wind = [3]float64{1, 0, 0}
			flyGuarded(g, w, PathFollower{newLaw(t), still{quad.Reference{P: so3.Vec3{Z: 1.5}}}}, 8, c.spoil,
				func(at float64, s *quad.State) {
					if e := s.P.Sub(so3.Vec3{Z: 1.5}).Norm(); e > 0.4 {
						t.Fatalf("%.2f m away at %.2f s", e, at)
					}
				})
			if g.Count(c.cause) == 0 || g.mode != c.end {
				t.Errorf("%v for %v", g.mode, g.Tripped())
			}
		})
	}
}

// A robot that lands in a frame that has moved up meets the floor high above where that should be, and slides along it
// in a wind. What the floor bears is no fault of its source: the law does not raise it again.
func TestLandsWhereTheFrameHasMoved(t *testing.T) {
	g := newGuard(t)
	w := &world{body: newBody(so3.Vec3{Z: 1.5}, so3.Vec3{}, so3.Identity())}
	w.wind = [3]float64{1.5, 0, 0}
	var place so3.Vec3
	touched := math.Inf(1)
	flyGuarded(g, w, PathFollower{newLaw(t), still{quad.Reference{P: so3.Vec3{Z: 1.5}}}}, 8,
		func(at float64, in *Input) {
			if in.State.P.Z < 1.2 && at < touched {
				touched, place = at, in.State.P
			}
			if since := at - touched; since >= 0 {
				v := so3.Vec3{X: min(1.2*since, 1.2)}
				place = place.Add(v.Scale(0.02))
				in.State = quad.State{P: place.Add(trackerNoise(int(50 * at))), V: v,
					Q: in.State.Q.Slerp(so3.Identity(), min(since/0.2, 1))}
			}
			if at == 2 {
				g.Land()
			}
			if at > 2 && g.Stage() != Land && g.Stage() != Off {
				t.Fatalf("stage %v for %v at %.2f s", g.Stage(), g.Violation(), at)
			}
		}, func(float64, *quad.State) {})
	if g.Mode() != Landed {
		t.Errorf("%v, expected landed", g.Mode())
	}
}

func TestLandsOnRequest(t *testing.T) {
	g := newGuard(t)
	w := &world{body: newBody(so3.Vec3{Z: 1.5}, so3.Vec3{}, so3.Identity())}
	flyGuarded(g, w, PathFollower{newLaw(t), still{quad.Reference{P: so3.Vec3{Z: 1.5}}}}, 12,
		func(at float64, _ *Input) {
			if at == 1 {
				g.Land()
			}
			if at > 1 && g.Stage() != Land && g.Stage() != Off {
				t.Fatalf("stage %v at %.2f s", g.Stage(), at)
			}
		}, func(float64, *quad.State) {})
	if g.Tripped() != Requested || g.Stage() != Off || !w.landed || w.hardest > 0.6 {
		t.Errorf("%v for %v, landed %t at %.2f m/s", g.Stage(), g.Tripped(), w.landed, w.hardest)
	}
}

// Whatever comes in whatever order: what goes out is finite and within the limits, no policy flies on an old state, and
// a trip lasts.
func TestRandomWalk(t *testing.T) {
	limits := defaultLimits()
	rapid.Check(t, func(rt *rapid.T) {
		g := newGuard(t)
		k, latched := 0, false
		for range 60 {
			k += rapid.SampledFrom([]int{1, 1, 1, 1, 1, 1, 0, 2, 30, -4}).Draw(rt, "ticks")
			in := hovering(k)
			switch rapid.IntRange(0, 12).Draw(rt, "what") {
			case 0:
				in.State = anyState(rt)
			case 1:
				in.Command = quad.Command{Thrust: anyNumber().Draw(rt, "thrust"), Rates: anyVec(rt, "rates")}
			case 2:
				in.Stamp = anyNumber().Draw(rt, "stamp")
			case 3:
				in.Now = anyNumber().Draw(rt, "now")
			case 4:
				in.State.P = anyVec(rt, "p")
			case 5:
				g.Trip()
			case 6:
				g.Land()
			case 7:
				latched = latched && g.Reset() != nil
			}
			c := g.Tick(&in)
			if !within(limits, c) {
				rt.Fatalf("%+v gave %+v in stage %v", in, c, g.Stage())
			}
			policy := g.Stage().PolicyFlies()
			if policy && (latched || !(math.Abs(in.Now-in.Stamp) <= 0.1) || g.Tripped() != None) {
				rt.Fatalf("the policy flew on %+v; latched: %t, for %v", in, latched, g.Tripped())
			}
			if g.Stage() > Off || !policy && g.Tripped() == None {
				rt.Fatalf("stage %v for %v", g.Stage(), g.Tripped())
			}
			latched = latched || g.Stage() == Hold || g.Stage() == Land || g.Stage() == Blind
		}
	})
}

func TestGuardAllocatesNothing(t *testing.T) {
	g := newGuard(t)
	k := 0
	if n := testing.AllocsPerRun(200, func() {
		in := hovering(k)
		if k > 100 {
			in.Command.Thrust = math.NaN()
		}
		g.Tick(&in)
		k++
	}); n != 0 {
		t.Errorf("%v allocations per tick", n)
	}
}
func BenchmarkGuard(b *testing.B) {
	g := newGuard(b)
	for k := 0; b.Loop(); k++ {
		in := hovering(k)
		g.Tick(&in)
	}
}

// While commands are not followed nothing latches and nothing lands: a breach is told of, the law would hold where the
// robot is by then, and all is well when the breach is over, also for what tripped in a flight before.
func TestNotOffboard(t *testing.T) {
	for _, b := range breaches {
		t.Run(b.name, func(t *testing.T) {
			g := newGuard(t, func(c *Config) { c.FenceMax, c.Hold = []float64{4, 0.25, 8}, 0.1 })
			tick := func(k int, notOffboard bool, spoil func(*Input)) quad.Command {
				in := hovering(k)
				in.NotOffboard = notOffboard
				spoil(&in)
				return g.Tick(&in)
			}
			well := func(*Input) {}
			for k := range 50 {
				if c := tick(k, true, well); c != asked || g.Stage() != NotOffboard || g.Tripped() != None {
					t.Fatalf("tick %d: %+v, %v, %v", k, c, g.Stage(), g.Tripped())
				}
			}
			for k := 50; k < 58; k++ {
				c := tick(k, true, b.spoil)
				over := b.cause == Missed && k > 50 // one tick after it
				if c == asked != over || !within(defaultLimits(), c) || g.Stage() != NotOffboard {
					t.Fatalf("tick %d: %+v, %v", k, c, g.Stage())
				}
				if k == 50 && g.Tripped() != b.cause {
					t.Errorf("%v, expected %v", g.Tripped(), b.cause)
				}
			}
			for k := 100; k < 200 && g.Tripped() != None; k++ {
				tick(k, true, well)
			}
			if c := tick(200, true, well); g.Tripped() != Missed || c == asked {
				t.Errorf("after a pause: %v", g.Tripped())
			}
			if c := tick(201, false, well); c != asked || g.Stage() != Policy {
				t.Errorf("followed: %+v, %v, %v", c, g.Stage(), g.Tripped())
			}
			tick(202, false, func(in *Input) { in.Command.Thrust = math.NaN() })
			for k := 203; k < 230; k++ {
				tick(k, true, well)
			}
			if c := tick(230, false, well); c != asked || g.Stage() != Policy { // a new hand-over is a new flight
				t.Errorf("followed again: %+v, %v, %v", c, g.Stage(), g.Tripped())
			}
		})
	}
}

// The limits may be asked for in the air as long as nobody follows: the policy's command goes out, cut, and nothing
// trips. Once somebody does, it saturates.
func TestAsksForLimitsWhileNotOffboard(t *testing.T) {
	g := newGuard(t)
	most := defaultLimits().MaxThrust
	for k := range 200 {
		in := hovering(k)
		in.Command.Thrust, in.NotOffboard = 100, true
		if c := g.Tick(&in); c.Thrust != most || g.Mode() != Autopilot || g.Tripped() != None {
			t.Fatalf("tick %d: %+v, %v, %v", k, c, g.Mode(), g.Tripped())
		}
	}
	for k := 200; k < 240 && g.Tripped() == None; k++ {
		in := hovering(k)
		in.Command.Thrust = 100
		g.Tick(&in)
	}
	if g.Tripped() != Saturated {
		t.Errorf("followed, the policy asks for the limits: %v for %v", g.Mode(), g.Tripped())
	}
}

// A landing that is asked for while commands are not followed comes when they are: beside a breach that would pass,
// from a policy that is well, of a guard that tripped before, and of a robot that stood on the ground.
func TestLandsWhileNotOffboard(t *testing.T) {
	for name, c := range map[string]struct {
		before  func(*Guard)
		spoil   func(*Input)
		cause   Cause
		takeOff bool
	}{
		"breach":    {func(*Guard) {}, func(in *Input) { in.Command.Thrust = math.NaN() }, Requested, false},
		"well":      {func(*Guard) {}, func(*Input) {}, Requested, false},
		"unpoised":  {func(*Guard) {}, func(in *Input) { in.NotReady = true }, Requested, false},
		"on ground": {func(*Guard) {}, func(in *Input) { in.State.P.Z = 0.02 }, Requested, true},
		"tripped": {func(g *Guard) {
			in := hovering(0)
			in.Command.Thrust = math.NaN()
			g.Tick(&in)
		}, func(*Input) {}, Requested, false},
	} {
		g := newGuard(t)
		c.before(g)
		tick := func(k int, notOffboard bool, spoil func(*Input)) {
			in := hovering(k)
			in.NotOffboard = notOffboard
			spoil(&in)
			g.Tick(&in)
		}
		for k := 1; k < 20; k++ {
			tick(k, true, c.spoil)
		}
		g.Land()
		tick(20, true, c.spoil)
		for k := 21; k < 121; k++ { // up by as much as no jump is
			tick(k, true, func(in *Input) {
				if c.takeOff {
					in.State.P.Z, in.State.V.Z = 0.02+0.01*float64(k-20), 0.5
				}
			})
		}
		tick(121, false, func(*Input) {})
		if g.Stage() != Land || g.Tripped() != c.cause {
			t.Errorf("%s: followed: %v for %v", name, g.Stage(), g.Tripped())
		}
		if err := g.Reset(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		g.Trip()
		tick(122, true, func(*Input) {})
		if tick(123, false, func(*Input) {}); g.Stage() != Hold {
			t.Errorf("%s: the landing comes back after a reset: %v", name, g.Stage())
		}
	}
}

// A reset is refused while anything is wrong, also where the guard lets go by itself when that is over.
func TestResetWhileNotOffboard(t *testing.T) {
	for _, b := range breaches {
		g := newGuard(t, func(c *Config) { c.FenceMax = []float64{4, 0.25, 8} })
		if err := g.Reset(); err == nil || !strings.Contains(err.Error(), "there is no state") {
			t.Errorf("before a state: %v", err)
		}
		tick := func(k int, spoil func(*Input)) {
			in := hovering(k)
			in.NotOffboard = true
			spoil(&in)
			g.Tick(&in)
		}
		for k := range 10 {
			tick(k, func(*Input) {})
		}
		if err := g.Reset(); err != nil {
			t.Errorf("%s: before it: %v", b.name, err)
		}
		tick(10, b.spoil)
		if err := g.Reset(); err == nil || !strings.Contains(err.Error(), b.cause.String()) {
			t.Errorf("%s: %v", b.name, err)
		}
	}
}

// Where no policy can take over, the guard's command goes out while it is not followed, and has control authority when
// it is: the robot is held where it is until a reset, or until it was handed over anew; on the ground it never moves.
func TestNotReadyForHandoverKeepsTheGuardInControl(t *testing.T) {
	for name, c := range map[string]struct {
		z     float64
		stage Stage
	}{"far": {1, Hold}, "on the ground": {0.02, Off}} {
		g := newGuard(t)
		tick := func(k int, notOffboard, unpoised bool) quad.Command {
			in := hovering(k)
			in.State.P.Z, in.NotOffboard, in.NotReady = c.z, notOffboard, unpoised
			return g.Tick(&in)
		}
		for k := range 20 {
			if sent := tick(k, true, true); sent == asked || g.Stage() != NotOffboard || g.Tripped() != NotReady ||
				c.stage == Off && sent.Thrust != defaultLimits().MinThrust {
				t.Fatalf("%s: tick %d: %+v, %v, %v", name, k, sent, g.Stage(), g.Tripped())
			}
		}
		for k := 20; k < 40; k++ { // it may be well by then
			if sent := tick(k, false, k < 22); sent == asked || g.Stage() != c.stage || g.Tripped() != NotReady {
				t.Fatalf("%s: tick %d: %+v, %v, %v", name, k, sent, g.Stage(), g.Tripped())
			}
		}
		tick(40, true, false)
		if sent := tick(41, false, true); sent == asked || g.Stage() != c.stage { // from this very tick on
			t.Errorf("%s: handed over again: %+v, %v", name, sent, g.Stage())
		}
		if err := g.Reset(); err != nil {
			t.Fatal(err)
		}
		sent := tick(42, false, true)
		if g.Stage().PolicyFlies() != (c.stage == Hold) || (g.Mode() == Ready) != (c.stage == Off) {
			t.Errorf("%s: reset: %+v, %v", name, sent, g.Stage())
		}
		tick(43, true, true)
		tick(44, false, true)
		tick(45, true, false)
		if sent := tick(46, false, false); (sent == asked) != (c.stage == Hold) || g.Count(NotReady) != 3 {
			t.Errorf("%s: handed over well: %+v, %v, for the %dth time", name, sent, g.Stage(), g.Count(NotReady))
		}
	}
}

func TestNewRefusesConfigurations(t *testing.T) {
	var c Config
	if err := param.Check(&c); err != nil {
		t.Fatal(err)
	}
	param.Default(&c)
	for _, bad := range []struct {
		want   string
		change func(*Config)
	}{
		{"fence_min and fence_max have 2 and 3 numbers", func(c *Config) { c.FenceMin = []float64{0, 0} }},
		{"fence_min and fence_max: y from 1 to 1 m",
			func(c *Config) { c.FenceMin, c.FenceMax = []float64{0, 1, 0}, []float64{1, 1, 1} }},
		{"ground is at 9 m, expected below the geofence's top at 4 m", func(c *Config) { c.Ground = 9 }},
	} {
		t.Run(bad.want, func(t *testing.T) {
			d := c
			bad.change(&d)
			if _, err := New(d, defaultLimits()); err == nil || !strings.Contains(err.Error(), bad.want) {
				t.Errorf("got %v, want %s", err, bad.want)
			}
		})
	}
	for c := range causeCount {
		if c.String() == "" {
			t.Errorf("cause %d has no words", c)
		}
	}
}
