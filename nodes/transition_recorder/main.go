// Command transition_recorder keeps what was flown: transitions to learn from, and bags of the raw topics.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"vnd/pkg/ros"
)

// insisted is how long after the first signal another one ends the process at once, as ros.MainContext has it.
const insisted = 2 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	context.AfterFunc(ctx, func() { time.AfterFunc(insisted, stop) })
	// A thread for messages and one for what waits for the disk.
	if err := run(ctx, ros.Options{Args: os.Args[1:], Threads: 2}); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %s\n", name, strings.ReplaceAll(err.Error(), "\n", "; "))
		os.Exit(1)
	}
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
