package doctor

import (
	"fmt"

	"vnd/pkg/ros2/ament"
)

// cyclone is the RMW implementation whose wire the nodes speak.
const cyclone = "rmw_cyclonedds_cpp"

// RMW says whether ros2 and nodes of others, started from this shell, reach the services of our nodes.
func RMW(getenv func(string) string) Check {
	const name = "middleware"
	export := "export RMW_IMPLEMENTATION=" + cyclone + " in every shell with ros2"
	w, err := ament.Find(getenv)
	if err != nil {
		return Check{name, OK, "no ROS 2 is sourced here, and none is needed; where one is, " + export, ""}
	}
	chosen := getenv("RMW_IMPLEMENTATION")
	cost := "ros2 topic reaches the nodes; ros2 service, param and lifecycle wait for ever: "
	_, found := w.Prefix(cyclone)
	switch {
	case !found:
		return Check{name, Missing, "no package " + cyclone + " in AMENT_PREFIX_PATH, and the nodes speak it",
			cost + "apt-get install ros-" + w.Distro + "-rmw-cyclonedds-cpp, then " + export}
	case chosen == cyclone:
		return Check{name, OK, "RMW_IMPLEMENTATION is " + cyclone + ", which the nodes speak", ""}
	case chosen == "":
		return Check{name, Missing, "RMW_IMPLEMENTATION is not set: ROS takes its default, Fast DDS", cost + export}
	}
	return Check{name, Missing, fmt.Sprintf("RMW_IMPLEMENTATION is %.60q, and the nodes speak %s", chosen, cyclone),
		cost + export}
}
