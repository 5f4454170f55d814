package betaflightbridge

import (
	"os"

	"vnd/pkg/ros2/ros"
)

// Main is the program betaflight_bridge.
func Main() {
	ros.MainContext(ros.Options{Args: os.Args[1:]}, New)
}
