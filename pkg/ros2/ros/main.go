package ros

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Main is the whole of a process with one node: it reads the command line and
// the environment, has setup give the node what it does, and runs callbacks until
// SIGINT or SIGTERM. Then it ends the process with 0; after an error it says what
// is wrong in one line on standard error, and ends it with 1.
func Main(name string, setup func(*Node) error) {
	MainContext(Options{Args: os.Args[1:]}, func(_ context.Context, c *Context) error {
		n, err := c.NewNode(name)
		if err != nil {
			return err
		}
		return setup(n)
	})
}

// insisted is how long after the first signal another one ends the process at
// once. Before, it says nothing new: of a Ctrl-C, ros2 launch hands its processes
// a second SIGINT besides the terminal's.
const insisted = 2 * time.Second

// MainContext is Main for processes with several nodes, managed nodes or threads.
// setup's ctx is done when the process is to end.
func MainContext(o Options, setup func(ctx context.Context, c *Context) error) {
	MainFunc(func(ctx context.Context) error { return Run(ctx, o, setup) })
}

// MainFunc is Main for processes that do more than Run, before or after it. run's
// ctx is done when the process is to end.
func MainFunc(run func(ctx context.Context) error) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	context.AfterFunc(ctx, func() { time.AfterFunc(insisted, stop) })
	os.Exit(exitCode(os.Stderr, run(ctx)))
}

// exitCode tells an error and returns what the process ends with.
func exitCode(w io.Writer, err error) int {
	if err == nil {
		return 0
	}
	fmt.Fprintf(w, "%s: %s\n", filepath.Base(os.Args[0]), strings.ReplaceAll(err.Error(), "\n", "; "))
	return 1
}

// Run joins the graph, has setup make nodes, and runs their callbacks until ctx
// is done; then it ends the nodes and leaves the graph.
func Run(ctx context.Context, o Options, setup func(ctx context.Context, c *Context) error) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c, err := NewContext(o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if err := setup(ctx, c); err != nil {
		return err
	}
	if o.Threads > 1 {
		return c.SpinThreads(ctx, o.Threads)
	}
	return c.Spin(ctx)
}
