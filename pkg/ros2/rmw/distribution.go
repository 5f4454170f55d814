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

// AfterJazzy is true for distributions after Jazzy: they no longer read ROS_LOCALHOST_ONLY.
func AfterJazzy(distro string) bool { return distro >= "kilted" }

// AfterKilted is true for distributions after Kilted: services announce the hash of their type, and transitions of
// lifecycle have another message.
func AfterKilted(distro string) bool { return distro >= "lyrical" }

// GoneVariable says what to set where ROS_LOCALHOST_ONLY would do nothing; "" otherwise.
func GoneVariable(getenv func(string) string) string {
	distro := getenv("ROS_DISTRO")
	if getenv("ROS_LOCALHOST_ONLY") != "1" || !AfterJazzy(distro) || getenv("ROS_AUTOMATIC_DISCOVERY_RANGE") != "" {
		return ""
	}
	return "ROS_LOCALHOST_ONLY does nothing in " + distro + ": set ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST"
}

// CheckDistribution refuses a ROS_DISTRO that is no distribution's name.
func CheckDistribution(distro string) error {
	if strings.Trim(distro, "abcdefghijklmnopqrstuvwxyz") != "" {
		return fmt.Errorf("ROS_DISTRO is %q, expected a distribution's name such as humble", distro)
	}
	return nil
}

// UnknownDistribution says what an unknown ROS_DISTRO is taken for; "" where it is known, refused or not set.
func UnknownDistribution(distro string) string {
	if distro == "" || slices.Contains(distributions, distro) || CheckDistribution(distro) != nil {
		return ""
	}
	taken := "Humble"
	if AfterHumble(distro) {
		taken = "one after Humble"
	}
	return fmt.Sprintf("ROS_DISTRO is %.60q, which is none of %s: taken for %s", distro,
		strings.Join(distributions, ", "), taken)
}
