// Command background_learner learns from what was flown, beside the flight: a model, a policy in it, and what passes the
// gate goes out as the next bundle.
package main

import (
	"context"
	"errors"
	"os"

	"vnd/pkg/ros"
)

func main() {
	// A thread for steps, one for what waits for the disk.
	ros.MainFunc(func(ctx context.Context) error { return run(ctx, ros.Options{Args: os.Args[1:], Threads: 2}) })
}

// run learns until ctx is done, or the learner cannot go on.
func run(ctx context.Context, o ros.Options) error {
	var n *node
	spinning, end := context.WithCancel(ctx)
	defer end()
	err := ros.Run(spinning, o, func(ctx context.Context, c *ros.Context) (err error) {
		n, err = newNode(ctx, c, end)
		return err
	})
	if n != nil {
		end()
		err = errors.Join(err, n.close())
	}
	return err
}
