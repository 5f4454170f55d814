// Command quad_sim is a simulated quadrotor with its autopilot and the motion capture around it, behind the topics of a
// real one.
package main

import (
	"context"
	"os"

	"vnd/pkg/ros"
)

func main() {
	ros.MainContext(ros.Options{Args: os.Args[1:]}, func(ctx context.Context, c *ros.Context) error {
		_, err := newNode(ctx, c)
		return err
	})
}
