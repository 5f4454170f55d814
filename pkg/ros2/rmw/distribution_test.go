package rmw

import "testing"

func TestUnknownDistribution(t *testing.T) {
	const known = ", which is none of humble, iron, jazzy, kilted, lyrical, rolling: taken for "
	for distro, want := range map[string]string{
		"": "", "humble": "", "lyrical": "",
		"jazy": `ROS_DISTRO is "jazy"` + known + "one after Humble",
		"foxy": `ROS_DISTRO is "foxy"` + known + "Humble",
	} {
		if got := UnknownDistribution(distro); got != want {
			t.Errorf("%q: %q, expected %q", distro, got, want)
		}
	}
}
