package guard

import (
	"math"
	"math/rand/v2"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// standing is the input of tick k of a robot that stands on the floor.
func standing(k int) Input {
	in := hovering(k)
	in.State.P = so3.Vec3{Z: 0.02}.Add(trackerNoise(k))
	return in
}

// A take-off that is asked for just before something goes wrong never comes, and says why.
func TestTakeOffIsForTheNextTickAlone(t *testing.T) {
	for _, b := range breaches {
		if b.cause == Fence || b.cause == Unseen || b.cause == Jump { // which a robot on the floor may be near
			continue
		}
		t.Run(b.name, func(t *testing.T) {
			g := newGuard(t)
			for k := range 20 {
				in := standing(k)
				g.Tick(&in)
			}
			if err := g.TakeOff(); err != nil || !g.TakingOff() {
				t.Fatal(err)
			}
			in := standing(20)
			b.spoil(&in)
			if g.Tick(&in); g.TakingOff() || g.Tripped() != b.cause {
				t.Errorf("taking off: %v, because %v", g.TakingOff(), g.Tripped())
			}
			for k := 21; k < 300; k++ {
				in := standing(k)
				if c := g.Tick(&in); c.Thrust != defaultLimits().MinThrust || g.Stage() != Off {
					t.Fatalf("tick %d: thrust %g in mode %v", k, c.Thrust, g.Mode())
				}
			}
		})
	}
}

// A landing or a trip that was asked for on the ground does not end the next take-off; one that is asked for after it
// does.
func TestTakeOffIsNotEndedByOrdersBeforeIt(t *testing.T) {
	for name, order := range map[string]func(*Guard){"land": (*Guard).Land, "trip": (*Guard).Trip} {
		t.Run(name, func(t *testing.T) {
			g := newGuard(t)
			k := 0
			tick := func(n int) {
				for range n {
					in := standing(k)
					k++
					g.Tick(&in)
				}
			}
			tick(20)
			order(g)
			tick(20)
			if err := g.TakeOff(); err != nil {
				t.Fatal(err)
			}
			if tick(20); !g.TakingOff() {
				t.Errorf("%v, because %v", g.Mode(), g.Tripped())
			}
			g.Land()
			if tick(2); g.Mode() != Landing {
				t.Errorf("%v after a landing was asked for", g.Mode())
			}
		})
	}
}

// Commands that are late are not followed for a moment, and then at once: a robot that stands never gets the policy's,
// which would raise it.
func TestMomentsWithoutAFollowerRaiseNoRobotThatStands(t *testing.T) {
	g := newGuard(t)
	for k := range 300 {
		in := standing(k)
		in.Command.Thrust, in.NotOffboard = 16, k%7 == 0 || k%50 < 20
		if c := g.Tick(&in); c != (quad.Command{Thrust: defaultLimits().MinThrust}) {
			t.Fatalf("tick %d: %+v in mode %v", k, c, g.Mode())
		}
	}
}

// A robot that does not leave the ground stands again with the least thrust: so does one whose motors do not turn yet,
// and would rise at once when they did.
func TestTakeOffThatStaysDownEnds(t *testing.T) {
	for name, speed := range map[string]float64{"usual": 0.4, "slow": 0.05, "fast": 3} {
		t.Run(name, func(t *testing.T) {
			g := newGuard(t, func(c *Config) { c.TakeoffSpeed = speed })
			k := 0
			tick := func() quad.Command {
				in := standing(k)
				k++
				return g.Tick(&in)
			}
			for range 20 {
				tick()
			}
			if err := g.TakeOff(); err != nil {
				t.Fatal(err)
			}
			for g.TakingOff() && k < 500 {
				tick()
			}
			if after := 0.02 * float64(k-21); after > 1.2 || g.Mode() != Landing {
				t.Errorf("after %.2f s: %v", after, g.Mode())
			}
			for g.Mode() != Landed && k < 500 { // as if it were in the air
				if tick(); g.Tripped() != Grounded {
					t.Fatalf("%v, because %v", g.Mode(), g.Tripped())
				}
			}
			for range 100 {
				if c := tick(); c.Thrust != defaultLimits().MinThrust || g.Mode() != Landed || g.Tripped() != Grounded {
					t.Fatalf("thrust %g in mode %v, because %v", c.Thrust, g.Mode(), g.Tripped())
				}
			}
			if err := g.TakeOff(); err != nil {
				t.Errorf("the next take-off: %v", err)
			}
		})
	}
}

// A take-off under states of another body, which stands nearby, ends low and gently, however noisy these are.
func TestTakeOffByAnotherBody(t *testing.T) {
	for _, noise := range []float64{1e-4, 0.003, 0.02} {
		for _, weaker := range []float64{-0.1, 0, 0.1} {
			g, w := newGuard(t), &world{body: newBody(so3.Vec3{}, so3.Vec3{}, so3.Identity())}
			w.weaker = weaker
			top := takeOffBeside(t, g, w, noise)
			seen := g.Count(Jump) > 0 && top == 0
			if !seen && (top < 0.05 || g.Count(Grounded) == 0) || top > 1.9 || w.hardest > 2.4 || g.Mode() != Landed {
				t.Errorf("noise of %g m, thrust less by %g: it rises to %.2f m, meets the floor at %.2f m/s, %v for %v",
					noise, weaker, top, w.hardest, g.Mode(), g.Tripped())
			}
		}
	}
}

// takeOffBeside takes off under noisy states of a body that stands, and returns how high the robot rises, m.
func takeOffBeside(t *testing.T, g *Guard, w *world, noise float64) (top float64) {
	random := rand.New(rand.NewPCG(1, 2))
	flyGuarded(g, w, PathFollower{newLaw(t), onFloor}, 12, func(at float64, in *Input) {
		if at == 2 {
			if err := g.TakeOff(); err != nil {
				t.Fatal(err)
			}
		}
		off := so3.Vec3{X: random.NormFloat64(), Y: random.NormFloat64(), Z: random.NormFloat64()}
		in.State = quad.State{P: so3.Vec3{X: 1, Z: 0.02}.Add(off.Scale(noise)), Q: so3.Identity()}
	}, func(_ float64, s *quad.State) { top = max(top, s.P.Z) })
	return top
}

// Robots that are heavier or lighter than believed take off, without a leap, by states of any rate.
func TestTakeOffOfHeavyAndLightRobots(t *testing.T) {
	for _, hz := range []int{25, 30, 50, 100} {
		for _, weaker := range []float64{-0.2, -0.1, 0, 0.1, 0.15, 0.2} {
			takeOffWithThrust(t, weaker, hz)
		}
	}
}

// takeOffWithThrust takes off a robot whose thrust is less by a share.
func takeOffWithThrust(t *testing.T, weaker float64, hz int) {
	t.Helper()
	g, top, fastest := newGuard(t), 0.0, 0.0
	w := &world{body: newBody(so3.Vec3{}, so3.Vec3{}, so3.Identity()), hz: hz}
	w.weaker = weaker
	flyGuarded(g, w, PathFollower{newLaw(t), still{quad.Reference{P: so3.Vec3{Z: 1}}}}, 8, func(at float64, _ *Input) {
		if at == 2 && g.TakeOff() != nil {
			t.Fatal("no take-off")
		}
	}, func(_ float64, s *quad.State) {
		if g.Mode() == TakingOff {
			top, fastest = max(top, s.P.Z), max(fastest, s.V.Z)
		}
	})
	if g.Mode() != Flying || top < 0.9 || top > 1.1 || fastest > 1.2 {
		t.Errorf("%d Hz, thrust less by %g: %v for %v, at most at %.2f m, %.2f m/s", hz, weaker, g.Mode(), g.Tripped(),
			top, fastest)
	}
}

// A take-off that nobody follows in its tick is gone, and is no trip: nobody asked for that.
func TestTakeOffThatNobodyFollowsIsNoTrip(t *testing.T) {
	g := newGuard(t)
	for k := range 100 {
		in := standing(k)
		in.NotOffboard = k >= 20 && k < 25
		if k == 20 {
			if err := g.TakeOff(); err != nil {
				t.Fatal(err)
			}
		}
		if c := g.Tick(&in); c.Thrust != defaultLimits().MinThrust || g.TakingOff() || g.Tripped() == Requested {
			t.Fatalf("tick %d: thrust %g in mode %v, because %v", k, c.Thrust, g.Mode(), g.Tripped())
		}
	}
}

// States that are missing for a moment in a take-off, and come from where the robot stood, are not taken for late.
func TestMomentWithoutStatesInATakeOffIsNoDelay(t *testing.T) {
	for from := 0.1; from < 0.8; from += 0.04 {
		for lasts := 0.12; lasts < 0.5; lasts += 0.04 {
			g, w := newGuard(t), &world{body: newBody(so3.Vec3{}, so3.Vec3{}, so3.Identity())}
			w.weaker = 0.9 // it stays down
			seen := Input{}
			flyGuarded(g, w, PathFollower{newLaw(t), onFloor}, 6, func(at float64, in *Input) {
				if at == 2 && g.TakeOff() != nil {
					t.Fatal("no take-off")
				}
				if at > 2+from && at < 2+from+lasts {
					in.State, in.Stamp = seen.State, seen.Stamp
				}
				seen = *in
			}, func(float64, *quad.State) {})
			if g.hiddenDelay != 0 || g.Mode() != Landed {
				t.Errorf("from %.2f s on for %.2f s: a delay of %.2f s, %v", from, lasts, g.hiddenDelay, g.Mode())
			}
		}
	}
}

// A delay that was found in flight does not show on the ground: the law would take off and land at once, each time.
func TestTakeOffIsRefusedWithHiddenDelay(t *testing.T) {
	g := newGuard(t)
	for k := range 20 {
		in := standing(k)
		g.Tick(&in)
	}
	g.hiddenDelay = 0.1
	const want = "no take-off: states are older than their stamps say, found in flight; ~/reset_guard forgets that"
	if err := g.TakeOff(); err == nil || err.Error() != want {
		t.Errorf("%v, expected %q", err, want)
	}
	if err := g.Reset(); err != nil {
		t.Fatal(err)
	}
	if err := g.TakeOff(); err != nil {
		t.Error(err)
	}
}

// A policy that comes late now and then ends no take-off: the law does not need it. Nor does it fly before it was heard
// for long enough. One that is not heard any more has the law land.
func TestTakeOffWaitsForALatePolicy(t *testing.T) {
	for _, of := range []struct {
		name   string
		silent func(at float64) bool
		mode   Mode
	}{
		{"at times", func(at float64) bool { return at > 2.3 && at < 6 && math.Mod(at, 0.5) < 0.019 }, Flying},
		{"while it climbs", func(at float64) bool { return at > 2.5 && at < 5.5 }, Flying},
		{"any more", func(at float64) bool { return at > 2.5 }, Landed},
	} {
		t.Run(of.name, func(t *testing.T) {
			g, w := newGuard(t), &world{body: newBody(so3.Vec3{}, so3.Vec3{}, so3.Identity())}
			last, highest := 0.0, 0.0
			flyGuarded(g, w, PathFollower{newLaw(t), still{quad.Reference{P: so3.Vec3{Z: 1}}}}, 14,
				func(at float64, in *Input) {
					if at == 2 && g.TakeOff() != nil {
						t.Fatal("no take-off")
					}
					if in.NoCommand = of.silent(at); in.NoCommand {
						last = at
					}
				}, func(at float64, s *quad.State) {
					highest = max(highest, s.P.Z)
					if g.Mode() == Flying && at < last+g.config.ReturnAfter-0.1 {
						t.Fatalf("the policy flies at %.2f s, and was silent at %.2f s", at, last)
					}
				})
			if g.Mode() != of.mode || highest < 0.9 || w.hardest > 0.7 {
				t.Errorf("%v, because %v; it rose to %.2f m, and met the floor at %.2f m/s", g.Mode(), g.Tripped(),
					highest, w.hardest)
			}
		})
	}
}
