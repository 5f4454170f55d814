package rmw

import (
	"fmt"

	"vnd/pkg/ros2/ament"
)

// Default is the middleware that the ROS 2 of an environment takes where RMW_IMPLEMENTATION is not set: Fast DDS, but
// Cyclone DDS in Galactic (REP 2000), and where that alone is installed. Without ROS_DISTRO it is Cyclone DDS.
func Default(getenv func(string) string) string {
	switch getenv("ROS_DISTRO") {
	case "", "galactic":
		return Cyclone
	}
	if w, err := ament.Find(getenv); err == nil && len(w.Missing(FastDDS)) > 0 && len(w.Missing(Cyclone)) == 0 {
		return Cyclone
	}
	return FastDDS
}

// Choose is the middleware that a process speaks: what RMW_IMPLEMENTATION names, or the default of ROS. It is Cyclone
// DDS where that is not spoken here, with a warning that says what to do. So it warns of settings of Cyclone DDS that
// nobody reads. noFast is why Fast DDS is not spoken, or nil.
func Choose(getenv func(string) string, noFast func() error) (chosen, warning string) {
	switch asked := getenv("RMW_IMPLEMENTATION"); asked {
	case Cyclone:
		return Cyclone, ""
	case FastDDS, FastDDSDynamic:
		return FastDDS, ""
	case "":
	default:
		return Cyclone, fmt.Sprintf("RMW_IMPLEMENTATION is %.60q: this program speaks %s and %s; going on with the "+
			"first", asked, Cyclone, FastDDS)
	}
	if Default(getenv) == Cyclone {
		return Cyclone, ""
	}
	if why := noFast(); why != nil {
		return Cyclone, fmt.Sprintf("RMW_IMPLEMENTATION is not set: ROS in %.60q takes %s, this program %s: %v; "+
			"or export RMW_IMPLEMENTATION=%[3]s in every shell with ros2", getenv("ROS_DISTRO"), FastDDS, Cyclone, why)
	}
	if getenv("CYCLONEDDS_URI") != "" {
		return FastDDS, fmt.Sprintf("CYCLONEDDS_URI is set, but ROS in %.60q takes %s, which does not read it: export "+
			"RMW_IMPLEMENTATION=%s in every shell to have it hold", getenv("ROS_DISTRO"), FastDDS, Cyclone)
	}
	return FastDDS, ""
}
