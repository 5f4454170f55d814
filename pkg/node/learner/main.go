package learner

import (
	"context"
	"os"

	"vnd/pkg/ros2/ros"
)

// Main is the program background_learner, whose gate has the judges.
func Main(judges Judges) {
	// One thread for steps, one for what waits for the disk.
	ros.MainFunc(func(ctx context.Context) error {
		return Run(ctx, ros.Options{Args: os.Args[1:], Threads: 2}, judges)
	})
}
