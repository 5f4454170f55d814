// Command flight_guard is the guard in a process of its own: it takes what the policy of policy_controller asks for,
// and alone commands the vehicle.
package main

import (
	"context"
	"os"

	"vnd/pkg/node/controller"
	"vnd/pkg/ros2/ros"
)

func main() {
	// Two for samples and timers, one for parameters; one each for what waits: ~/arm, ~/land, transitions, and goals of
	// ~/take_off and ~/land.
	ros.MainContext(ros.Options{Args: os.Args[1:], Threads: 8}, func(ctx context.Context, c *ros.Context) error {
		_, err := controller.NewGuard(ctx, c)
		return err
	})
}
