package quadsim

import (
	"context"
	"os"

	"vnd/pkg/ros2/ros"
)

// Main is the program quad_sim.
func Main() {
	ros.MainFunc(func(ctx context.Context) error { return Run(ctx, ros.Options{Args: os.Args[1:]}) })
}
