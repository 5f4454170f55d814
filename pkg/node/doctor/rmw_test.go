package doctor

import (
	"errors"
	"strings"
	"testing"

	"vnd/pkg/ros2/ament/amenttest"
	"vnd/pkg/ros2/rmw"
)

func TestRMW(t *testing.T) {
	absent := errors.New("no backend of Fast DDS: apt-get install libfastrtps-dev")
	const cyclone = "rmw_cyclonedds_cpp"
	with := amenttest.Prefix(t, "rcl", cyclone, rmw.FastDDS)
	other, without := amenttest.Prefix(t, cyclone), amenttest.Prefix(t, "rcl", rmw.FastDDS)
	for name, c := range map[string]struct {
		prefix, rmw string
		noFast      error
		state       string
		want        string
	}{
		"no ROS 2":         {"", "", absent, OK, "no ROS 2 is sourced here, and none is needed"},
		"ours":             {with, cyclone, absent, OK, "which the nodes speak"},
		"the default":      {with, "", nil, OK, "is not set: the nodes speak rmw_fastrtps_cpp, as this ROS 2 does"},
		"has Cyclone DDS":  {other, "", absent, OK, "is not set: the nodes speak rmw_cyclonedds_cpp, as"},
		"default, absent":  {with, "", absent, Missing, "takes rmw_fastrtps_cpp, this program rmw_cyclonedds_cpp"},
		"another one":      {with, "rmw_zenoh_cpp", absent, Missing, `is "rmw_zenoh_cpp": this program speaks rmw_`},
		"not installed":    {without, "", absent, Missing, "apt-get install ros-jazzy-rmw-cyclonedds-cpp"},
		"Fast DDS":         {with, rmw.FastDDS, nil, OK, "rmw_fastrtps_cpp, which the nodes speak"},
		"Fast DDS, absent": {"", rmw.FastDDS, absent, Missing, "apt-get install libfastrtps-dev"},
		"chosen, absent":   {without, cyclone, absent, Missing, "apt-get install ros-jazzy-rmw-cyclonedds-cpp"},
	} {
		t.Run(name, func(t *testing.T) {
			env := map[string]string{"AMENT_PREFIX_PATH": c.prefix, "RMW_IMPLEMENTATION": c.rmw}
			if c.prefix != "" {
				env["ROS_DISTRO"] = "jazzy"
			}
			got := RMW(func(key string) string { return env[key] }, c.noFast)
			if got.State != c.state || !strings.Contains(got.Detail+got.Cost, c.want) {
				t.Errorf("%+v, expected %s and %q", got, c.state, c.want)
			}
			if c.state == Missing && c.rmw != rmw.FastDDS &&
				!strings.Contains(got.Cost, "export RMW_IMPLEMENTATION=rmw_cyclonedds_cpp") {
				t.Errorf("%q does not say what to do", got.Cost)
			}
		})
	}
}

func TestKeys(t *testing.T) {
	for _, c := range []struct {
		enable, distro, rmw, unlike string
		said                        bool
	}{
		{"true", "humble", rmw.FastDDS, "2.9.1", true},
		{"false", "humble", rmw.FastDDS, "2.9.1", false},
		{"true", "", rmw.FastDDS, "2.9.1", false},
		{"true", "humble", rmw.Cyclone, "2.9.1", false},
		{"true", "humble", rmw.FastDDS, "", false},
	} {
		env := map[string]string{"ROS_SECURITY_ENABLE": c.enable, "ROS_DISTRO": c.distro, "RMW_IMPLEMENTATION": c.rmw}
		got := Keys(func(key string) string { return env[key] }, nil, c.unlike)
		if (len(got) == 1) != c.said || c.said && (got[0].State != Missing || got[0].Detail != "2.9.1") {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}

func TestDistribution(t *testing.T) {
	for distro, want := range map[string]Check{
		"": {"distribution", OK, "ROS_DISTRO is not set: the nodes speak as Humble does", ""},
		"foxy2": {"distribution", Missing, `ROS_DISTRO is "foxy2", expected a distribution's name such as humble`,
			"no node starts"},
		"lyrical": {"distribution", OK, "the nodes speak as ROS_DISTRO=lyrical does", ""},
	} {
		if got := Distribution(func(string) string { return distro }); got != want {
			t.Errorf("%q: %+v, expected %+v", distro, got, want)
		}
	}
	got := Distribution(func(string) string { return "jazy" })
	if got.State != Missing || !strings.HasPrefix(got.Detail, `ROS_DISTRO is "jazy", which is none of humble`) {
		t.Errorf("jazy: %+v", got)
	}
}

// drivers is a graph of a driver of motion capture and mavros, both on Fast DDS.
type drivers struct{ rmw.Graph }

func (drivers) Topics() map[string][]string { return map[string][]string{"/mocap/pose": nil} }

func (drivers) Publishers(string) []rmw.Endpoint {
	return []rmw.Endpoint{{Node: rmw.NodeName{Namespace: "/", Name: "driver"}, Foreign: "Fast DDS"},
		{Node: rmw.NodeName{Namespace: "/quad/mavros", Name: "cmd"}, Foreign: "Fast DDS"}}
}

func (drivers) Subscriptions(string) []rmw.Endpoint { return nil }

func (drivers) Of(n rmw.NodeName) (rmw.NodeGraph, error) {
	service := strings.TrimSuffix(n.Namespace, "/") + "/" + n.Name + "/arming"
	return rmw.NodeGraph{Servers: map[string][]string{service: nil}}, nil
}

// Another middleware is told by name, and is wrong where an autopilot's services are on it.
func TestMiddlewares(t *testing.T) {
	found := middlewares(drivers{})
	if len(found) != 2 || found[0].Wrong || !strings.HasPrefix(found[0].Detail, "/driver speaks Fast DDS") ||
		!found[1].Wrong || !strings.Contains(found[1].Remedy, "RMW_IMPLEMENTATION=rmw_cyclonedds_cpp") {
		t.Errorf("%+v", found)
	}
}
