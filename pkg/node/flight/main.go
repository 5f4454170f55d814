package flight

import (
	"context"
	"os"

	"vnd/pkg/ros2/ros"
)

// Main is the program flight.
func Main() {
	ros.MainFunc(func(ctx context.Context) error { return Run(ctx, os.Args[1:]) })
}
