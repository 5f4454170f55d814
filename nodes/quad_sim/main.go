// Command quad_sim is a simulated quadrotor with its autopilot and the motion capture around it, behind the topics of a
// real one.
package main

import (
	"context"
	"os"

	"vnd/pkg/node/quadsim"
	"vnd/pkg/ros2/ros"
)

func main() {
	ros.MainFunc(func(ctx context.Context) error { return quadsim.Run(ctx, ros.Options{Args: os.Args[1:]}) })
}
