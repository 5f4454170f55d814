// Command policy_controller flies a bundle's policy: motion capture in, thrust and body rates out.
package main

import (
	"context"
	"os"

	"vnd/pkg/node/controller"
	"vnd/pkg/ros2/ros"
)

func main() {
	// Four for samples, latents, timers, parameters; one each for what waits: ~/set_task, ~/arm, ~/land, transitions,
	// and goals of ~/take_off and ~/land.
	ros.MainContext(ros.Options{Args: os.Args[1:], Threads: 10}, func(ctx context.Context, c *ros.Context) error {
		_, err := controller.New(ctx, c)
		return err
	})
}
