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

// Host is a Node or a LifecycleNode: publishers, subscriptions, services and clients are
// made on one.
type Host interface {
	node() *Node
	// publishing is true while managed publishers send; nil when they always do.
	publishing() *atomic.Bool
}

// Node is one node of the ROS graph.
type Node struct {
	context    *Context
	name       names.Node
	middleware rmw.Node
	clock      *Clock
	group      *Group // of the user's callbacks
	internal   *Group // of the node's own services and subscriptions
	log        zerolog.Logger
	parameters *params.Store

	mu      sync.Mutex
	closed  bool
	closers []io.Closer // in the order of their creation
}

// NewNode makes a node of this name in the namespace of the command line, or "/". Remap
// rules and parameters of the command line apply.
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
	c.addNode(n)
	if err := n.start(); err != nil {
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

// LoggerService adds the services ~/get_logger_levels and ~/set_logger_levels for all
// loggers of the process. As in rclcpp, a node has none by default.
func LoggerService() NodeOption {
	return func(n *Node) error {
		levels, o := n.context.log.Levels(), []Option{InGroup(n.internal)}
		return runAll(
			func() error { return serve(n, "~/get_logger_levels", levels.GetLoggerLevels, o) },
			func() error { return serve(n, "~/set_logger_levels", levels.SetLoggerLevels, o) },
		)
	}
}

// start makes the services and topics that every ROS node has.
func (n *Node) start() error {
	return runAll(n.startRosout, n.startParameters, n.startTime, n.startDescriptions)
}

// Name is the node's name.
func (n *Node) Name() string { return n.name.Name }

// Namespace is the node's namespace: "/" or "/quad".
func (n *Node) Namespace() string { return n.name.Namespace }

// FullName is such as "/quad/fit".
func (n *Node) FullName() string { return n.name.FullName() }

// Context is the node's process in the graph.
func (n *Node) Context() *Context { return n.context }

// Clock is the node's ROS clock.
func (n *Node) Clock() *Clock { return n.clock }

// Now is the time of the node's ROS clock.
func (n *Node) Now() Time { return n.clock.Now() }

// Log is the node's logger, named after it: to console, file and /rosout.
func (n *Node) Log() *zerolog.Logger { return &n.log }

// Post runs f on the executor as one of the node's own callbacks. It may be called from any
// goroutine.
func (n *Node) Post(f func()) { n.group.Post(f) }

// ResolveTopic expands and remaps a topic's name.
func (n *Node) ResolveTopic(topic string) (string, error) { return n.name.Topic(topic) }

// ResolveService expands and remaps a service's name.
func (n *Node) ResolveService(service string) (string, error) { return n.name.Service(service) }

func (n *Node) node() *Node            { return n }
func (*Node) publishing() *atomic.Bool { return nil }

// newEntity calls create and adds the entity to the node. It holds the executor's token:
// the middleware reports an entity only when it is complete.
func (n *Node) newEntity(entity io.Closer, create func() error) error {
	x := n.context.executor
	x.acquire()
	err := create()
	x.release()
	if err != nil {
		return n.errorf("%w", err)
	}
	return n.addCloser(entity)
}

// addCloser makes Close close c too. On a closed node it closes c at once.
func (n *Node) addCloser(c io.Closer) error {
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

func (n *Node) removeCloser(c io.Closer) {
	n.mu.Lock()
	n.closers = slices.DeleteFunc(n.closers, func(o io.Closer) bool { return o == c })
	n.mu.Unlock()
}

func (n *Node) allClosers() []io.Closer {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.closers)
}

// Close takes the node and its entities out of the graph.
func (n *Node) Close() error {
	n.mu.Lock()
	closed := n.closed
	n.closed = true
	n.mu.Unlock()
	if closed {
		return nil
	}
	var err error
	for _, c := range slices.Backward(n.allClosers()) {
		err = errors.Join(err, c.Close())
	}
	n.context.removeNode(n)
	return errors.Join(err, n.middleware.Close())
}

// Option changes how an endpoint or timer is made.
type Option func(*entityOptions)

type entityOptions struct {
	group       *Group
	qos         *QoS // of a service or client
	overridable *qos.Overridable
	limits      *RequestLimits
	refuse      any // func(*Resp, error) of a service with limits
}

// InGroup runs the callback in a group other than the node's own, which is exclusive.
func InGroup(g *Group) Option { return func(s *entityOptions) { s.group = g } }

// WithQoS gives a service or client another QoS than ServicesQoS.
func WithQoS(q QoS) Option { return func(s *entityOptions) { s.qos = &q } }

// Overridable lets read-only parameters override the policies of a publisher's or
// subscription's QoS.
func Overridable(o qos.Overridable) Option { return func(s *entityOptions) { s.overridable = &o } }

func (n *Node) applyOptions(options []Option) entityOptions {
	s := entityOptions{group: n.group}
	for _, o := range options {
		o(&s)
	}
	return s
}

func (s entityOptions) serviceQoS() QoS {
	if s.qos != nil {
		return *s.qos
	}
	return ServicesQoS()
}

// distro is the distribution that the node speaks.
func (n *Node) distro() string { return n.context.settings.Getenv("ROS_DISTRO") }

// typeHash is the type's RIHS01 hash, "" for types that package msgs does not have.
func (n *Node) typeHash(name string) string {
	t, _ := msgs.LookupIn(n.distro(), name)
	return t.Hash
}

// fullName of a node.
func fullName(n rmw.NodeName) string { return names.Join(n.Namespace, n.Name) }
