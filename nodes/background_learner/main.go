// Command background_learner learns from what was flown, beside the flight: a model, a policy in it, and what passes the
// gate goes out as the next bundle.
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
	// A thread for steps, one for what waits for the disk.
	if err := run(ctx, ros.Options{Args: os.Args[1:], Threads: 2}); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %s\n", name, strings.ReplaceAll(err.Error(), "\n", "; "))
		os.Exit(1)
	}
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
