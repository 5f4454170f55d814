package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRMW(t *testing.T) {
	prefix := func(packages ...string) string {
		dir := t.TempDir()
		index := filepath.Join(dir, "share", "ament_index", "resource_index", "packages")
		if err := os.MkdirAll(index, 0o777); err != nil {
			t.Fatal(err)
		}
		for _, p := range packages {
			if err := os.WriteFile(filepath.Join(index, p), nil, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	with, without := prefix("rcl", "rmw_cyclonedds_cpp"), prefix("rcl")
	for name, c := range map[string]struct {
		prefix, rmw string
		state       string
		want        string
	}{
		"no ROS 2":       {"", "", OK, "no ROS 2 is sourced here, and none is needed"},
		"ours":           {with, "rmw_cyclonedds_cpp", OK, "which the nodes speak"},
		"the default":    {with, "", Missing, "is not set: ROS takes its default, Fast DDS"},
		"another one":    {with, "rmw_zenoh_cpp", Missing, `is "rmw_zenoh_cpp", and the nodes speak rmw_cyclone`},
		"not installed":  {without, "", Missing, "apt-get install ros-jazzy-rmw-cyclonedds-cpp"},
		"chosen, absent": {without, "rmw_cyclonedds_cpp", Missing, "apt-get install ros-jazzy-rmw-cyclonedds-cpp"},
	} {
		t.Run(name, func(t *testing.T) {
			env := map[string]string{"AMENT_PREFIX_PATH": c.prefix, "ROS_DISTRO": "jazzy", "RMW_IMPLEMENTATION": c.rmw}
			got := RMW(func(key string) string { return env[key] })
			if got.State != c.state || !strings.Contains(got.Detail+got.Cost, c.want) {
				t.Errorf("%+v, expected %s and %q", got, c.state, c.want)
			}
			if c.state == Missing && !strings.Contains(got.Cost, "export RMW_IMPLEMENTATION=rmw_cyclonedds_cpp") {
				t.Errorf("%q does not say what to do", got.Cost)
			}
		})
	}
}
