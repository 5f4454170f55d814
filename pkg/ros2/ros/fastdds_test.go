package ros_test

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"vnd/pkg/ros2/dds/fastdds"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros"
)

// speaking is an environment on the loopback with an RMW implementation. Fast DDS knows no
// tags, so that the domain alone keeps others out.
func speaking(implementation string) []string {
	return []string{"ROS_LOCALHOST_ONLY=1", fmt.Sprintf("ROS_DOMAIN_ID=%d", 201+os.Getpid()%30), "ROS_DISTRO=humble",
		"CYCLONEDDS_URI=", "RMW_IMPLEMENTATION=" + implementation}
}

// inJazzy is speaking with the discovery of Jazzy.
func inJazzy(implementation string) []string {
	return append(speaking(implementation), "ROS_DISTRO=jazzy", "ROS_LOCALHOST_ONLY=",
		"ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST")
}

// Two processes, each on either middleware: graph, topics, services, parameters and lifecycle.
func TestMiddlewares(t *testing.T) {
	if err := fastdds.Installed(); err != nil {
		t.Skip(err)
	}
	for _, c := range [][2]string{{rmw.FastDDS, rmw.FastDDS}, {rmw.FastDDS, rmw.Cyclone},
		{rmw.Cyclone, rmw.FastDDS}} {
		t.Run(c[0]+" asks "+c[1], func(t *testing.T) {
			useRobot(t, overTheWireIn(t, variables(speaking(c[0]))), speaking(c[1]))
		})
	}
	t.Run("in Jazzy", func(t *testing.T) {
		useRobot(t, overTheWireIn(t, variables(inJazzy(rmw.Cyclone))), inJazzy(rmw.FastDDS))
	})
}

// A program says in one line what is missing for the middleware that was chosen, and warns of
// one that it does not know, and of such a distribution.
func TestChosenMiddleware(t *testing.T) {
	for chosen, want := range map[string]string{
		rmw.FastDDS:        "RMW_IMPLEMENTATION is rmw_fastrtps_cpp: no backend of Fast DDS: apt-get install",
		rmw.FastDDSDynamic: "RMW_IMPLEMENTATION is rmw_fastrtps_dynamic_cpp: no backend of Fast DDS",
	} {
		p, stdout, stderr := startIn(t, append(speaking(chosen), "VND_FASTDDS=/nope.so"), nil, "robot")
		io.Copy(io.Discard, stdout)
		if err := p.Wait(); strings.Contains(stderr.String(), "built without C") {
			t.Skip(stderr)
		} else if err == nil || !strings.Contains(stderr.String(), want) || strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("%s: %v, %s, expected one line with %q", chosen, err, stderr, want)
		}
	}
	var log strings.Builder
	env := environment()
	env["RMW_IMPLEMENTATION"], env["ROS_DISTRO"] = "rmw_zenoh_cpp", "jazy"
	c, err := ros.NewContext(ros.Options{Args: []string{"--ros-args", "--disable-external-lib-logs"},
		Getenv: func(key string) string { return env[key] }, Stderr: &log})
	if err != nil && strings.Contains(err.Error(), "built without Cyclone DDS") {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	for _, want := range []string{`RMW_IMPLEMENTATION is "rmw_zenoh_cpp"`, `ROS_DISTRO is "jazy", which is none of `} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("logged %q, expected %s", log.String(), want)
		}
	}
}
