package visualizer

import (
	"context"
	"os"

	"vnd/pkg/ros2/ros"
)

// Main is the program visualizer.
func Main() {
	// A thread for steps and one for what is drawn.
	ros.MainContext(ros.Options{Args: os.Args[1:], Threads: 2}, func(ctx context.Context, c *ros.Context) error {
		_, err := New(ctx, c)
		return err
	})
}
