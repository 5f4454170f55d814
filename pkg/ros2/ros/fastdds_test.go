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
	"vnd/pkg/ros2/ros/securitytest"
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
	for _, c := range []struct{ chosen, variable, want string }{
		{rmw.FastDDS, "VND_FASTDDS=/nope.so",
			"RMW_IMPLEMENTATION is rmw_fastrtps_cpp: no backend of Fast DDS: apt-get install"},
		{rmw.FastDDSDynamic, "VND_FASTDDS=/nope.so",
			"RMW_IMPLEMENTATION is rmw_fastrtps_dynamic_cpp: no backend of Fast DDS"},
		{rmw.FastDDS, "ROS_DOMAIN_ID=300", `.test: ROS_DOMAIN_ID is "300", expected`},
	} {
		p, stdout, stderr := startIn(t, append(speaking(c.chosen), c.variable), nil, "robot")
		io.Copy(io.Discard, stdout)
		if err := p.Wait(); strings.Contains(stderr.String(), "built without C") {
			t.Skip(stderr)
		} else if err == nil || !strings.Contains(stderr.String(), c.want) ||
			strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("%+v: %v, %s, expected one line", c, err, stderr)
		}
	}
	for _, c := range []struct {
		distro, asked string
		want          []string
	}{
		{"jazy", "rmw_zenoh_cpp", []string{`RMW_IMPLEMENTATION is "rmw_zenoh_cpp"`,
			`ROS_DISTRO is "jazy", which is none of `}},
		{"jazzy", "", byDefault()},
		{"galactic", "", []string{"speaks rmw_cyclonedds_cpp: RMW_IMPLEMENTATION is not set"}},
		{"", "", nil},
		{"jazzy", rmw.Cyclone, nil},
	} {
		log := joined(t, c.distro, c.asked)
		for _, want := range c.want {
			if !strings.Contains(log, want) {
				t.Errorf("%+v: logged %q", c, log)
			}
		}
		if c.want == nil && log != "" {
			t.Errorf("%+v: logged %q", c, log)
		}
	}
}

// byDefault is what a process says that speaks what Jazzy takes by itself, if it can.
func byDefault() []string {
	const what = "RMW_IMPLEMENTATION is not set"
	if why := fastdds.Installed(); why != nil {
		return []string{what + `: ROS in "jazzy" takes rmw_fastrtps_cpp, this program rmw_cyclonedds_cpp`, why.Error()}
	}
	return []string{"speaks rmw_fastrtps_cpp: " + what + ", and ROS_DISTRO is jazzy"}
}

// With keys, a Fast DDS that ROS' own does not find is named, where a ROS 2 is sourced.
func TestUnlikeFastDDS(t *testing.T) {
	if fastdds.Unlike() == "" {
		t.Skip("no Fast DDS here, or one like those of ROS")
	}
	lab := securitytest.New(t)
	lab.Enclave("/", securitytest.Everything)
	for distro, want := range map[string]bool{"humble": true, "": false} {
		log := joined(t, distro, rmw.FastDDS, lab.Environment("/")...)
		if strings.Contains(log, fastdds.Unlike()) != want {
			t.Errorf("ROS_DISTRO is %q: logged %q", distro, log)
		}
	}
	if log := joined(t, "humble", rmw.FastDDS); log != "" {
		t.Errorf("without keys: logged %q", log)
	}
}

// joined is the log of a process that joins the graph and leaves it.
func joined(t *testing.T, distro, asked string, more ...string) string {
	t.Helper()
	var log strings.Builder
	env := environment()
	for _, pair := range more {
		key, value, _ := strings.Cut(pair, "=")
		env[key] = value
	}
	env["RMW_IMPLEMENTATION"], env["ROS_DISTRO"] = asked, distro
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
	return log.String()
}
