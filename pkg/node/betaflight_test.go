package node_test

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"vnd/msgs"
	mavrosmsgs "vnd/msgs/mavros_msgs"
	"vnd/pkg/bridge/betaflight/sitl/sitltest"
	"vnd/pkg/core/so3"
	"vnd/pkg/node"
	"vnd/pkg/ros2/ros"
)

// boarded is a lab whose robot is flown by Betaflight's firmware, behind betaflight_bridge.
type boarded struct {
	*lab
	board mavrosmsgs.State // as the bridge tells
}

// newBoarded starts simulator, bridge and controller as a user does, in half of real time at most. Time waits for
// commands, and the bridge for a second: those of a starved machine are late on the wall, where the bridge counts.
func newBoarded(t *testing.T) *boarded {
	t.Helper()
	b := &boarded{lab: newLab(t)}
	if out, err := exec.CommandContext(b.ctx, "go", "build", "-o", b.dir, "../../nodes/betaflight_bridge").
		CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	must(ros.NewSubscription(b.n, "/quad/betaflight_bridge/state", node.AutopilotQoS(),
		func(m *mavrosmsgs.State, _ ros.Info) {
			b.mu.Lock()
			b.board = *m
			b.mu.Unlock()
			b.changed.Broadcast()
		}))(t)
	b.start("quad_sim", "-p", "start:=[0.0, 0.0, 0.0]", "-p", "speed:=0.5", "-p", "lockstep:=true", "-p",
		"lockstep_paced:=true", "-p", "lockstep_patience:=1.0", "-p", "autopilot.firmware:=betaflight", "-p",
		"autopilot.serial:=true", "-p", "autopilot.settings:=[failsafe_delay=20]", "-r", "mocap/pose:=seen")
	var said []string
	b.until("the board's serial line is known", func() bool {
		said = regexp.MustCompile(`at (tcp:\S+); of its airframe: hover_throttle (\S+), thrust_curve (\S+)`).
			FindStringSubmatch(strings.Join(b.log, "\n"))
		return said != nil
	})
	b.start("betaflight_bridge", "-p", "use_sim_time:=true", "-p", "port:="+said[1], "-p", "hover_throttle:="+said[2],
		"-p", "thrust_curve:="+said[3], "-p", "arm_timeout:=9.0", "-p", "command_timeout:=1.0")
	b.start("policy_controller", "-p", "use_sim_time:=true", "-p", "command_interface:=betaflight", "-p",
		"bundle_file:="+must(filepath.Abs("../flight/control/testdata/a.vnd"))(t), "-p", "emergency_service:=true",
		"-p", "autostart:=true")
	return b
}

// armed arms the board of a robot that stands.
func (b *boarded) armed() {
	b.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		r := b.arm(true)
		if r.Success {
			break
		}
		if time.Now().After(end) {
			b.t.Fatalf("not armed: %s", r.Message)
		}
	}
	b.until("the robot stands, armed", func() bool {
		return b.board.Guided && newest(b.steps).GuardState == msgs.StepGuardOff && newest(b.truth).State.P.Z < 0.1
	})
}

// flies takes off, and again where a busy machine held states back.
func (b *boarded) flies() {
	b.t.Helper()
	for end := time.Now().Add(patience); ; {
		b.armed()
		r := b.trigger("policy_controller/takeoff")
		if r.Success {
			break
		}
		if b.t.Logf("no take-off: %s", r.Message); time.Now().After(end) {
			b.t.Fatal("the robot does not take off")
		}
		b.down()
	}
	b.until("the robot hovers", func() bool { return b.hovers(so3.Vec3{Z: 1}) })
}

// down disarms the board of a robot that is not to fly yet, once it stands.
func (b *boarded) down() {
	b.t.Helper()
	if r := b.trigger("policy_controller/land"); !r.Success {
		b.t.Fatal(r.Message)
	}
	b.until("the robot has come down", func() bool {
		return newest(b.truth).State.P.Z < 0.1 && newest(b.steps).Pose.Position.Z < 0.1
	})
	for end := time.Now().Add(patience); ; {
		r := b.arm(false)
		if r.Success {
			break
		}
		if time.Now().After(end) {
			b.t.Fatal(r.Message)
		}
	}
	b.disarmed()
}

// disarmed waits until the board is, some time after a landing.
func (b *boarded) disarmed() {
	b.t.Helper()
	b.until("the board is disarmed", func() bool { return b.board.Connected && !b.board.Armed })
}

// Over the wire, on the firmware: states that end in a take-off leave the robot on the ground, and the answer says so.
// The next take-off flies; the robot lands and is disarmed. Then ~/emergency stops the motors in the air.
func TestBetaflightOverTheWire(t *testing.T) {
	if testing.Short() {
		t.Skip("three processes and the firmware")
	}
	sitltest.Folder(t)
	b := newBoarded(t)
	seen := b.newTracker()
	if r := b.trigger("policy_controller/takeoff"); r.Success {
		t.Errorf("a disarmed board took off: %+v", r)
	}
	b.armed()
	if r, late := b.takeOff(func() { seen.loses.Store(true) }); r.Success && !late {
		t.Errorf("without states: %+v", r)
	}
	seen.loses.Store(false)
	b.down()
	b.flies()
	if r := b.trigger("policy_controller/land"); !r.Success {
		t.Fatal(r.Message)
	}
	b.disarmed()
	if z := b.last().Pose.Position.Z; z > 0.1 {
		t.Errorf("disarmed at %.2f m", z)
	}
	b.flies()
	if r := b.trigger("policy_controller/emergency"); !r.Success {
		t.Fatal(r.Message)
	}
	b.until("the motors stand, and it has fallen", func() bool {
		return !b.board.Armed && newest(b.truth).State.P.Z < 0.1
	})
	if r := b.trigger("policy_controller/takeoff"); r.Success || !strings.Contains(r.Message, "~/emergency") {
		t.Errorf("a take-off after that: %+v", r)
	}
}
