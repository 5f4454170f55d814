// Command flight hosts policy_controller and latent_encoder in one process. It runs transition_recorder and
// background_learner as child processes, started anew where they end.
package main

import (
	"context"
	"os"

	"vnd/pkg/node/flight"
	"vnd/pkg/ros2/ros"
)

func main() {
	ros.MainFunc(func(ctx context.Context) error { return flight.Run(ctx, os.Args[1:]) })
}
