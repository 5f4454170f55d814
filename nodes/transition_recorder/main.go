// Command transition_recorder keeps what was flown: transitions to learn from, and bags of the raw topics.
package main

import (
	"context"
	"errors"
	"os"

	"vnd/pkg/ros"
)

func main() {
	// A thread for messages and one for what waits for the disk.
	ros.MainFunc(func(ctx context.Context) error { return run(ctx, ros.Options{Args: os.Args[1:], Threads: 2}) })
}

// run records until ctx is done; then it takes what is on its way here, and brings it to disk.
func run(ctx context.Context, o ros.Options) error {
	var r *recorder
	spinning, end := context.WithCancel(context.Background())
	defer end()
	err := ros.Run(spinning, o, func(_ context.Context, c *ros.Context) (err error) {
		if r, err = newRecorder(ctx, c); err == nil {
			context.AfterFunc(ctx, func() { r.drain(); end() })
		}
		return err
	})
	if r != nil {
		err = errors.Join(err, r.close())
	}
	return err
}
