package armcontroller

import (
	"context"
	"os"

	"vnd/pkg/ros2/ros"
)

// Main is the program arm_controller.
func Main() {
	// One for joint states and the timer, one each for references, services, and parameters.
	ros.MainContext(ros.Options{Args: os.Args[1:], Threads: 4}, func(_ context.Context, c *ros.Context) error {
		_, err := New(c)
		return err
	})
}
