package overrcl

import (
	"fmt"
	"os"

	"vnd/pkg/ros2/ament"
)

// distro is the distribution of the build; make rclgo sets it.
var distro string

// environment returns an error if rcl would not work here, or only seem to. rcl's libraries
// have the same names in each distribution.
func environment() error {
	if _, err := ament.Find(os.Getenv); err != nil {
		return err
	}
	if now := os.Getenv("ROS_DISTRO"); distro != "" && now != distro {
		return fmt.Errorf("ROS_DISTRO is %q, but this program was built in a workspace of %s: build it again with "+
			"make rclgo", now, distro)
	}
	return handles()
}
