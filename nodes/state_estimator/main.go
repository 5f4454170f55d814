// Command state_estimator makes a state of an IMU and late poses, for policy_controller to fly by.
package main

import (
	"context"
	"os"

	"vnd/pkg/node/stateestimator"
	"vnd/pkg/ros2/ros"
)

func main() {
	// A thread for what the sensors send, one for parameters and timers.
	ros.MainContext(ros.Options{Args: os.Args[1:], Threads: 2}, func(_ context.Context, c *ros.Context) error {
		_, err := stateestimator.New(c)
		return err
	})
}
