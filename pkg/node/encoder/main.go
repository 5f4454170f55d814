package encoder

import (
	"context"
	"os"

	"vnd/pkg/ros2/ros"
)

// Main is the program latent_encoder.
func Main() {
	// A thread for steps and one for bundles.
	ros.MainContext(ros.Options{Args: os.Args[1:], Threads: 2}, func(_ context.Context, c *ros.Context) error {
		_, err := New(c)
		return err
	})
}
