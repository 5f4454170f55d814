package node_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"vnd/msgs"
	"vnd/pkg/ros2/ros/action"
)

type (
	climber = action.Client[msgs.TakeOffGoal, msgs.TakeOffResult, msgs.TakeOffFeedback]
	lander  = action.Client[msgs.LandGoal, msgs.LandResult, msgs.LandFeedback]
)

// climbs asks for a take-off until one is accepted: on a busy machine states may be late. heights gets its feedback.
func (l *lab) climbs(c *climber, heights chan float32) *action.Pursued[msgs.TakeOffGoal, msgs.TakeOffResult,
	msgs.TakeOffFeedback] {
	l.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		p, err := c.Send(l.ctx, &msgs.TakeOffGoal{}, func(f *msgs.TakeOffFeedback) {
			select {
			case heights <- f.Height:
			default:
			}
		})
		if err == nil {
			return p
		}
		if !errors.Is(err, action.ErrRejected) || time.Now().After(end) {
			l.t.Fatal(err)
		}
		l.trigger("policy_controller/reset_guard") // a delay that was found once stays
	}
}

// climbIsCanceled takes off and cancels that, unless the climb is over before.
func (l *lab) climbIsCanceled(c *climber, heights chan float32) bool {
	l.t.Helper()
	p := l.climbs(c, heights)
	refused := p.Cancel(l.ctx)
	status, r, err := p.Result(l.ctx)
	if err != nil {
		l.t.Fatal(err)
	}
	if refused == nil && status != action.Succeeded && (status != action.Canceled || r.Success) {
		l.t.Errorf("canceled: %v %+v", status, r)
	}
	return status == action.Canceled
}

// lands lands by a goal, which cannot be canceled.
func (l *lab) lands(c *lander) {
	l.t.Helper()
	p := must(c.Send(l.ctx, &msgs.LandGoal{}, nil))(l.t)
	if err := p.Cancel(l.ctx); err == nil {
		l.t.Error("a landing was canceled")
	}
	status, r, err := p.Result(l.ctx)
	if err != nil || status != action.Succeeded || !r.Success {
		l.t.Fatalf("%v %+v %v", status, r, err)
	}
	l.stands()
}

func (l *lab) stands() {
	l.t.Helper()
	l.until("the robot stands", func() bool {
		stage := newest(l.steps).GuardState
		return (stage == msgs.StepGuardOff || stage == msgs.StepGuardNotOffboard) && newest(l.truth).State.P.Z < 0.05
	})
}

// Over the wire: a take-off is a goal with heights as feedback, that ends when the policy flies; so is a landing, until
// the robot stands. A take-off that is canceled ends in a landing.
func TestTakeOffAndLandAreGoals(t *testing.T) {
	if testing.Short() {
		t.Skip("two processes")
	}
	l := newLab(t)
	l.grounded()
	up := must(action.NewClient[msgs.TakeOffGoal, msgs.TakeOffResult, msgs.TakeOffFeedback](l.n,
		"/quad/policy_controller/take_off"))(t)
	down := must(action.NewClient[msgs.LandGoal, msgs.LandResult, msgs.LandFeedback](l.n,
		"/quad/policy_controller/land"))(t)
	for _, wait := range []func(context.Context) error{up.WaitForServer, down.WaitForServer} {
		if err := wait(l.ctx); err != nil {
			t.Fatal(err)
		}
	}
	l.lands(down) // it stands already
	heights := make(chan float32, 1000)
	for end := time.Now().Add(patience); ; { // and again where a busy machine held states back
		status, r, err := l.climbs(up, heights).Result(l.ctx)
		if err == nil && status == action.Succeeded && r.Success {
			break
		}
		if err != nil || time.Now().After(end) {
			t.Fatalf("%v %+v %v", status, r, err)
		}
		t.Logf("not yet: %s", r.Message)
	}
	l.lands(down)
	for end := time.Now().Add(patience); !l.climbIsCanceled(up, heights); l.lands(down) { // its climb was over before
		if time.Now().After(end) {
			t.Fatal("no take-off could be canceled")
		}
	}
	l.stands()
	if len(heights) == 0 { // those of the first goal may be lost before its reader is known
		t.Error("no feedback")
	}
	for len(heights) > 0 {
		if z := <-heights; z < -0.1 || z > 1.2 {
			t.Errorf("a height of %v m", z)
		}
	}
}
