package interop

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"vnd/pkg/ros2/rmw"
)

// requireInterop skips a test unless make interop runs it.
func requireInterop(t *testing.T) {
	t.Helper()
	if os.Getenv("VND_INTEROP") == "" {
		t.Skip("make interop runs this")
	}
}

// withROS is a place with ROS 2's tools; it skips the test without them.
func withROS(t *testing.T, packages ...string) *place {
	t.Helper()
	requireInterop(t)
	if os.Getenv("AMENT_PREFIX_PATH") == "" {
		t.Skip("no ROS 2 here: source its setup.bash first")
	}
	if _, err := exec.LookPath("ros2"); err != nil {
		t.Skip("no ros2 on the PATH: ", err)
	}
	p := newPlace(t)
	there := strings.Fields(p.shell("ros2 pkg list"))
	for _, name := range packages {
		if !slices.Contains(there, name) {
			t.Skipf("this ROS 2 has no package %s", name)
		}
	}
	p.shell("ros2 daemon stop; ros2 daemon start") // in this environment
	t.Cleanup(func() { p.shell("ros2 daemon stop") })
	return p
}

// The transcripts of ROS' tools were recorded with a node of rclpy; ours takes its place.
func TestTools(t *testing.T) {
	p := withROS(t, "ros2topic", "ros2service", "ros2param")
	talker := p.start("talker", "--ros-args", "-r", "__ns:=/drone1")
	p.replay("cli.txt")
	p.replay("more.txt")
	if rmw.AfterKilted(os.Getenv("ROS_DISTRO")) {
		p.replay("lyrical.txt")
	}
	if log := talker.stop(); !strings.Contains(log, "[drone1.talker]: cmd go\n") {
		t.Errorf("the talker did not hear ros2 topic pub: %s", log)
	}
}

func TestLifecycle(t *testing.T) {
	p := withROS(t, "ros2lifecycle")
	p.start("lc")
	p.replay("lifecycle.txt")
}

func TestFrames(t *testing.T) {
	p := withROS(t, "ros2topic", "tf2_msgs", "diagnostic_msgs")
	p.start("frames")
	p.replay("frames.txt")
}
