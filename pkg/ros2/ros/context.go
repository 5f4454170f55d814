package ros

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/rs/zerolog"

	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros/logging"
	"vnd/pkg/ros2/ros/rosargs"
)

// Options of a Context.
type Options struct {
	// Args is the command line without the program's name.
	Args []string
	// Getenv looks up the environment; nil is os.Getenv.
	Getenv func(string) string
	// Backend joins the graph; nil is ByEnvironment, or rcl in programs built on rclgo.
	Backend Backend
	// Threads is the number of goroutines that run callbacks in Run. Up to 1 it is the
	// goroutine that waits, which is the fastest.
	Threads int
	// Stdout and Stderr are the console; nil is the process' own.
	Stdout, Stderr io.Writer
}

// Settings of a Backend.
type Settings struct {
	Enclave string // "" for "/"
	Getenv  func(string) string
	Log     zerolog.Logger
}

// Backend joins a ROS graph.
type Backend func(Settings) (rmw.Context, error)

// Context is a process in the ROS graph: its command line, its environment, its nodes and
// the executor that runs their callbacks.
type Context struct {
	args       *rosargs.Args
	shared     map[string]string // by node: whose parameters it has, too
	settings   Settings
	middleware rmw.Context
	executor   *executor
	log        *logging.Log

	mu     sync.Mutex
	closed bool
	nodes  []*Node
}

// NewContext reads the command line and the environment and joins the graph.
func NewContext(o Options) (*Context, error) {
	args, err := rosargs.Parse(o.Args)
	if err != nil {
		return nil, err
	}
	s := Settings{Enclave: args.Enclave, Getenv: o.Getenv}
	if s.Getenv == nil {
		s.Getenv = os.Getenv
	}
	c := &Context{args: args, settings: s}
	if c.log, err = c.newLog(o); err != nil {
		return nil, err
	}
	backend := o.Backend
	if backend == nil {
		backend = preferred
	}
	c.settings.Log = c.log.Logger("rmw")
	if c.middleware, err = backend(c.settings); err != nil {
		return nil, errors.Join(err, c.log.Close())
	}
	c.executor = newExecutor(c.middleware)
	return c, nil
}

// Args are the arguments of the command line that are not for ROS.
func (c *Context) Args() []string { return slices.Clone(c.args.Rest) }

// Log is the process' log.
func (c *Context) Log() *logging.Log { return c.log }

// Graph lists nodes, topics and services.
func (c *Context) Graph() rmw.Graph { return c.middleware.Graph() }

// WaitForGraph waits until holds returns true for the graph, or ctx is done. It may be
// called anywhere, also without any Spin.
func (c *Context) WaitForGraph(ctx context.Context, holds func(rmw.Graph) bool) error {
	return c.executor.until(ctx, func() bool { return holds(c.Graph()) })
}

// NewGroup makes a callback group.
func (c *Context) NewGroup(kind GroupKind) *Group {
	return &Group{kind: kind, queue: c.executor.queue}
}

// Spin runs callbacks on the calling goroutine, one at a time, until ctx is done or the
// Context is closed. It does not recover a panic of a callback.
func (c *Context) Spin(ctx context.Context) error { return c.executor.spin(ctx) }

// SpinThreads runs callbacks on n goroutines, as their groups permit. It ends when ctx is
// done or the Context is closed, after the callbacks that still run.
func (c *Context) SpinThreads(ctx context.Context, n int) error {
	if n < 1 {
		return fmt.Errorf("%d threads, expected 1 or more", n)
	}
	return c.executor.spinThreads(ctx, n)
}

func (c *Context) addNode(n *Node) {
	c.mu.Lock()
	c.nodes = append(c.nodes, n)
	c.mu.Unlock()
}

func (c *Context) removeNode(n *Node) {
	c.mu.Lock()
	c.nodes = slices.DeleteFunc(c.nodes, func(o *Node) bool { return o == n })
	c.mu.Unlock()
}

// leaving says whether Close was called.
func (c *Context) leaving() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// Close closes all nodes and leaves the graph.
func (c *Context) Close() error {
	c.mu.Lock()
	closed, nodes := c.closed, slices.Clone(c.nodes)
	c.closed = true
	c.mu.Unlock()
	if closed {
		return nil
	}
	var err error
	for _, n := range slices.Backward(nodes) {
		err = errors.Join(err, n.Close())
	}
	return errors.Join(err, c.middleware.Close(), c.log.Close())
}
