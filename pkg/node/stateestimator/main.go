package stateestimator

import (
	"context"
	"os"

	"vnd/pkg/ros2/ros"
)

// Main is the program state_estimator.
func Main() {
	// A thread for what the sensors send, one for parameters and timers.
	ros.MainContext(ros.Options{Args: os.Args[1:], Threads: 2}, func(_ context.Context, c *ros.Context) error {
		_, err := New(c)
		return err
	})
}
