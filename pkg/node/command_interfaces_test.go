package node_test

import (
	"cmp"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	px4msgs "vnd/msgs/px4_msgs"
	stdsrvs "vnd/msgs/std_srvs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/so3"
	"vnd/pkg/node"
	"vnd/pkg/ros2/ros"

	"vnd/msgs"
)

// interfaces are the ways from the controller to the autopilot and back.
var interfaces = []struct {
	name    string
	sim     []string
	control []string
}{
	{"vnd", []string{"mocap_driver:=motion_capture_tracking"},
		[]string{"state_source:=named_poses", "body:=quadrotor"}},
	{"mavros", nil, []string{"state_source:=mavros"}},
	{"px4", nil, []string{"state_source:=px4"}},
	{"mavros", []string{"mocap_driver:=mocap4ros2"}, []string{"state_source:=rigid_bodies", "body:=quadrotor"}},
}

// Three interfaces over the wire, each with the autopilot's end played by quad_sim: the robot hovers where it was put
// until it is armed, then hovers and flies the figure-eight as well as under vnd's own topic. VND_INTERFACES is how
// many seconds of the figure-eight count, 1 without it.
func TestCommandInterfaces(t *testing.T) {
	if testing.Short() {
		t.Skip("eight processes")
	}
	s := cmp.Or(os.Getenv("VND_INTERFACES"), "1")
	const slack = 0.1
	seconds := must(strconv.ParseFloat(s, 64))(t)
	before := patience
	patience += time.Duration(seconds) * time.Second
	defer func() { patience = before }()
	l := newLab(t)
	bundles := must(ros.NewPublisher[msgs.Bundle](l.n, "/quad/bundle", node.LatchedQoS()))(t)
	if err := bundles.Publish(readBundle(t, "a.vnd")); err != nil {
		t.Fatal(err)
	}
	beats, setpoints := l.heartbeats()
	own := 0.0
	for _, x := range interfaces {
		e := l.commandInterface(x.name, x.sim, x.control, seconds)
		t.Logf("%s, %v: mean error %.2f mm over %g s", x.name, x.control[0], 1000*e, seconds)
		switch {
		case x.name == "vnd":
			own = e
		case math.Abs(e/own-1) > slack:
			t.Errorf("%s, %v: mean error %.2f mm, under vnd %.2f mm", x.name, x.control[0], 1000*e, 1000*own)
		}
	}
	// The first setpoint may come before its subscriber is known, the last one not at all.
	if b, s := beats.Load(), setpoints.Load(); b == 0 || b > s+s/20 {
		t.Errorf("%d heartbeats for %d setpoints", b, s)
	}
}

// heartbeats counts PX4's.
func (l *lab) heartbeats() (beats, setpoints *atomic.Int64) {
	beats, setpoints = new(atomic.Int64), new(atomic.Int64)
	deep := node.StepQoS()
	deep.Depth = 5000
	must(ros.NewSubscription(l.n, "/quad/fmu/in/vehicle_rates_setpoint", deep,
		func(*px4msgs.VehicleRatesSetpoint, ros.Info) { setpoints.Add(1) }))(l.t)
	must(ros.NewSubscription(l.n, "/quad/fmu/in/offboard_control_mode", deep,
		func(m *px4msgs.OffboardControlMode, _ ros.Info) {
			if !m.BodyRate || m.Position || m.Velocity || m.Acceleration || m.Attitude || m.ThrustAndTorque ||
				m.DirectActuator {
				l.t.Errorf("heartbeat %+v", *m)
			}
			beats.Add(1)
		}))(l.t)
	return beats, setpoints
}

// commandInterface flies one interface and returns the mean distance from the figure-eight in m.
func (l *lab) commandInterface(name string, sim, control []string, seconds float64) float64 {
	l.t.Helper()
	l.mu.Lock()
	l.steps, l.truth, l.commands = nil, nil, nil
	l.mu.Unlock()
	world := must(filepath.Abs("../../params/worlds/calm.yaml"))(l.t)
	both := []string{"command_interface:=" + name, "hover_throttle:=0.37", "thrust_curve:=0.6", "battery_voltage:=15.6"}
	arguments := func(all ...string) (args []string) {
		for _, a := range append(all, both...) {
			args = append(args, "-p", a)
		}
		return args
	}
	place := so3.Vec3{X: 0.5, Z: 1}
	// Time keeps to the wall until commands come: what a busy machine is late with then is stale to the guard.
	endSim := l.spawn("quad_sim", arguments(append(sim, "world:="+world, "start:=[0.5, 0.0, 1.0]", "lockstep:=true",
		"lockstep_patience:=20.0")...)...)
	defer endSim()
	endControl := l.spawn("policy_controller", arguments(append(control, "use_sim_time:=true")...)...)
	defer endControl()
	l.change("configure")
	l.change("activate")
	if name == "vnd" {
		if r := l.arm(true); r.Success || !strings.Contains(r.Message, "no autopilot to arm") {
			l.t.Errorf("arming %s: %+v", name, r)
		}
	} else {
		l.until("commands flow, and nobody follows them",
			func() bool { return len(l.steps) > 25 && len(l.truth) > 50 && l.hovers(place) })
		if r := l.arm(true); !r.Success {
			l.t.Fatalf("arming %s: %s", name, r.Message)
		}
	}
	if name == "mavros" {
		if r := l.arm(false); r.Success || !strings.Contains(r.Message, "the autopilot refused") {
			l.t.Errorf("disarming %s in the air: %+v", name, r)
		}
	}
	l.until("the robot hovers", func() bool { return l.hovers(so3.Vec3{Z: 1}) })
	if r := l.task("track", ""); !r.Success {
		l.t.Fatal(r.Message)
	}
	var e float64
	l.until("the figure-eight has been flown", func() bool { return l.tracked(&e, seconds) })
	return e
}

// tracked is the mean distance from the figure-eight over its last seconds, once 3 s of it and then so many were flown.
func (l *lab) tracked(e *float64, seconds float64) bool {
	sum, n, begin := 0.0, 0, int64(0)
	for i := range l.steps {
		s := &l.steps[i]
		if s.Task != "track" {
			continue
		}
		stamp := bridge.Nanoseconds(s.Header.Stamp)
		if begin == 0 {
			begin = stamp
		}
		if t := float64(stamp-begin) / 1e9; t > 3 && t <= 3+seconds {
			p := so3.Vec3{X: s.Pose.Position.X, Y: s.Pose.Position.Y, Z: s.Pose.Position.Z}
			sum += p.Sub(so3.Vec3{X: s.Reference[0], Y: s.Reference[1], Z: s.Reference[2]}).Norm()
			n++
		} else if t > 3+seconds {
			*e = sum / float64(n)
			return true
		}
	}
	return false
}

func (l *lab) arm(on bool) *stdsrvs.SetBoolResponse {
	l.t.Helper()
	return call[stdsrvs.SetBoolRequest, stdsrvs.SetBoolResponse](l, "/quad/policy_controller/arm",
		&stdsrvs.SetBoolRequest{Data: on})
}
