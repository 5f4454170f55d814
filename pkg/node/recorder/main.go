package recorder

import (
	"context"
	"os"

	"vnd/pkg/ros2/ros"
)

// Main is the program transition_recorder.
func Main() {
	// One thread for messages, one for what waits for the disk.
	ros.MainFunc(func(ctx context.Context) error { return Run(ctx, ros.Options{Args: os.Args[1:], Threads: 2}) })
}
