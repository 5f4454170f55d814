package rmw_test

import (
	"errors"
	"strings"
	"testing"

	"vnd/pkg/ros2/ament/amenttest"
	"vnd/pkg/ros2/rmw"
)

// What is chosen is what RMW_IMPLEMENTATION says, else what the ROS that is sourced takes, else Cyclone DDS.
func TestChoose(t *testing.T) {
	absent := errors.New("no backend of Fast DDS: apt-get install something")
	const notSet = `RMW_IMPLEMENTATION is not set: ROS in "jazzy" takes rmw_fastrtps_cpp, this program ` +
		`rmw_cyclonedds_cpp: no backend of Fast DDS: apt-get install something; or export ` +
		`RMW_IMPLEMENTATION=rmw_cyclonedds_cpp in every shell with ros2`
	both, one := amenttest.Prefix(t, rmw.Cyclone, rmw.FastDDS), amenttest.Prefix(t, rmw.Cyclone)
	for name, c := range map[string]struct {
		asked, distro, prefix string
		noFast                error
		want, warning         string
	}{
		"no ROS":                   {want: rmw.Cyclone},
		"ROS' default":             {distro: "jazzy", prefix: both, want: rmw.FastDDS},
		"the distribution alone":   {distro: "humble", want: rmw.FastDDS},
		"a newer one":              {distro: "lyrical", prefix: both, want: rmw.FastDDS},
		"its default is another":   {distro: "galactic", prefix: both, want: rmw.Cyclone},
		"it has Cyclone DDS alone": {distro: "jazzy", prefix: one, want: rmw.Cyclone},
		"no Fast DDS here":         {"", "jazzy", both, absent, rmw.Cyclone, notSet},
		"no Fast DDS, and no ROS":  {noFast: absent, want: rmw.Cyclone},
		"Cyclone DDS is asked for": {asked: rmw.Cyclone, distro: "jazzy", noFast: absent, want: rmw.Cyclone},
		"Fast DDS is asked for":    {asked: rmw.FastDDS, noFast: absent, want: rmw.FastDDS},
		"its other name":           {asked: rmw.FastDDSDynamic, want: rmw.FastDDS},
		"spoken by nobody":         {"rmw_zenoh_cpp", "jazzy", "", nil, rmw.Cyclone, `is "rmw_zenoh_cpp"`},
		"asked for in Galactic":    {asked: rmw.FastDDS, distro: "galactic", want: rmw.FastDDS},
	} {
		t.Run(name, func(t *testing.T) {
			env := map[string]string{"RMW_IMPLEMENTATION": c.asked, "ROS_DISTRO": c.distro,
				"AMENT_PREFIX_PATH": c.prefix}
			got, warning := rmw.Choose(func(key string) string { return env[key] }, func() error { return c.noFast })
			if got != c.want || !strings.Contains(warning, c.warning) || (warning == "") != (c.warning == "") {
				t.Errorf("%s, %q", got, warning)
			}
		})
	}
}

// A tag of Cyclone DDS keeps strangers out, which Fast DDS does not.
func TestChooseWarnsOfWhatNobodyReads(t *testing.T) {
	env := map[string]string{"ROS_DISTRO": "jazzy", "CYCLONEDDS_URI": "<Discovery><Tag>lab7</Tag></Discovery>"}
	choose := func() (string, string) {
		return rmw.Choose(func(key string) string { return env[key] }, func() error { return nil })
	}
	if got, warning := choose(); got != rmw.FastDDS || !strings.HasPrefix(warning, "CYCLONEDDS_URI is set, but ") {
		t.Errorf("%s, %q", got, warning)
	}
	env["RMW_IMPLEMENTATION"] = rmw.FastDDS // in plain words
	if _, warning := choose(); warning != "" {
		t.Errorf("%q", warning)
	}
}

// The library of Fast DDS is loaded where it is to be spoken, and nowhere else: it takes memory.
func TestChooseLoadsNothing(t *testing.T) {
	for _, env := range []map[string]string{{}, {"RMW_IMPLEMENTATION": rmw.Cyclone, "ROS_DISTRO": "jazzy"}} {
		rmw.Choose(func(key string) string { return env[key] }, func() error { t.Errorf("%v", env); return nil })
	}
}
