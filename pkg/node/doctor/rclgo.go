package doctor

import (
	"fmt"
	"strings"

	"vnd/pkg/ros2/ament"
)

// Rclgo says whether programs on rclgo could be built and run in the ROS 2 workspace that is sourced. Nobody needs
// one: the other programs speak to ROS 2 by themselves.
func Rclgo(getenv func(string) string) Check {
	const name, cost = "rclgo", "the nodes speak to ROS 2 all the same; make rclgo would refuse (docs/guide/rclgo.md)"
	w, err := ament.Find(getenv)
	if err != nil {
		return Check{name, Missing, err.Error(), cost}
	}
	if _, err := w.Rclgo(getenv(ament.Untried)); err != nil {
		return Check{name, Missing, err.Error(), cost}
	}
	if missing := w.Missing(ament.MessagePackages...); len(missing) > 0 {
		return Check{name, Missing, "no package " + strings.Join(missing, ", ") + " in AMENT_PREFIX_PATH",
			"programs on rclgo end when they need their types; build them and source their workspace"}
	}
	rmw := getenv("RMW_IMPLEMENTATION")
	if rmw == "" {
		rmw = "the default RMW implementation"
	} else if _, found := w.Prefix(rmw); !found {
		return Check{name, Missing,
			fmt.Sprintf("RMW_IMPLEMENTATION is %q, but no such package is in AMENT_PREFIX_PATH", rmw),
			"programs on rclgo would not start"}
	}
	version, err := w.Version("rcl")
	if err != nil {
		return Check{name, Missing, err.Error(), cost}
	}
	return Check{name, OK, fmt.Sprintf("rcl %s of %s, %s", version, w.Distro, rmw), ""}
}
