package pushcontrol

import (
	"math"
	"strings"
	"testing"

	"vnd/pkg/robot/pusher"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

const dt = 0.02

// ahead is a policy that goes ahead along the box's x at most of the speed, whatever it sees.
func ahead(t *testing.T, sees int) *vnd.Actor[float32] {
	t.Helper()
	p, err := vnd.NewActor(sees, 0, make([]float32, Actions), []float32{1, 1}, []int{4})
	if err != nil {
		t.Fatal(err)
	}
	bias := p.Net.Tensors()[len(p.Net.Tensors())-1]
	p.Net.Params[bias.Offset] = 2
	p.Net.Refresh()
	return p
}

func loop(t *testing.T) *Loop {
	l := NewLoop(dt, Config{MaxAge: 0.1, Jump: 0.05, Turn: 0.3, Reach: 0.6, Farthest: 0.35, Turned: 0.5,
		Patience: 2})
	l.Swap("ahead", ahead(t, Sees))
	return l
}

// TestLoopPushesUntilItIsThere: in the frame of the box, until it has been at its goal for long enough.
func TestLoopPushesUntilItIsThere(t *testing.T) {
	l := loop(t)
	box, tool := [3]float64{1, 2, math.Pi / 2}, [2]float64{1, 1.9}
	if c := l.Tick(0, box, tool); c != (pusher.Command{}) {
		t.Errorf("without a goal it commands %v", c)
	}
	l.Aim([3]float64{1, 2.1, math.Pi / 2})
	for k := range 5 {
		c := l.Tick(float64(k)*dt, box, tool)
		if math.Abs(c[0]) > 1e-9 || !(c[1] > 0.35) {
			t.Fatalf("a box that is turned by a quarter: commands %v", c)
		}
		box[1], tool[1] = box[1]+0.018, tool[1]+0.018
	}
	for k := range SettleSteps {
		c := l.Tick(float64(5+k)*dt, box, tool)
		stage, _ := l.Stage()
		if (stage == There) != (k == SettleSteps-1) || (c != pusher.Command{}) != (stage == Pushing) {
			t.Fatalf("step %d at the goal: stage %d, commands %v", k, stage, c)
		}
	}
	if c := l.Tick(5, box, tool); c != (pusher.Command{}) {
		t.Errorf("there it commands %v", c)
	}
}

// stops are what ends a push, by how that is said.
func stops(at [3]float64, tool [2]float64) map[string]func(l *Loop) pusher.Command {
	return map[string]func(l *Loop) pusher.Command{
		"0.140 s from one place to the next": func(l *Loop) pusher.Command { return l.Tick(0.16, at, tool) },
		"-0.010 s from one place":            func(l *Loop) pusher.Command { return l.Tick(0.01, at, tool) },
		"the box jumped by 0.100 m and 0.00 rad": func(l *Loop) pusher.Command {
			return l.Tick(0.04, [3]float64{0.1, 0, 0}, tool)
		},
		"the box jumped by 0.000 m and 1.57 rad": func(l *Loop) pusher.Command {
			return l.Tick(0.04, [3]float64{0, 0, math.Pi / 2}, tool)
		},
		"the tool jumped by 0.200 m": func(l *Loop) pusher.Command { return l.Tick(0.04, at, [2]float64{0.1, 0}) },
		"the tool is 0.70 m from the box": func(l *Loop) pusher.Command {
			l.Aim([3]float64{0.15, 0, 0})
			return l.Tick(0.04, at, [2]float64{-0.7, 0})
		},
		"the tool went 0.61 m away from the box": func(l *Loop) (c pusher.Command) {
			l.MaxAge = 9
			for k := range 18 {
				c = l.Tick(0.04+float64(k)*dt, at, [2]float64{-0.1 - 0.03*float64(k)})
			}
			return c
		},
		"the box jumped by NaN m":  func(l *Loop) pusher.Command { return l.Tick(0.04, [3]float64{math.NaN()}, tool) },
		"the tool jumped by NaN m": func(l *Loop) pusher.Command { return l.Tick(0.04, at, [2]float64{math.NaN()}) },
		"heading of box": func(l *Loop) pusher.Command {
			return l.Tick(0.04, [3]float64{0, 0, math.NaN()}, tool)
		},
		"0.150 m and 0.00 rad off its goal after 2 s": func(l *Loop) (c pusher.Command) {
			for k := 2; k < 103; k++ {
				c = l.Tick(float64(k)*dt, at, tool)
			}
			return c
		},
		"the goal is 0.50 m from the box, expected at most 0.35": func(l *Loop) pusher.Command {
			l.Aim([3]float64{0.5, 0, 0})
			return l.Tick(0.04, at, tool)
		},
		"turned by 1.57 rad from the box, expected at most 0.5": func(l *Loop) pusher.Command {
			l.Aim([3]float64{0.1, 0, math.Pi / 2})
			return l.Tick(0.04, at, tool)
		},
		"the box went 0.54 m away from its goal, expected at most 0.52": func(l *Loop) (c pusher.Command) {
			l.MaxAge = 9
			for k := range 14 {
				c = l.Tick(0.04+float64(k)*dt, [3]float64{-0.03 * float64(k)}, tool)
			}
			return c
		},
		"commands what is no number": func(l *Loop) pusher.Command {
			l.policy.Norm.Mean[0] = float32(math.NaN())
			return l.Tick(0.04, at, tool)
		},
	}
}

// TestLoopStops: whatever is wrong with what it sees ends a push in one line, and the tool stands until the next goal.
func TestLoopStops(t *testing.T) {
	at, tool := [3]float64{}, [2]float64{-0.1, 0}
	for want, wrong := range stops(at, tool) {
		l := loop(t)
		l.Aim([3]float64{0.15, 0, 0})
		l.Tick(0, at, tool)
		if l.Tick(0.02, at, tool) == (pusher.Command{}) {
			t.Fatal("it does not push")
		}
		c := wrong(l)
		stage, why := l.Stage()
		if stage != Stopped || !strings.Contains(why, want) || c != (pusher.Command{}) {
			t.Errorf("%q: stage %d, %q, commands %v", want, stage, why, c)
		}
		if c := l.Tick(l.last+dt, at, tool); c != (pusher.Command{}) {
			t.Errorf("%q: it goes on: %v", want, c)
		}
	}
}

// still is a policy that commands nothing.
func still(t *testing.T) *vnd.Actor[float32] {
	p := ahead(t, Sees)
	clear(p.Net.Params)
	p.Net.Refresh()
	return p
}

// TestSwap: another policy pushes on from the next tick.
func TestSwap(t *testing.T) {
	l := loop(t)
	l.Aim([3]float64{0.15, 0, 0})
	at, tool := [3]float64{}, [2]float64{-0.1, 0}
	if before := l.Tick(0, at, tool); before == (pusher.Command{}) {
		t.Error("it does not push")
	}
	l.Swap("still", still(t))
	after := l.Tick(0.02, at, tool)
	if stage, _ := l.Stage(); after != (pusher.Command{}) || stage != Pushing || l.Goal() != [3]float64{0.15, 0, 0} {
		t.Errorf("commands %v at stage %d", after, stage)
	}
}

// push has the loop push to a goal, in places that it is shown, until that is over.
func push(l *Loop, goal float64, place func(k int) (box, tool float64)) string {
	l.Aim([3]float64{goal, 0, 0})
	for k := 0; ; k++ {
		box, tool := place(k)
		l.Tick(float64(k)*dt, [3]float64{box}, [2]float64{tool})
		if stage, why := l.Stage(); stage != Pushing {
			return why
		}
	}
}

// TestRollback: a policy on probation is rolled back where it spoils a push, or is not there in time thrice on end. For
// what sensors show it is not, nor later, nor where there was none before.
func TestRollback(t *testing.T) {
	stays := func(int) (float64, float64) { return 0, -0.1 }
	leaves := func(k int) (float64, float64) { return 0, -0.1 - 0.03*float64(k) }
	jumps := func(k int) (float64, float64) { return 0.2 * float64(k), -0.1 }
	late := func(l *Loop) { push(l, 0.15, stays) }
	succeeds := func(l *Loop) { push(l, 0, stays) }
	for _, c := range []struct {
		name  string
		does  func(l *Loop)
		flies string
	}{
		{"late twice", func(l *Loop) { late(l); late(l) }, "still"},
		{"late thrice", func(l *Loop) { late(l); late(l); late(l) }, "ahead"},
		{"late thrice, not on end", func(l *Loop) { late(l); late(l); succeeds(l); late(l) }, "still"},
		{"the tool leaves", func(l *Loop) { push(l, 0.15, leaves) }, "ahead"},
		{"the box jumps", func(l *Loop) { push(l, 0.15, jumps) }, "still"},
		{"no number", func(l *Loop) {
			l.policy.Norm.Mean[0] = float32(math.NaN())
			push(l, 0.15, stays)
		}, "ahead"},
		{"the tool leaves after the probation", func(l *Loop) {
			for range probation {
				succeeds(l)
			}
			push(l, 0.15, leaves)
		}, "still"},
		{"swapped back", func(l *Loop) { l.Swap("ahead", nil) }, "ahead"},
		{"swapped back, and the tool leaves", func(l *Loop) { l.Swap("ahead", nil); push(l, 0.15, leaves) }, "ahead"},
	} {
		l := loop(t)
		l.Swap("still", still(t))
		c.does(l)
		if got := l.Bundle(); got != c.flies {
			t.Errorf("%s: %s pushes", c.name, got)
		}
		if acts := l.policy.Net.Params[len(l.policy.Net.Params)-2] != 0; acts != (c.flies == "ahead") {
			t.Errorf("%s: the policy is not that of %s", c.name, c.flies)
		}
	}
	l := loop(t)
	if push(l, 0.15, leaves); l.Bundle() != "ahead" || !l.PolicyFailed() {
		t.Errorf("without one before: %q", l.Bundle())
	}
	if push(l, 0.15, jumps); l.PolicyFailed() {
		t.Error("a jump is the policy's fault")
	}
	late(l) // as was the push before
	l.Swap("still", still(t))
	for k := range 5 {
		if late(l); l.Bundle() != "still" && k < 4 || l.Bundle() != "ahead" && k == 4 {
			t.Errorf("after two late pushes of one, and %d of the next, %s pushes", k+1, l.Bundle())
		}
	}
}

// TestForeignBundlesAreRefused: of another robot, and policies that see other numbers.
func TestForeignBundlesAreRefused(t *testing.T) {
	for want, c := range map[string]struct {
		robot string
		sees  int
	}{"": {pusher.Name, Sees}, `of robot "arm", expected "pusher"`: {"arm", Sees},
		"policy of 7 inputs and 2 actions, expected 160 and 2": {pusher.Name, 7}} {
		b := &bundle.Bundle{Robot: c.robot, Dt: dt}
		if err := vnd.PutActor(b, ahead(t, c.sees), nil, "push"); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(b); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}
