package examples

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	geometrymsgs "vnd/msgs/geometry_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/node"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/rostest"
)

// join returns a node of the test, over Cyclone DDS.
func join(t *testing.T) *ros.Node {
	t.Helper()
	c := rostest.Wire(t, nil)
	rostest.Spin(t, c, 1)
	n, err := c.NewNode("tester")
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// start starts a node of the examples, to be interrupted at the end of the test, and returns what it prints.
func start(t *testing.T, name string, args ...string) io.Reader {
	t.Helper()
	p := exec.Command(filepath.Join(built, name), args...)
	p.Env = append(append(os.Environ(), "ROS_LOG_DIR="+t.TempDir()), rostest.Environ()...)
	var problems strings.Builder
	p.Stderr = &problems
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	killer := time.AfterFunc(patience, func() { _ = p.Process.Kill() })
	t.Cleanup(func() {
		defer killer.Stop()
		if err := p.Process.Signal(syscall.SIGINT); err != nil {
			t.Error(err)
		}
		if err := p.Wait(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, &problems)
		}
	})
	return out
}

func TestTalkerPublishes(t *testing.T) {
	join(t)
	for lines := bufio.NewScanner(start(t, "talker")); lines.Scan(); {
		if lines.Text() == "published hello 3" {
			return
		}
	}
	t.Error("it did not publish three times")
}

// TestOwnAutopilotIsCommanded gives poses to the controller and waits for throttle and rates.
func TestOwnAutopilotIsCommanded(t *testing.T) {
	n := join(t)
	received := make(chan geometrymsgs.Twist, 1)
	if _, err := ros.NewSubscription(n, "own/setpoint", ros.DefaultQoS(), func(m *geometrymsgs.Twist, _ ros.Info) {
		select {
		case received <- *m:
		default:
		}
	}); err != nil {
		t.Fatal(err)
	}
	poses, err := ros.NewPublisher[geometrymsgs.PoseStamped](n, "mocap/pose", node.MocapQoS())
	if err != nil {
		t.Fatal(err)
	}
	start(t, "own_autopilot", "--ros-args", "-p", "autostart:=true", "-p", "hover_throttle:=0.4",
		"-p", "bundle_file:="+bundles+"a.vnd")
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := ros.WaitForMatched(ctx, poses, 1); err != nil {
		t.Fatal(err)
	}
	var m geometrymsgs.PoseStamped
	for ctx.Err() == nil {
		bridge.PutPoseStamped(&m, time.Now().UnixNano(), "map", quad.State{P: so3.Vec3{Z: 1}, Q: so3.Identity()})
		if err := poses.Publish(&m); err != nil {
			t.Fatal(err)
		}
		select {
		case m := <-received:
			if throttle := m.Linear.Z; !(throttle > 0.03 && throttle <= 1) {
				t.Errorf("throttle %g", throttle)
			}
			return
		case <-time.After(5 * time.Millisecond):
		}
	}
	t.Error("no setpoint came")
}
