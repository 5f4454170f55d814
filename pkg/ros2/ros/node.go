package ros

import (
	"errors"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"

	"vnd/msgs"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros/names"
	"vnd/pkg/ros2/ros/params"
	"vnd/pkg/ros2/ros/qos"
)

// Host is what publishers, subscriptions, services and clients are made on: a
// Node or a LifecycleNode.
type Host interface {
	node() *Node
	gate() *atomic.Bool // of managed publishers; nil for none
}

// Node is one node of the ROS graph.
type Node struct {
	context    *Context
	name       names.Node
	middleware rmw.Node
	clock      *Clock
	group      *Group // of the user's callbacks
	internal   *Group // of parameter services and the like
	log        zerolog.Logger
	parameters *params.Store

	mu      sync.Mutex
	closed  bool
	closers []io.Closer // in the order in which they were made
}

// NewNode makes a node of this name in the namespace that the command line
// gives, or else "/". Remap rules and parameters of the command line hold.
func (c *Context) NewNode(name string, options ...NodeOption) (*Node, error) {
	place, err := names.NewNode("", name, c.args.Rules)
	if err != nil {
		return nil, err
	}
	n := &Node{context: c, name: place, clock: NewClock(ROSTime),
		group: c.NewGroup(Exclusive), internal: c.NewGroup(Exclusive)}
	n.log = c.log.Logger(place.LoggerName())
	if n.middleware, err = c.middleware.NewNode(place.Namespace, place.Name); err != nil {
		return nil, err
	}
	c.adopt(n)
	if err := n.begin(); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	for _, o := range options {
		if err := o(n); err != nil {
			return nil, errors.Join(err, n.Close())
		}
	}
	return n, nil
}

// NodeOption adds to a new node.
type NodeOption func(*Node) error

// LoggerService gives the node ~/get_logger_levels and ~/set_logger_levels, which
// speak for the process' loggers. As in rclcpp it has none by default.
func LoggerService() NodeOption {
	return func(n *Node) error {
		levels, o := n.context.log.Levels(), []Option{InGroup(n.internal)}
		return serveAll(
			func() error { return serve(n, "~/get_logger_levels", levels.GetLoggerLevels, o) },
			func() error { return serve(n, "~/set_logger_levels", levels.SetLoggerLevels, o) },
		)
	}
}

// begin gives the node what every node of ROS has.
func (n *Node) begin() error {
	return serveAll(n.beginRosout, n.beginParameters, n.beginTime, n.beginDescriptions)
}

// Name is the node's name.
func (n *Node) Name() string { return n.name.Name }

// Namespace is the node's namespace: "/" or "/quad".
func (n *Node) Namespace() string { return n.name.Namespace }

// FullName is such as "/quad/fit".
func (n *Node) FullName() string { return n.name.FullName() }

// Context is the process' part in the graph.
func (n *Node) Context() *Context { return n.context }

// Clock is the node's ROS clock.
func (n *Node) Clock() *Clock { return n.clock }

// Now is the time of the node's ROS clock.
func (n *Node) Now() Time { return n.clock.Now() }

// Log is the node's logger, named after it: to console, file and /rosout.
func (n *Node) Log() *zerolog.Logger { return &n.log }

// Post has f run on the executor, as one of the node's own callbacks. It may be
// called from any goroutine.
func (n *Node) Post(f func()) { n.group.Post(f) }

// ResolveTopic expands and remaps a topic's name.
func (n *Node) ResolveTopic(topic string) (string, error) { return n.name.Topic(topic) }

// ResolveService expands and remaps a service's name.
func (n *Node) ResolveService(service string) (string, error) { return n.name.Service(service) }

func (n *Node) node() *Node      { return n }
func (*Node) gate() *atomic.Bool { return nil }

// make has create make an entity that the node then owns. Nobody waits on the
// middleware meanwhile: an entity tells of itself only once it is whole.
func (n *Node) make(entity io.Closer, create func() error) error {
	x := n.context.executor
	x.acquire()
	err := create()
	x.release()
	if err != nil {
		return n.errorf("%w", err)
	}
	return n.own(entity)
}

// own remembers what is to be closed with the node. Where that is closed already,
// so is c.
func (n *Node) own(c io.Closer) error {
	n.mu.Lock()
	closed := n.closed
	if !closed {
		n.closers = append(n.closers, c)
	}
	n.mu.Unlock()
	if closed {
		return n.errorf("%w", errors.Join(rmw.ErrClosed, c.Close()))
	}
	return nil
}

func (n *Node) disown(c io.Closer) {
	n.mu.Lock()
	n.closers = slices.DeleteFunc(n.closers, func(o io.Closer) bool { return o == c })
	n.mu.Unlock()
}

func (n *Node) owned() []io.Closer {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.closers)
}

// Close takes the node with all that was made on it out of the graph.
func (n *Node) Close() error {
	n.mu.Lock()
	closed := n.closed
	n.closed = true
	n.mu.Unlock()
	if closed {
		return nil
	}
	var err error
	for _, c := range slices.Backward(n.owned()) {
		err = errors.Join(err, c.Close())
	}
	n.context.forget(n)
	return errors.Join(err, n.middleware.Close())
}

// Option changes how an endpoint or timer is made.
type Option func(*settings)

type settings struct {
	group       *Group
	qos         *QoS // of a service or client
	overridable *qos.Overridable
}

// InGroup has the callback in a group other than the node's own, which is
// exclusive.
func InGroup(g *Group) Option { return func(s *settings) { s.group = g } }

// WithQoS gives a service or client another QoS than ServicesQoS.
func WithQoS(q QoS) Option { return func(s *settings) { s.qos = &q } }

// Overridable lets read-only parameters override the policies of a publisher's or
// subscription's QoS.
func Overridable(o qos.Overridable) Option { return func(s *settings) { s.overridable = &o } }

func (n *Node) settle(options []Option) settings {
	s := settings{group: n.group}
	for _, o := range options {
		o(&s)
	}
	return s
}

func (s settings) serviceQoS() QoS {
	if s.qos != nil {
		return *s.qos
	}
	return ServicesQoS()
}

// typeHash is the type's RIHS01 hash, "" for types that the project does not
// know.
func typeHash(name string) string {
	t, _ := msgs.Lookup(name)
	return t.Hash
}

// join is a node's full name.
func join(n rmw.NodeName) string { return names.Join(n.Namespace, n.Name) }
