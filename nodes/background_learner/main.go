// Command background_learner learns from what was flown, beside the flight. It fits a model and trains a policy in it;
// what passes the gate goes out as the next bundle.
package main

import (
	"context"
	"os"

	"vnd/pkg/node/learner"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/sim/closedloop"
)

func main() {
	// One thread for steps, one for what waits for the disk.
	ros.MainFunc(func(ctx context.Context) error {
		return learner.Run(ctx, ros.Options{Args: os.Args[1:], Threads: 2}, closedloop.NewJudge)
	})
}
