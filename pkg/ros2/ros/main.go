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

// Main runs a process with one node. It reads the command line and the environment, calls
// setup with the node, and runs callbacks until SIGINT or SIGTERM. Then it exits with 0.
// After an error it prints one line on standard error and exits with 1.
func Main(name string, setup func(*Node) error) {
	MainContext(Options{Args: os.Args[1:]}, func(_ context.Context, c *Context) error {
		n, err := c.NewNode(name)
		if err != nil {
			return err
		}
		return setup(n)
	})
}

// killAfter is the time after the first signal from which another one ends the process at
// once. A second one before it is ignored: with Ctrl-C, ros2 launch sends a SIGINT besides
// the terminal's.
const killAfter = 2 * time.Second

// MainContext is Main for processes with several nodes, managed nodes or threads. setup's
// ctx is done when the process should end.
func MainContext(o Options, setup func(ctx context.Context, c *Context) error) {
	MainFunc(func(ctx context.Context) error { return Run(ctx, o, setup) })
}

// MainFunc is Main for processes that do more than Run. run's ctx is done when the process
// should end.
func MainFunc(run func(ctx context.Context) error) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	context.AfterFunc(ctx, func() { time.AfterFunc(killAfter, stop) })
	os.Exit(exitCode(os.Stderr, run(ctx)))
}

// exitCode prints an error and returns the exit code.
func exitCode(w io.Writer, err error) int {
	if err == nil {
		return 0
	}
	fmt.Fprintf(w, "%s: %s\n", filepath.Base(os.Args[0]), strings.ReplaceAll(err.Error(), "\n", "; "))
	return 1
}

// usage is what a program prints where its one argument is --help.
const usage = `Usage: %[1]s [--ros-args ARGUMENTS]

Joins the graph of ROS 2, and runs until Ctrl-C. Of its arguments:

  -p NAME:=VALUE        a parameter
  --params-file FILE    parameters of a YAML file
  -r FROM:=TO           another name for a topic or service; __ns:=/quad is the namespace
  -e ENCLAVE            the enclave whose keys it takes
  --log-level LEVEL     debug, info, warn, error or fatal

ros2 param describe tells of its parameters while it runs.
`

// Run joins the graph, calls setup, which makes nodes, and runs their callbacks until ctx is done. Before that it warns
// of parameters that none of them has. Then it closes the nodes and leaves the graph. Where the one argument is
// --help, it prints what arguments there are, and calls nothing.
func Run(ctx context.Context, o Options, setup func(ctx context.Context, c *Context) error) (err error) {
	if len(o.Args) == 1 && (o.Args[0] == "--help" || o.Args[0] == "-h") {
		_, err := fmt.Printf(usage, filepath.Base(os.Args[0]))
		return err
	}
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
	c.warnOfUnknown()
	if o.Threads > 1 {
		return c.SpinThreads(ctx, o.Threads)
	}
	return c.Spin(ctx)
}
