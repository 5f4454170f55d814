package node_test

import (
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"vnd/msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	stdsrvs "vnd/msgs/std_srvs"
	"vnd/pkg/node"
	"vnd/pkg/ros2/ros"
)

// tracker hands poses of motion capture on, until it is to lose them.
type tracker struct{ loses atomic.Bool }

func (l *lab) newTracker() *tracker {
	l.t.Helper()
	t := new(tracker)
	out := must(ros.NewPublisher[geometrymsgs.PoseStamped](l.n, "/quad/mocap/pose", node.MocapQoS()))(l.t)
	must(ros.NewSubscription(l.n, "/quad/seen", node.MocapQoS(), func(m *geometrymsgs.PoseStamped, _ ros.Info) {
		if !t.loses.Load() {
			_ = out.Publish(m)
		}
	}))(l.t)
	return t
}

// grounded starts a simulated robot that stands, and a controller for it.
func (l *lab) grounded(sim ...string) {
	l.t.Helper()
	file := must(filepath.Abs("../flight/control/testdata/a.vnd"))(l.t)
	l.start("quad_sim", append([]string{"-p", "start:=[0.0, 0.0, 0.0]", "-p", "lockstep:=true", "-p",
		"lockstep_patience:=1.0"}, sim...)...)
	l.start("policy_controller", "-p", "use_sim_time:=true", "-p", "bundle_file:="+file)
	l.change("configure")
	l.change("activate")
	l.until("the robot stands ready", func() bool {
		return len(l.steps) > 25 && newest(l.steps).GuardState == msgs.StepGuardOff
	})
}

// longestClimb is how long ~/takeoff waits for the end of a climb, on the wall.
const longestClimb = 4 * time.Second

// takeOff takes off, and has something happen once the law climbs; again where a busy machine had it refused before. An
// answer that is late says nothing of the end: the controller waited no longer for it.
func (l *lab) takeOff(then func()) (r *stdsrvs.TriggerResponse, late bool) {
	l.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		began, climbs, answer := time.Now(), false, make(chan *stdsrvs.TriggerResponse, 1)
		go func() { answer <- l.trigger("policy_controller/takeoff") }()
		l.until("the law climbs", func() bool {
			climbs = newest(l.steps).GuardState == msgs.StepGuardHold
			return climbs || len(answer) > 0
		})
		if climbs {
			then()
		}
		if r = <-answer; climbs || time.Now().After(end) {
			return r, time.Since(began) > longestClimb
		}
	}
}

// takesOff takes off, and again where a busy machine held states back.
func (l *lab) takesOff() {
	l.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		r, late := l.takeOff(func() {})
		if late || r.Success && r.Message == "took off: the policy flies" {
			return
		}
		if r.Success || time.Now().After(end) {
			l.t.Fatalf("with states: %+v", r)
		}
		l.t.Logf("not yet: %s", r.Message)
		l.trigger("policy_controller/reset_guard") // a delay that was found once stays
	}
}

// Over the wire: a take-off that ends on the ground is answered so, with what was wrong. The next one is answered when
// the policy flies.
func TestTakeOffReportsItsEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("two processes")
	}
	l := newLab(t)
	seen := l.newTracker()
	l.grounded("-r", "mocap/pose:=seen")
	r, late := l.takeOff(func() { seen.loses.Store(true) })
	tooOld, missed := "the take-off has ended: the state is too old", "the take-off has ended: ticks were missed"
	if !late && (r.Success || !strings.Contains(r.Message, tooOld) && !strings.Contains(r.Message, missed)) {
		t.Errorf("without states: %+v", r)
	}
	l.until("the robot stands", func() bool {
		return newest(l.steps).GuardState == msgs.StepGuardOff && newest(l.truth).State.P.Z < 0.05
	})
	if r := l.trigger("policy_controller/takeoff"); r.Success || !strings.Contains(r.Message, "too old") {
		t.Errorf("before states are there again: %+v", r)
	}
	l.until("the log says so", func() bool {
		return l.logged("; ~/takeoff takes off again")
	})
	seen.loses.Store(false)
	from := l.last().Seq
	l.until("states are there again", func() bool { return newest(l.steps).Seq > from+25 })
	l.takesOff()
	l.until("the policy flies", func() bool {
		return newest(l.steps).GuardState == msgs.StepGuardPolicy && newest(l.truth).State.P.Z > 0.85
	})
}

// Over the wire: a robot that does not follow commands, because its motors stand still, is not said to have taken off,
// and is not left to rise when they turn.
func TestTakeOffThatStaysDown(t *testing.T) {
	if testing.Short() {
		t.Skip("two processes")
	}
	l := newLab(t)
	l.grounded("-r", "command:=unheard")
	for end := time.Now().Add(patience); ; { // and again where a busy machine held states back
		r := l.trigger("policy_controller/takeoff")
		if strings.Contains(r.Message, "the take-off has ended: the robot does not leave the ground") && !r.Success {
			break
		}
		if r.Success || time.Now().After(end) {
			t.Fatalf("%+v", r)
		}
		time.Sleep(20 * time.Millisecond)
	}
	l.until("it stands", func() bool {
		s := newest(l.steps)
		return s.GuardState == msgs.StepGuardOff && s.CommandSent[0] == leastThrust
	})
}

// leastThrust is that of airframes by default, m/s².
const leastThrust = 1.0

// last is the newest step.
func (l *lab) last() msgs.Step {
	l.mu.Lock()
	defer l.mu.Unlock()
	return newest(l.steps)
}
