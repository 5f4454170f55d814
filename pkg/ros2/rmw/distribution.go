package rmw

import (
	"fmt"
	"slices"
	"strings"
)

// distributions whose wire format is known.
var distributions = []string{"humble", "iron", "jazzy", "kilted", "lyrical", "rolling"}

// AfterHumble is true for distributions after Humble: GIDs in announcements have 16 bytes, and endpoints carry the
// hashes of their types. They are named in alphabetical order; "" is Humble.
func AfterHumble(distro string) bool { return distro >= "iron" }

// UnknownDistribution says what an unknown ROS_DISTRO is taken for; "" where it is known, or not set.
func UnknownDistribution(distro string) string {
	if distro == "" || slices.Contains(distributions, distro) {
		return ""
	}
	taken := "Humble"
	if AfterHumble(distro) {
		taken = "one after Humble"
	}
	return fmt.Sprintf("ROS_DISTRO is %.60q, which is none of %s: taken for %s", distro,
		strings.Join(distributions, ", "), taken)
}
