package rostest

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros"
)

// Environ is an environment in which the processes of one test meet, and no others, as pairs KEY=VALUE.
func Environ() []string {
	return []string{"ROS_LOCALHOST_ONLY=1", fmt.Sprintf("ROS_DOMAIN_ID=%d", 1+os.Getpid()%100), "ROS_DISTRO=humble",
		"RMW_IMPLEMENTATION=" + rmw.Cyclone,
		fmt.Sprintf("CYCLONEDDS_URI=<Discovery><Tag>vnd_test_%d</Tag></Discovery>", os.Getpid())}
}

// Wire joins the graph of Environ over Cyclone DDS, with ROS arguments. More pairs of the environment come before those
// of Environ. Who calls it closes the context; a build without Cyclone DDS skips the test.
func Wire(t testing.TB, args []string, more ...string) *ros.Context {
	t.Helper()
	env := map[string]string{}
	for _, pair := range append(Environ(), more...) {
		key, value, _ := strings.Cut(pair, "=")
		env[key] = value
	}
	c, err := ros.NewContext(ros.Options{Args: append([]string{"--ros-args", "--disable-external-lib-logs"}, args...),
		Getenv: func(key string) string { return env[key] }, Stderr: io.Discard})
	if err != nil && strings.Contains(err.Error(), "built without Cyclone DDS") {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}
