package controller

import (
	"context"
	"crypto/sha256"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"vnd/msgs"
	diagnosticmsgs "vnd/msgs/diagnostic_msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	navmsgs "vnd/msgs/nav_msgs"
	rosgraphmsgs "vnd/msgs/rosgraph_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/node"
	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/diagnostics"
	"vnd/pkg/ros2/ros/lifecycle"
	"vnd/pkg/ros2/ros/params"
	"vnd/pkg/vnd/bundle"
)

// mocap is motion capture of a robot that does not move, at 50 Hz of simulated time, which waits for the controller:
// what the machine is busy with is no gap.
type mocap struct {
	mu     sync.Mutex
	state  quad.State
	now    int64         // ns
	behind time.Duration // by which samples are stamped too early
	flies  bool          // the newest sample was answered by a step
	jumps  bool          // the clock was set
}

// is changes the robot's state.
func (m *mocap) is(s quad.State) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state, m.flies = s, false
}

// jump sets the clock.
func (m *mocap) jump(by time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now += int64(by)
	m.flies, m.jumps = false, true
}

// pause is how long the next sample waits. What the guard does for a second after a jump is to show in /diagnostics,
// which goes by real time.
func (m *mocap) pause() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.jumps {
		return 10 * time.Millisecond
	}
	return 0
}

// late has samples stamped too early by a time, or too late by its opposite.
func (m *mocap) late(by time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.behind, m.flies = by, false
}

// next is the next sample, and how long to wait for its step.
func (m *mocap) next() (s quad.State, now, stamp int64, wait time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now += 20e6
	wait = 50 * time.Millisecond
	if m.flies {
		wait = 2 * time.Second
	}
	return m.state, m.now, m.now - int64(m.behind), wait
}

func (m *mocap) answered(yes bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.flies = yes
}

var hovering = quad.State{P: so3.Vec3{Z: 1}, Q: so3.Identity()}

// motion begins to publish samples of a topic, until the test ends.
func (h *harness) motion(topic string, behind time.Duration) *mocap {
	h.t.Helper()
	m := &mocap{state: hovering, now: 1_000_000_000_000, behind: behind}
	clock := must(ros.NewPublisher[rosgraphmsgs.Clock](h.n, "/clock", node.CommandQoS()))(h.t)
	poses := must(ros.NewPublisher[geometrymsgs.PoseStamped](h.n, "mocap/pose", node.MocapQoS()))(h.t)
	odometries := must(ros.NewPublisher[navmsgs.Odometry](h.n, "mocap/odom", node.MocapQoS()))(h.t)
	var p geometrymsgs.PoseStamped
	var o navmsgs.Odometry
	send := func(now, stamp int64, s quad.State) error {
		s.P.X += 1e-5 * float64(now/1e6%97) // no tracker sends a pose twice
		err := clock.Publish(&rosgraphmsgs.Clock{Clock: bridge.Time(now)})
		if topic == "mocap/odom" {
			bridge.PutOdometry(&o, stamp, "world", "base_link", s)
			return errors.Join(err, odometries.Publish(&o))
		}
		bridge.PutPoseStamped(&p, stamp, "world", s)
		return errors.Join(err, poses.Publish(&p))
	}
	stop, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			s, now, stamp, wait := m.next()
			if err := send(now, stamp, s); err != nil {
				ended <- err
				return
			}
			m.answered(h.answer(stamp, wait, stop))
			select {
			case <-stop:
				ended <- nil
				return
			case <-time.After(m.pause()):
			}
		}
	}()
	h.t.Cleanup(func() {
		close(stop)
		if err := <-ended; err != nil {
			h.t.Error(err)
		}
	})
	return m
}

// flying waits until the policy flies, whatever the guard found before.
func (h *harness) flying() {
	h.t.Helper()
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() { // until states come, and again where a busy machine trips the guard before they are answered
		defer close(ended)
		for {
			if h.guard == nil {
				_ = h.c.resetGuard()
			} else {
				_ = h.guard.resetGuard()
			}
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	h.says(diagnostics.OK, "the policy flies")
	close(stop)
	<-ended
}

// answer waits for the step of a stamp.
func (h *harness) answer(stamp int64, wait time.Duration, stop <-chan struct{}) bool {
	for end := time.After(wait); ; {
		select {
		case s := <-h.steps:
			if bridge.Nanoseconds(s.Header.Stamp) == stamp {
				return true
			}
		case <-end:
			return false
		case <-stop:
			return false
		}
	}
}

// ready is a node that is active under bundle a.
func ready(t *testing.T, args ...string) *harness {
	t.Helper()
	h := newHarness(t, append([]string{"-p", "use_sim_time:=true", "-p", "bundle_file:=" + path("a.vnd")}, args...)...)
	h.change(lifecycle.Configure, lifecycle.Activate)
	return h
}

// Poses in millimetres, with z down, or of axes that nobody flies: each is told in one line that names topic and value,
// and no command comes of it.
func TestPosesThatCannotBe(t *testing.T) {
	h := ready(t)
	m := h.motion("mocap/pose", 0)
	for _, c := range []struct {
		s    quad.State
		want string
	}{
		{quad.State{P: so3.Vec3{X: 120, Z: 1000}, Q: so3.Identity()},
			"topic /mocap/pose: position (120, 0, 1000) m is far outside the geofence, expected metres within ±4; " +
				"are these millimetres?"},
		{quad.State{P: so3.Vec3{Z: -1}, Q: so3.Identity()},
			"topic /mocap/pose: position (0, 0, -1) m is below the ground at 0 m (guard.ground), expected z up"},
		{quad.State{P: so3.Vec3{Z: 1}, Q: so3.Exp(so3.Vec3{X: math.Pi})},
			"topic /mocap/pose: the body's z axis is (0.00, -0.00, -1.00) before the flight, expected up"},
	} {
		m.is(c.s)
		h.says(diagnostics.Error, c.want)
	}
	if h.c.ticker().loop.Stamp() != 0 {
		t.Error("it flies")
	}
	m.is(hovering)
	h.flying()
}

// An odometry with a zero quaternion is told, and flown by no one.
func TestZeroQuaternion(t *testing.T) {
	h := ready(t, "-p", "state_source:=odometry")
	m := h.motion("mocap/odom", 0)
	h.flying()
	m.is(quad.State{P: so3.Vec3{Z: 1}})
	h.says(diagnostics.Error, "topic /mocap/odom: a quaternion of norm 0, expected 1 ± 0.01")
	h.says(diagnostics.Error, "the guard flies: ")
}

// Stamps of another clock are told with how far off they are.
func TestForeignClock(t *testing.T) {
	h := ready(t)
	h.motion("mocap/pose", time.Hour)
	h.says(diagnostics.Error, "topic /mocap/pose: stamped 3600.")
}

// A clock that jumps in flight trips the guard, and the diagnosis says by how much it jumped.
func TestClockJumps(t *testing.T) {
	h := ready(t)
	m := h.motion("mocap/pose", 0)
	h.flying()
	m.jump(100 * time.Second)
	h.says(diagnostics.Error, "the guard flies: ticks were missed or the clock jumped, 100.")
	h.flying()
	m.jump(-100 * time.Second)
	h.says(diagnostics.Error, "the guard flies: ticks were missed or the clock jumped, -9")
}

// A bundle of another robot is refused by name, and what flies flies on.
func TestAnotherRobot(t *testing.T) {
	h := ready(t)
	h.motion("mocap/pose", 0)
	h.flying()
	before, _ := h.c.flying()
	b := must(bundle.Read(path("a.vnd")))(t)
	b.ID, b.Robot = "", "arm"
	data := must(b.Encode())(t)
	m := &msgs.Bundle{ID: b.ID, Parent: b.Parent, Robot: b.Robot, Task: b.Task, Data: data, Sha256: sha256.Sum256(data)}
	pub := must(ros.NewPublisher[msgs.Bundle](h.n, "bundle", node.LatchedQoS()))(t)
	if err := pub.Publish(m); err != nil {
		t.Fatal(err)
	}
	h.says(diagnostics.Warn, "topic bundle: bundle "+b.ID+` is of robot "arm", expected "quadrotor"`)
	if f, _ := h.c.flying(); f != before {
		t.Error("it flies")
	}
}

// A publisher whose QoS does not fit is told, with the policy that keeps it apart.
func TestWrongQoS(t *testing.T) {
	h := ready(t)
	reported := make(chan string, 100)
	must(ros.NewSubscription(h.n, "/diagnostics", ros.DefaultQoS(),
		func(m *diagnosticmsgs.DiagnosticArray, _ ros.Info) {
			i := slices.IndexFunc(m.Status, func(s diagnosticmsgs.DiagnosticStatus) bool {
				return s.Name == Name+": QoS"
			})
			if i < 0 {
				return
			}
			select {
			case reported <- m.Status[i].Message:
			default:
			}
		}))(t)
	must(ros.NewPublisher[msgs.Bundle](h.n, "bundle", ros.QoS{Reliability: dds.Reliable, Depth: 1}))(t) // volatile
	must(ros.NewSubscription(h.n, "step", ros.QoS{Reliability: dds.Reliable, Durability: dds.TransientLocal, Depth: 1},
		func(*msgs.Step, ros.Info) {}))(t)
	ctx, cancel := context.WithTimeout(context.Background(), long)
	defer cancel()
	for last := ""; ; {
		select {
		case last = <-reported:
			if strings.Contains(last, "subscription of /bundle: incompatible DURABILITY") &&
				strings.Contains(last, "publisher of /step: incompatible DURABILITY") {
				return
			}
		case <-ctx.Done():
			t.Fatalf("the diagnosis is %q", last)
		}
	}
}

// A parameter out of range, or in degrees, is refused in flight by name, range and unit, and the flight goes on.
func TestParametersInFlight(t *testing.T) {
	h := ready(t)
	h.motion("mocap/pose", 0)
	h.flying()
	for _, c := range []struct {
		name  string
		value float64
		want  string
	}{
		{"rate", 1000, "Parameter {rate} doesn't comply with floating point range. 1000 is not within 10 … 400."},
		{"guard.max_age", 5, "Parameter {guard.max_age} doesn't comply with floating point range. 5 is not within " +
			"0.01 … 0.1."},
		{"guard.max_tilt", 60, "Parameter {guard.max_tilt} doesn't comply with floating point range. 60 is not " +
			"within 0.2 … 3.2."}, // degrees
		{"limits.max_tilt_rate", 343, "Parameter {limits.max_tilt_rate} doesn't comply with floating point range. " +
			"343 is not within 0.5 … 40."},
	} {
		if err := h.c.Parameters().SetAtomically(params.Parameter{Name: c.name, Value: c.value}); err == nil ||
			err.Error() != c.want {
			t.Errorf("%v\nwant %s", err, c.want)
		}
	}
	if err := h.c.setTask("hover", `{"kind": "hover", "yaw": 90}`); err == nil ||
		!strings.Contains(err.Error(), `"yaw"`) || !strings.Contains(err.Error(), "6.3") ||
		strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
	h.flying()
}
