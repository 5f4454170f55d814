package node_test

import (
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"vnd/msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	sensormsgs "vnd/msgs/sensor_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
	"vnd/pkg/node"
	"vnd/pkg/ros2/ros"
)

// Over the wire: a policy that commands motors hovers and flies the figure-eight, and the guard lands and takes off by
// its rate loop and mixer. Then the controller is killed, and the vehicle's failsafe lands it.
func TestMotorsOverTheWire(t *testing.T) {
	if testing.Short() {
		t.Skip("two processes")
	}
	l := newLab(t)
	world := must(filepath.Abs("../../params/worlds/calm.yaml"))(t)
	file := must(filepath.Abs("../flight/control/testdata/motors.vnd"))(t)
	const rotors = "command_interface:=rotors"
	l.start("quad_sim", "-p", rotors, "-p", "world:="+world, "-p", "lockstep:=true", "-p", "lockstep_patience:=20.0",
		"-p", "lockstep_paced:=true", "-p", "speed:=2.0")
	end := l.spawn("policy_controller", "-p", rotors, "-p", "use_sim_time:=true", "-p", "bundle_file:="+file)
	l.change("configure")
	l.change("activate")
	l.until("the robot hovers", func() bool { return l.hovers(so3.Vec3{Z: 1}) && l.policyFlew(100) })
	if r := l.task("track", ""); !r.Success {
		t.Fatal(r.Message)
	}
	var e float64
	l.until("the figure-eight has been flown", func() bool { return l.tracked(&e, 2) })
	if t.Logf("mean error %.1f mm", 1000*e); e > 0.15 {
		t.Errorf("%.3f m from the figure-eight in the mean", e)
	}
	if r := l.task("hover", ""); !r.Success {
		t.Fatal(r.Message)
	}
	l.until("the robot hovers again", func() bool { return l.hovers(so3.Vec3{Z: 1}) })
	if r := l.trigger("policy_controller/land"); !r.Success {
		t.Fatal(r.Message)
	}
	l.until("the robot has landed", func() bool {
		return newest(l.steps).GuardState == msgs.StepGuardOff && newest(l.truth).State.P.Z < 0.1
	})
	if r := l.trigger("policy_controller/takeoff"); !r.Success {
		t.Fatal(r.Message)
	}
	l.until("the policy flies again", func() bool {
		return newest(l.steps).GuardState == msgs.StepGuardPolicy && newest(l.truth).State.P.Z > 0.9
	})
	l.until("the robot hovers again", func() bool { return l.hovers(so3.Vec3{Z: 1}) })
	end()
	l.until("the failsafe has landed it", func() bool {
		z := newest(l.truth).State.P.Z
		time.Sleep(time.Millisecond)
		return z < 0.1
	})
}

// wiring passes motion capture and gyroscope of the vehicle on to the controller, as long as they work.
type wiring struct {
	mu     sync.Mutex
	frozen bool // poses repeat under new stamps
	still  bool // no body rates come
	moment bool // but for aMoment alone, by their stamps
	since  int64
	last   geometrymsgs.PoseStamped
}

// set has something fail from now on, or work again.
func (r *wiring) set(change func(r *wiring)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(r)
}

// aMoment is less than costs a landing, ns.
const aMoment = 300e6

// lost reports whether the body rates of a stamp do not come.
func (r *wiring) lost(stamp int64) bool {
	if r.still && r.since == 0 {
		r.since = stamp
	}
	r.still = r.still && !(r.moment && stamp-r.since >= aMoment)
	return r.still
}

func (l *lab) wiring() *wiring {
	r := &wiring{}
	poses := must(ros.NewPublisher[geometrymsgs.PoseStamped](l.n, "/quad/mocap/pose", node.MocapQoS()))(l.t)
	rates := must(ros.NewPublisher[sensormsgs.Imu](l.n, "/quad/imu", node.MocapQoS()))(l.t)
	must(ros.NewSubscription(l.n, "/quad/raw/pose", node.MocapQoS(), func(m *geometrymsgs.PoseStamped, _ ros.Info) {
		r.set(func(r *wiring) {
			if stamp := m.Header.Stamp; r.frozen {
				r.last.Header.Stamp = stamp
			} else {
				r.last = *m
			}
			if err := poses.Publish(&r.last); err != nil {
				l.t.Error(err)
			}
		})
	}))(l.t)
	must(ros.NewSubscription(l.n, "/quad/raw/imu", node.MocapQoS(), func(m *sensormsgs.Imu, _ ros.Info) {
		r.set(func(r *wiring) {
			if r.lost(bridge.Nanoseconds(m.Header.Stamp)) {
				return
			}
			if err := rates.Publish(m); err != nil {
				l.t.Error(err)
			}
		})
	}))(l.t)
	return r
}

// Faults over the wire of a vehicle that is flown by its motors: the guard takes over, and lands it upright near to
// where it was, by dead reckoning or by rates of attitudes. What comes back within half a second costs no landing.
func TestMotorsOutliveLostSensors(t *testing.T) {
	if testing.Short() {
		t.Skip("two processes for each fault")
	}
	for name, c := range map[string]struct {
		task  string
		fault func(r *wiring)
		lands bool
	}{
		"frozen mocap":        {"hover", func(r *wiring) { r.frozen = true }, true},
		"no imu, in motion":   {"track", func(r *wiring) { r.still = true }, true},
		"no imu for a moment": {"hover", func(r *wiring) { r.still, r.moment = true, true }, false},
	} {
		t.Run(name, func(t *testing.T) { outlive(t, c.task, c.fault, c.lands) })
	}
}

func outlive(t *testing.T, task string, fault func(r *wiring), lands bool) {
	l := newLab(t)
	r := l.wiring()
	world := must(filepath.Abs("../../params/worlds/calm.yaml"))(t)
	file := must(filepath.Abs("../flight/control/testdata/motors.vnd"))(t)
	const rotors = "command_interface:=rotors"
	l.start("quad_sim", "-r", "mocap/pose:=raw/pose", "-r", "imu:=raw/imu", "-p", rotors, "-p", "world:="+world, "-p",
		"lockstep:=true", "-p", "lockstep_patience:=20.0", "-p", "lockstep_paced:=true", "-p", "speed:=2.0")
	l.start("policy_controller", "-p", rotors, "-p", "use_sim_time:=true", "-p", "bundle_file:="+file)
	l.change("configure")
	l.change("activate")
	l.until("the robot hovers", func() bool { return l.hovers(so3.Vec3{Z: 1}) && l.policyFlew(100) })
	if task != "hover" {
		if r := l.task(task, ""); !r.Success {
			t.Fatal(r.Message)
		}
		l.until("the robot moves", func() bool { return newest(l.truth).State.V.Norm() > 1 })
	}
	var begun, ticks int
	l.until("the fault", func() bool {
		begun, ticks = len(l.truth), len(l.steps)
		r.set(fault)
		return true
	})
	l.until("the guard flies", func() bool {
		return slices.ContainsFunc(l.steps[ticks:], func(s msgs.Step) bool {
			return guard.Stage(s.GuardState).HoldsAuthority()
		})
	})
	if !lands {
		l.until("the policy flies again", func() bool { return l.hovers(so3.Vec3{Z: 1}) && l.policyFlew(100) })
		return
	}
	l.until("it has landed", func() bool { return newest(l.truth).State.P.Z < 0.1 })
	l.mu.Lock()
	defer l.mu.Unlock()
	from, tilt, fall := l.truth[begun-1].State.P, 0.0, 0.0
	for _, x := range l.truth[begun:] {
		tilt = max(tilt, x.State.Q.Tilt())
		if x.State.P.Z > 0.1 {
			fall = x.State.V.Z
		}
	}
	away := newest(l.truth).State.P.Sub(from)
	away.Z = 0
	t.Logf("tilt %.2f rad, %.2f m away, touches down at %.2f m/s", tilt, away.Norm(), -fall)
	if tilt > 0.7 || away.Norm() > 2 || fall < -1.5 {
		t.Errorf("tilt %.2f rad, %.2f m away, touches down at %.2f m/s", tilt, away.Norm(), -fall)
	}
}
