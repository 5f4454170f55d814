// Package rmw is what vnd asks of a ROS 2 middleware: nodes, publishers,
// subscriptions, services and clients that move CDR bytes under ROS names, and
// the graph of nodes. It plays the part of ROS' own layer of that name, so that
// package ros runs unchanged over plain DDS (rmw/overdds) or over rcl.
package rmw

import (
	"errors"
	"time"

	"vnd/pkg/ros2/dds"
)

// QoS of an endpoint: that of DDS; UserData and IgnoreLocal are the
// middleware's own to set.
type QoS = dds.QoS

// GID identifies an endpoint or a process in the graph.
type GID = dds.GUID

// Errors of every middleware.
var (
	ErrClosed  = dds.ErrClosed
	ErrTimeout = dds.ErrTimeout
	// ErrNoNode: the graph has no node of that name.
	ErrNoNode = errors.New("no such node")
)

// Context is one process' part in a ROS graph. All methods but Wait may be
// called from any goroutine; names are fully qualified ("/quad/step"), types
// are ROS' ("vnd/msg/Step").
type Context interface {
	// GID of the process; zero where the middleware cannot tell yet.
	GID() GID
	// NewNode puts a node into the graph.
	NewNode(namespace, name string) (Node, error)
	// Wait blocks until something is to be done for an entity, the graph
	// changed, Wake was called or timeout has passed (never when negative), and
	// appends what is ready. Data are told of until they are taken, an event and
	// a change of the graph once each. One goroutine waits at a time. After Close
	// it returns ErrClosed.
	Wait(timeout time.Duration, ready []Ready) ([]Ready, error)
	Wake()
	Graph() Graph
	Close() error
}

// Ready tells why Wait returned.
type Ready struct {
	Owner any  // as given when the entity was made; nil for the graph
	Data  bool // a message, request or response may be taken
	Event bool // Status has news; for the graph: it changed
}

// Node makes entities that the graph shows as its own. Every New… gives owner
// back through Wait; only a publisher's may be nil, and its events are not told.
// The error names the topic or service.
type Node interface {
	NewPublisher(t Topic, q QoS, owner any) (Publisher, error)
	NewSubscription(t Topic, q QoS, owner any) (Subscription, error)
	NewServer(s Service, q QoS, owner any) (Server, error)
	NewClient(s Service, q QoS, owner any) (Client, error)
	// Close takes the node and what is left of its entities out of the graph.
	Close() error
}

// Topic of messages.
type Topic struct {
	Name, Type string
	// Hash is the type's RIHS01 hash, which newer distributions announce; may
	// be empty.
	Hash string
}

// Service of requests and responses. Type is such as "std_srvs/srv/SetBool".
type Service struct {
	Name, Type                string
	RequestHash, ResponseHash string // RIHS01; may be empty
}

// Publisher sends messages: encapsulation header and CDR.
type Publisher interface {
	// GID in the graph; zero where the middleware cannot tell.
	GID() GID
	// Publish keeps nothing of the message and allocates nothing. stamp is the
	// source time in ns since 1970, 0 for now; rcl takes none, and over it the
	// source time is always now.
	Publish(message []byte, stamp int64) error
	Status() dds.Status
	Close() error
}

// Subscription receives messages.
type Subscription interface {
	GID() GID
	// Take calls f with up to max messages, oldest first, and returns how many
	// there were. It allocates nothing. f may call any method, here and below.
	Take(max int, f func(*dds.Sample)) (int, error)
	Status() dds.Status
	Close() error
}

// RequestID names a request: the client's handle and the number that it gave.
type RequestID struct {
	Client   uint64
	Sequence int64
}

// Server answers requests.
type Server interface {
	// Take calls f with up to max requests.
	Take(max int, f func(id RequestID, request *dds.Sample)) (int, error)
	// Respond answers a request. A client that has gone is no error. Where
	// discovery lags behind, the response is sent a little later.
	Respond(id RequestID, response []byte) error
	Close() error
}

// Client sends requests.
type Client interface {
	// Available says whether a server of the service would hear a request and
	// be heard.
	Available() bool
	// Send sends a request and returns its number.
	Send(request []byte) (sequence int64, err error)
	// Take calls f with up to max responses to requests of this client.
	Take(max int, f func(sequence int64, response *dds.Sample)) (int, error)
	Close() error
}

// Graph tells who is there, as of each call. Slices are sorted and the caller's.
type Graph interface {
	Nodes() []NodeName
	// Topics and Services map names to types, sorted.
	Topics() map[string][]string
	Services() map[string][]string
	// Publishers and Subscriptions of a topic.
	Publishers(topic string) []Endpoint
	Subscriptions(topic string) []Endpoint
	// Of one node; ErrNoNode when it is not there.
	Of(n NodeName) (NodeGraph, error)
}

// NodeName is a node's place in the graph.
type NodeName struct {
	Namespace, Name, Enclave string
}

// NodeGraph lists what a node has: names mapped to types.
type NodeGraph struct {
	Publishers, Subscriptions, Servers, Clients map[string][]string
}

// Endpoint is a publisher or subscription in the graph.
type Endpoint struct {
	Node NodeName // UnknownNode or BareApp where nobody announced one
	Type string
	Hash string // RIHS01, "" when not announced
	GID  GID
	QoS  QoS
}
