// Package rmw is the interface to a ROS 2 middleware: nodes, publishers,
// subscriptions, services, clients and the graph of nodes. Messages are CDR bytes. As
// ROS' own layer of that name, it lets package ros run over plain DDS (rmw/overdds) and
// over rcl.
package rmw

import (
	"errors"
	"time"

	"vnd/pkg/ros2/dds"
)

// QoS of an endpoint is that of DDS. Only the middleware sets UserData and IgnoreLocal.
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

// Context is one process in a ROS graph. All methods but Wait may be called from any
// goroutine. Names are fully qualified ("/quad/step"), types are ROS' ("vnd/msg/Step").
type Context interface {
	// GID of the process; zero while the middleware does not know it.
	GID() GID
	// NewNode adds a node to the graph.
	NewNode(namespace, name string) (Node, error)
	// Wait blocks until an entity is ready, the graph changed, Wake was called or
	// timeout has passed; a negative timeout never passes. It appends what is ready.
	// Data are reported until they are taken, an event and a change of the graph once
	// each. One goroutine waits at a time. After Close it returns ErrClosed.
	Wait(timeout time.Duration, ready []Ready) ([]Ready, error)
	Wake()
	Graph() Graph
	Close() error
}

// Ready is a reason why Wait returned.
type Ready struct {
	Owner any  // the entity's owner; nil for the graph
	Data  bool // a message, request or response may be taken
	Event bool // Status changed; for the graph: it changed
}

// Node makes entities that belong to it in the graph. Wait reports an entity by its
// owner. A publisher's owner may be nil; its events are not reported then. Errors name
// the topic or service.
type Node interface {
	NewPublisher(t Topic, q QoS, owner any) (Publisher, error)
	NewSubscription(t Topic, q QoS, owner any) (Subscription, error)
	NewServer(s Service, q QoS, owner any) (Server, error)
	NewClient(s Service, q QoS, owner any) (Client, error)
	// Close takes the node and its entities out of the graph.
	Close() error
}

// Topic of messages.
type Topic struct {
	Name, Type string
	// Hash is the type's RIHS01 hash, which newer distributions announce. It may be
	// empty.
	Hash string
}

// Service of requests and responses. Type is such as "std_srvs/srv/SetBool".
type Service struct {
	Name, Type string
	// RIHS01; may be empty
	Hash, RequestHash, ResponseHash string
}

// Publisher sends messages: encapsulation header and CDR.
type Publisher interface {
	// GID in the graph; zero where the middleware does not know it.
	GID() GID
	// Publish keeps no part of the message and allocates nothing. stamp is the source
	// time in ns since 1970, 0 for now. rcl takes no stamp: its source time is now.
	Publish(message []byte, stamp int64) error
	Status() dds.Status
	Close() error
}

// Subscription receives messages.
type Subscription interface {
	GID() GID
	// Take calls f with up to max messages, oldest first, and returns their number. It
	// allocates nothing. f may call any method; so may those of Server and Client.
	Take(max int, f func(*dds.Sample)) (int, error)
	Status() dds.Status
	Close() error
}

// RequestID identifies a request: the client's handle and its sequence number.
type RequestID struct {
	Client   uint64
	Sequence int64
	// Endpoint is the client's in place of its handle, where the middleware knows that.
	Endpoint GID
}

// Server answers requests.
type Server interface {
	// Take calls f with up to max requests.
	Take(max int, f func(id RequestID, request *dds.Sample)) (int, error)
	// Respond sends the response to a request. A client that is gone is no error. While
	// discovery has not matched the client, the response waits for it.
	Respond(id RequestID, response []byte) error
	Close() error
}

// Client sends requests.
type Client interface {
	// Available says whether a server of the service is matched in both directions.
	Available() bool
	// Send sends a request and returns its sequence number.
	Send(request []byte) (sequence int64, err error)
	// Take calls f with up to max responses to requests of this client.
	Take(max int, f func(sequence int64, response *dds.Sample)) (int, error)
	Close() error
}

// Graph lists nodes, topics, services and endpoints as of each call. The caller owns the
// slices, which are sorted.
type Graph interface {
	Nodes() []NodeName
	// Topics and Services map names to types, sorted.
	Topics() map[string][]string
	Services() map[string][]string
	// Publishers and Subscriptions of a topic.
	Publishers(topic string) []Endpoint
	Subscriptions(topic string) []Endpoint
	// Of lists the entities of one node; ErrNoNode when it is not there.
	Of(n NodeName) (NodeGraph, error)
	// Pending counts what is half known: processes and endpoints that no announcement names
	// yet, and announced endpoints that are not discovered. 0 where that is not known.
	Pending() int
}

// NodeName is a node's place in the graph.
type NodeName struct {
	Namespace, Name, Enclave string
}

// NodeGraph is the entities of a node: names mapped to types.
type NodeGraph struct {
	Publishers, Subscriptions, Servers, Clients map[string][]string
}

// Endpoint is a publisher or subscription in the graph.
type Endpoint struct {
	Node NodeName // UnknownNode or BareApp without an announcement
	Type string
	Hash string // RIHS01, "" when not announced
	GID  GID
	QoS  QoS
	// Foreign is the vendor of a process whose services have another mapping on the wire
	// than those of this one; "" for the same, and for what is not known. Topics work.
	Foreign string
}
