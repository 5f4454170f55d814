package cli

import (
	"fmt"
	"os"
	"strings"

	"vnd/pkg/ros2/ament"
)

// onRclgo says whether programs on rclgo could be built and run in the ROS 2 workspace that is sourced. Nobody needs
// one: the other programs speak to ROS 2 by themselves.
func onRclgo() finding {
	const name, cost = "rclgo", "the nodes speak to ROS 2 all the same; make rclgo would refuse (docs/guide/rclgo.md)"
	w, err := ament.Find(os.Getenv)
	if err != nil {
		return finding{name, stateMissing, err.Error(), cost}
	}
	if _, err := w.Rclgo(os.Getenv(ament.Untried)); err != nil {
		return finding{name, stateMissing, err.Error(), cost}
	}
	if missing := w.Missing(ament.MessagePackages...); len(missing) > 0 {
		return finding{name, stateMissing, "no package " + strings.Join(missing, ", ") + " in AMENT_PREFIX_PATH",
			"programs on rclgo end when they need their types; build them and source their workspace"}
	}
	rmw := os.Getenv("RMW_IMPLEMENTATION")
	if rmw == "" {
		rmw = "the default RMW implementation"
	} else if _, found := w.Prefix(rmw); !found {
		return finding{name, stateMissing, fmt.Sprintf("RMW_IMPLEMENTATION is %q, but no such package is in AMENT_PREFIX_PATH", rmw),
			"programs on rclgo would not start"}
	}
	version, err := w.Version("rcl")
	if err != nil {
		return finding{name, stateMissing, err.Error(), cost}
	}
	return finding{name, stateOK, fmt.Sprintf("rcl %s of %s, %s", version, w.Distro, rmw), ""}
}
