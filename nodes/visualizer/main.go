// Command visualizer draws what flies: for rviz, and on a live page.
package main

import (
	"context"
	"os"

	"vnd/pkg/node/visualizer"
	"vnd/pkg/ros2/ros"
)

func main() {
	// A thread for steps and one for what is drawn.
	ros.MainContext(ros.Options{Args: os.Args[1:], Threads: 2}, func(ctx context.Context, c *ros.Context) error {
		_, err := visualizer.New(ctx, c)
		return err
	})
}
