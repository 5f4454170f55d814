package rmw

import "testing"

func TestUnknownDistribution(t *testing.T) {
	const known = ", which is none of humble, iron, jazzy, kilted, lyrical, rolling: taken for "
	for distro, want := range map[string]string{
		"": "", "humble": "", "lyrical": "", "foxy2": "",
		"jazy": `ROS_DISTRO is "jazy"` + known + "one after Humble",
		"foxy": `ROS_DISTRO is "foxy"` + known + "Humble",
	} {
		if got := UnknownDistribution(distro); got != want {
			t.Errorf("%q: %q, expected %q", distro, got, want)
		}
	}
}

func TestGoneVariable(t *testing.T) {
	const want = "ROS_LOCALHOST_ONLY does nothing in lyrical: set ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST"
	for _, c := range [][4]string{{"jazzy", "1", "", ""}, {"lyrical", "0", "", ""}, {"lyrical", "1", "", want},
		{"lyrical", "1", "SUBNET", ""}} {
		env := map[string]string{"ROS_DISTRO": c[0], "ROS_LOCALHOST_ONLY": c[1], "ROS_AUTOMATIC_DISCOVERY_RANGE": c[2]}
		if got := GoneVariable(func(key string) string { return env[key] }); got != c[3] {
			t.Errorf("%v: %q", c, got)
		}
	}
}
