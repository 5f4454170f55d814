// Command transition_recorder keeps what was flown: transitions to learn from, and bags of the raw topics.
package main

import (
	"context"
	"os"

	"vnd/pkg/node/recorder"
	"vnd/pkg/ros2/ros"
)

func main() {
	// One thread for messages, one for what waits for the disk.
	ros.MainFunc(func(ctx context.Context) error {
		return recorder.Run(ctx, ros.Options{Args: os.Args[1:], Threads: 2})
	})
}
