package doctor

import (
	"fmt"

	"vnd/pkg/ros2/ament"
	"vnd/pkg/ros2/rmw"
)

// RMW says whether ros2 and nodes of others, started from this shell, reach the services of our nodes. noFast is why
// the nodes cannot speak Fast DDS here, or nil.
func RMW(getenv func(string) string, noFast error) Check {
	const name = "middleware"
	chosen := getenv("RMW_IMPLEMENTATION")
	fast := chosen == rmw.FastDDS || chosen == rmw.FastDDSDynamic
	remedy := "export RMW_IMPLEMENTATION=" + rmw.Cyclone + " in every shell with ros2"
	if noFast == nil {
		remedy += ", or RMW_IMPLEMENTATION=" + rmw.FastDDS + " where the nodes start"
	}
	found := false
	w, err := ament.Find(getenv)
	if err == nil {
		_, found = w.Prefix(rmw.Cyclone)
	}
	switch {
	case fast && noFast != nil:
		return Check{name, Missing, noFast.Error(),
			"RMW_IMPLEMENTATION is " + chosen + ", so that the nodes do not start"}
	case fast:
		return Check{name, OK, "RMW_IMPLEMENTATION is " + chosen + ", which the nodes speak", ""}
	case err != nil:
		return Check{name, OK, "no ROS 2 is sourced here, and none is needed; where one is, " + remedy, ""}
	case chosen == rmw.Cyclone && found:
		return Check{name, OK, "RMW_IMPLEMENTATION is " + chosen + ", which the nodes speak", ""}
	case !found:
		remedy = "apt-get install ros-" + w.Distro + "-rmw-cyclonedds-cpp, then " + remedy
		return Check{name, Missing, "no package " + rmw.Cyclone + " in AMENT_PREFIX_PATH, and the nodes speak it",
			unreached + remedy}
	case chosen == "":
		return Check{name, Missing, "RMW_IMPLEMENTATION is not set: ROS takes its default, Fast DDS, and the nodes " +
			rmw.Cyclone, unreached + remedy}
	}
	return Check{name, Missing, fmt.Sprintf("RMW_IMPLEMENTATION is %.60q, and the nodes speak %s", chosen, rmw.Cyclone),
		unreached + remedy}
}

const unreached = "ros2 topic reaches the nodes; ros2 service, param and lifecycle wait for ever: "

// Distribution says as which distribution of ROS 2 the nodes speak.
func Distribution(getenv func(string) string) Check {
	const name = "distribution"
	distro := getenv("ROS_DISTRO")
	switch unknown := rmw.UnknownDistribution(distro); {
	case unknown != "":
		return Check{name, Missing, unknown, "others may not find the nodes: is the name right?"}
	case distro == "":
		return Check{name, OK, "ROS_DISTRO is not set: the nodes speak as Humble does", ""}
	}
	return Check{name, OK, "the nodes speak as ROS_DISTRO=" + distro + " does", ""}
}
