package doctor

import (
	"cmp"

	"vnd/pkg/ros2/ament"
	"vnd/pkg/ros2/rmw"
)

// RMW says whether ros2 and nodes of others, started from this shell, reach the services of our nodes. noFast is why
// the nodes cannot speak Fast DDS here, or nil.
func RMW(getenv func(string) string, noFast error) Check {
	const name = "middleware"
	asked := getenv("RMW_IMPLEMENTATION")
	speaks, warning := rmw.Choose(getenv, func() error { return noFast })
	remedy := "export RMW_IMPLEMENTATION=" + rmw.Cyclone + " in every shell with ros2"
	w, err := ament.Find(getenv)
	switch {
	case speaks == rmw.FastDDS && noFast != nil:
		return Check{name, Missing, noFast.Error(),
			"RMW_IMPLEMENTATION is " + asked + ", so that the nodes do not start"}
	case speaks == rmw.FastDDS && warning != "":
		return Check{name, Missing, warning, "tags, peers and interfaces that it names do not hold"}
	case speaks == rmw.FastDDS:
		return Check{name, OK, said(asked, speaks), ""}
	case warning == "" && err != nil:
		return Check{name, OK, "no ROS 2 is sourced here, and none is needed; the nodes speak " + speaks +
			", and where a ROS 2 is sourced what that takes", ""}
	}
	if err == nil && len(w.Missing(rmw.Cyclone)) > 0 {
		remedy = "apt-get install ros-" + w.Distro + "-rmw-cyclonedds-cpp, then " + remedy
		warning = cmp.Or(warning, "no package "+rmw.Cyclone+" in AMENT_PREFIX_PATH, and the nodes speak it")
	}
	if warning != "" {
		return Check{name, Missing, warning, unreached + remedy}
	}
	return Check{name, OK, said(asked, speaks), ""}
}

// Keys says that nodes with keys, started from this shell, are not found by those of ROS 2, and nothing otherwise.
// unlike is why their Fast DDS does not find ours, "" where it does.
func Keys(getenv func(string) string, noFast error, unlike string) []Check {
	speaks, _ := rmw.Choose(getenv, func() error { return noFast })
	if getenv("ROS_SECURITY_ENABLE") != "true" || getenv("ROS_DISTRO") == "" || speaks != rmw.FastDDS || unlike == "" {
		return nil
	}
	return []Check{{"keys", Missing, unlike, "nodes with keys find each other alone"}}
}

// said is what is set, or not, and what that has the nodes speak.
func said(asked, speaks string) string {
	if asked == "" {
		return "RMW_IMPLEMENTATION is not set: the nodes speak " + speaks + ", as this ROS 2 does"
	}
	return "RMW_IMPLEMENTATION is " + asked + ", which the nodes speak"
}

const unreached = "ros2 topic reaches the nodes; ros2 service, param and lifecycle wait for ever: "

// Distribution says as which distribution of ROS 2 the nodes speak.
func Distribution(getenv func(string) string) Check {
	const name = "distribution"
	distro := getenv("ROS_DISTRO")
	if err := rmw.CheckDistribution(distro); err != nil {
		return Check{name, Missing, err.Error(), "no node starts"}
	}
	switch unknown := rmw.UnknownDistribution(distro); {
	case unknown != "":
		return Check{name, Missing, unknown, "others may not find the nodes: is the name right?"}
	case distro == "":
		return Check{name, OK, "ROS_DISTRO is not set: the nodes speak as Humble does", ""}
	}
	return Check{name, OK, "the nodes speak as ROS_DISTRO=" + distro + " does", ""}
}
