package armsim

import (
	"os"

	"vnd/pkg/ros2/ros"
)

// Main is the program arm_sim.
func Main() { ros.MainContext(ros.Options{Args: os.Args[1:]}, New) }
