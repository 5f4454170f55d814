package controller

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	geometrymsgs "vnd/msgs/geometry_msgs"
	mavrosmsgs "vnd/msgs/mavros_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
	"vnd/pkg/node"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/diagnostics"
	"vnd/pkg/ros2/ros/lifecycle"
)

// published is what trackedRobot publishes.
type published struct {
	place atomic.Pointer[so3.Vec3] // of the robot, m in the world
	mode  atomic.Pointer[string]   // of mavros
}

// trackedRobot publishes pose and mode of an armed robot, a hundred times a second, until the test ends.
func (h *harness) trackedRobot(t *testing.T, place so3.Vec3, mode string) *published {
	states := must(ros.NewPublisher[mavrosmsgs.State](h.n, "mavros/state", ros.DefaultQoS()))(t)
	poses := must(ros.NewPublisher[geometrymsgs.PoseStamped](h.n, "mocap/pose", node.MocapQoS()))(t)
	p := new(published)
	p.place.Store(&place)
	p.mode.Store(&mode)
	ctx, cancel := context.WithTimeout(context.Background(), 4*long)
	ended := make(chan struct{})
	t.Cleanup(func() { cancel(); <-ended })
	go func() {
		defer close(ended)
		var m geometrymsgs.PoseStamped
		for ctx.Err() == nil {
			now := time.Now().UnixNano()
			at := p.place.Load().Add(so3.Vec3{Y: 1e-9 * float64(now%1e5)}) // no tracker sends a pose twice
			bridge.PutPoseStamped(&m, now, "map", quad.State{P: at, Q: so3.Identity()})
			_ = poses.Publish(&m)
			_ = states.Publish(&mavrosmsgs.State{Connected: true, Armed: true, Mode: *p.mode.Load()})
			time.Sleep(10 * time.Millisecond)
		}
	}()
	return p
}

// refusesHandover expects the check before a hand-over to fail with these words.
func (h *harness) refusesHandover(a autopilot, when, want string) {
	h.t.Helper()
	if err := h.c.checkReady(a); err == nil || !strings.Contains(err.Error(), want) {
		h.t.Errorf("%s: %v, expected %s", when, err, want)
	}
}

const (
	posctl   = "POSCTL"
	offboard = mavrosmsgs.StateModePx4Offboard
)

// While the autopilot says that it does not follow, steps say so; and a robot on the ground or far from its task is not
// handed over, with what to do about it.
func TestHandoverIsRefusedAtAWrongPlace(t *testing.T) {
	h := newHarness(t, "-p", "command_interface:=mavros", "-p", "hover_throttle:=0.4", "-p",
		"bundle_file:="+path("a.vnd"), "-p", "autostart:=true")
	robot := h.trackedRobot(t, so3.Vec3{Z: 0.03}, posctl)
	h.says(diagnostics.OK, "commands are not followed; if they were, the guard would fly, not the policy: handed "+
		"over on the ground")
	for _, c := range []struct {
		at   so3.Vec3
		want string
	}{
		{so3.Vec3{Z: 0.03}, "not armed: the robot stands on the ground, at 0.03 m (guard.ground is 0 m), and the " +
			"policy does not take off"},
		{so3.Vec3{X: 1.5, Z: 1}, "not armed: task hover begins at (0.00, 0.00, 1.00) m, 1.50 m from the robot, " +
			"expected at most 1"},
	} {
		robot.place.Store(&c.at)
		h.until(func() bool {
			p := (<-h.steps).Pose.Position
			return so3.Vec3{X: p.X, Y: p.Y, Z: p.Z}.Sub(c.at).Norm() < 1e-6
		})
		h.refusesHandover(h.c.autopilot(), fmt.Sprint("at ", c.at), c.want)
	}
}

// A robot that was outside comes to the right place: the hand-over is allowed, and the policy flies once the autopilot
// follows.
func TestHandsOver(t *testing.T) {
	h := newHarness(t, "-p", "command_interface:=mavros", "-p", "hover_throttle:=0.4", "-p",
		"bundle_file:="+path("a.vnd"), "-p", "autostart:=true")
	robot := h.trackedRobot(t, so3.Vec3{X: 9, Z: 1}, posctl) // outside
	h.says(diagnostics.Warn, "commands are not followed; if they were, the guard would fly: ")
	robot.place.Store(&so3.Vec3{Z: 1})
	h.says(diagnostics.OK, "commands are not followed")
	h.until(func() bool {
		s := <-h.steps
		return s.GuardState == uint8(guard.NotOffboard) && math.Abs(s.Pose.Position.X) < 1e-6
	})
	if err := h.c.checkReady(h.c.autopilot()); err != nil {
		t.Error(err)
	}
	h.refusesHandover(says{word: bridge.Autopilot{Connected: true, Mode: posctl}}, "a robot in a hand",
		"not armed: the autopilot, in mode POSCTL, is not armed, so that the robot at 1.00 m does not fly")
	mode := offboard
	robot.mode.Store(&mode)
	h.until(func() bool {
		switch s := guard.Stage((<-h.steps).GuardState); {
		case s.PolicyFlies():
			return true
		case s.HoldsAuthority(): // on a busy machine, where ticks come late
			_ = h.c.resetGuard()
		}
		return false
	})
	if err := h.c.checkReady(h.c.autopilot()); err != nil {
		t.Errorf("it follows already: %v", err)
	}
	h.change(lifecycle.Deactivate, lifecycle.Cleanup)
	h.refusesHandover(says{word: bridge.Autopilot{Connected: true, Armed: true, Mode: posctl}}, "cleaned up",
		"not armed: the controller is unconfigured")
}

// says is an autopilot that has just said a word.
type says struct {
	noAutopilot
	word bridge.Autopilot
}

func (s says) lastReport() (bridge.Autopilot, time.Duration) { return s.word, 0 }

// until waits for something to hold, which waits for what comes.
func (h *harness) until(holds func() bool) {
	h.t.Helper()
	for end := time.Now().Add(long); !holds(); {
		if time.Now().After(end) {
			h.t.Fatal("it did not come about")
		}
	}
}
