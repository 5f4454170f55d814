package guard

import (
	"math"
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
			after, want := 0.02*float64(k-21), 0.2/speed+2
			if math.Abs(after-want) > 0.05 {
				t.Errorf("ended after %.2f s, expected %.2f", after, want)
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
