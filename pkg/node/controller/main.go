package controller

import (
	"context"
	"os"

	"vnd/pkg/ros2/ros"
)

// Main is the program policy_controller.
func Main() {
	// Four for samples, latents, timers, parameters; one each for what waits: ~/set_task, ~/arm, ~/land, transitions,
	// and goals of ~/take_off and ~/land.
	ros.MainContext(ros.Options{Args: os.Args[1:], Threads: 10}, func(ctx context.Context, c *ros.Context) error {
		_, err := New(ctx, c)
		return err
	})
}

// MainGuard is the program flight_guard.
func MainGuard() {
	// Two for samples and timers, one for parameters; one each for what waits: ~/arm, ~/land, transitions, and goals of
	// ~/take_off and ~/land.
	ros.MainContext(ros.Options{Args: os.Args[1:], Threads: 8}, func(ctx context.Context, c *ros.Context) error {
		_, err := NewGuard(ctx, c)
		return err
	})
}
