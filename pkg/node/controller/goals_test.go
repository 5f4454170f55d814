package controller

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"vnd/msgs"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/control"
	"vnd/pkg/flight/guard"
	"vnd/pkg/ros2/ros/action"
	"vnd/pkg/ros2/ros/lifecycle"
)

// A landing is over where the robot stands, and will not be where something else flies it, or nobody.
func TestDescentEnds(t *testing.T) {
	type look struct {
		stage guard.Stage
		ticks uint64 // since the last look
		after time.Duration
	}
	const air, ground = true, false
	for _, c := range []struct {
		name  string
		high  bool
		looks []look
		over  bool
		err   string
	}{
		{"lands", air, []look{{guard.Policy, 0, 0}, {guard.Land, 5, 100 * time.Millisecond}}, false, ""},
		{"stands", ground, []look{{guard.Land, 5, 0}, {guard.Off, 5, time.Minute}}, true, ""},
		{"disarmed on the ground", ground, []look{{guard.Land, 5, 0}, {guard.NotOffboard, 1, time.Second}}, true, ""},
		{"on dead reckoning, then held", air, []look{{guard.Blind, 5, 0}, {guard.Hold, 5, time.Minute}}, false, ""},
		{"the policy before it", air, []look{{guard.Policy, 1, 0}, {guard.Policy, 1, time.Second}}, false, ""},
		{"the policy for long", air, []look{{guard.Policy, 1, 0}, {guard.Policy, 1, 4 * time.Second}}, false,
			"the policy flies"},
		{"the policy after it", air, []look{{guard.Land, 5, 0}, {guard.Policy, 5, time.Second}}, false,
			"the policy flies"},
		{"a moment not followed", air, []look{{guard.Land, 5, 0}, {guard.NotOffboard, 5, time.Second}}, false, ""},
		{"not followed", air, []look{{guard.Land, 5, 0}, {guard.NotOffboard, 5, time.Second},
			{guard.NotOffboard, 5, 4 * time.Second}}, false, "commands are not followed, in the air"},
		{"no ticks", air, []look{{guard.Land, 5, 0}, {guard.Land, 0, 4 * time.Second}}, false, "no tick for 3s"},
		{"slow", air, []look{{guard.Land, 5, 0}, {guard.Land, 1, time.Minute}}, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, tick := descent{tick: 7}, control.TickRecord{Seq: 7}
			begun := time.Now()
			var over bool
			var err error
			for _, l := range c.looks {
				tick.Stage, tick.Seq = l.stage, tick.Seq+l.ticks
				over, err = d.look(&tick, c.high, begun.Add(l.after))
			}
			if over != c.over || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("%v, %v; expected %v, %q", over, err, c.over, c.err)
			}
		})
	}
}

// Take-offs are refused in the air, landings of a controller that is not active. One that stays down is aborted, with
// its cause.
func TestTakeOffAndLandGoalsThatFail(t *testing.T) {
	h := newHarness(t, "-p", "use_sim_time:=true", "-p", "bundle_file:="+path("a.vnd"))
	ctx, cancel := context.WithTimeout(t.Context(), 2*long)
	defer cancel()
	up := must(action.NewClient[msgs.TakeOffGoal, msgs.TakeOffResult, msgs.TakeOffFeedback](h.n,
		"/policy_controller/take_off"))(t)
	down := must(action.NewClient[msgs.LandGoal, msgs.LandResult, msgs.LandFeedback](h.n,
		"/policy_controller/land"))(t)
	if err := errors.Join(up.WaitForServer(ctx), down.WaitForServer(ctx)); err != nil {
		t.Fatal(err)
	}
	if _, err := down.Send(ctx, &msgs.LandGoal{}, nil); !errors.Is(err, action.ErrRejected) {
		t.Errorf("a landing before the controller is active: %v", err)
	}
	h.change(lifecycle.Configure, lifecycle.Activate)
	m := h.motion("mocap/pose", 0)
	h.flying()
	if _, err := up.Send(ctx, &msgs.TakeOffGoal{}, nil); !errors.Is(err, action.ErrRejected) {
		t.Errorf("a take-off in the air: %v", err)
	}
	h.logs("goal refused: no take-off: the robot is flying, expected ready on the ground")
	m.is(quad.State{P: so3.Vec3{Z: 0.02}, Q: so3.Identity()})
	for ; ctx.Err() == nil; time.Sleep(20 * time.Millisecond) { // the guard lands first, for the robot jumped
		p, err := up.Send(ctx, &msgs.TakeOffGoal{}, nil)
		if errors.Is(err, action.ErrRejected) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		status, r, err := p.Result(ctx)
		if err != nil || status != action.Aborted || r.Success {
			t.Fatalf("%v %+v %v", status, r, err)
		}
		if strings.Contains(r.Message, "does not leave the ground") { // else again: a busy machine held states back
			return
		}
		t.Log(r.Message)
	}
	t.Error("no take-off stayed down")
}

// A thread that stands still, or has too much to do, says nothing of the climb: the goal goes on until it answers, and
// a landing that was asked for meanwhile is ordered then.
func TestThreadThatStandsStillEndsNoClimb(t *testing.T) {
	h := ready(t)
	f, release, begun := h.c.ticker(), make(chan struct{}), make(chan struct{})
	f.orders <- func(*ticker) { close(begun); <-release }
	signal(f.wake)
	<-begun
	goesOn := func(why string) {
		t.Helper()
		if a := (ascent{}); h.c.climbed(&a) != nil || a.over {
			t.Errorf("%s: the goal has ended", why)
		}
	}
	goesOn("nobody answers")
	landed, given := make(chan error, 1), len(f.orders)
	go func() { landed <- h.c.landAtLast() }()
	for end := time.Now().Add(long); len(f.orders) < given+2 && len(landed) == 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond) // until the landing was given up once, and ordered again
	}
	for len(f.orders) < ordersWaiting {
		select {
		case f.orders <- func(*ticker) {}:
		default:
		}
	}
	goesOn("too many orders wait")
	close(release)
	if err := <-landed; err != nil {
		t.Errorf("the landing: %v", err)
	}
	eventually(t, "the end of the climb", func() bool {
		err := h.c.climbed(&ascent{})
		return err != nil && strings.Contains(err.Error(), "the take-off has ended")
	})
}
