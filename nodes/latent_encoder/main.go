// Command latent_encoder tells from the steps of a flight what condition it is flown in.
package main

import (
	"context"
	"os"

	"vnd/pkg/node/encoder"
	"vnd/pkg/ros2/ros"
)

func main() {
	// A thread for steps and one for bundles.
	ros.MainContext(ros.Options{Args: os.Args[1:], Threads: 2}, func(_ context.Context, c *ros.Context) error {
		_, err := encoder.New(c)
		return err
	})
}
