package ros

import (
	"context"
	"fmt"
	"sync"

	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros/qos"
)

// endpoint is what publishers and subscriptions have in common.
type endpoint struct {
	n        *Node
	topic    string
	typeName string
	side     qos.Entity
	status   func() dds.Status

	mu           sync.Mutex
	incompatible int // as of the last look
}

// Matched counts the endpoints at the other side of the topic.
func (e *endpoint) Matched() int { return e.status().Matched }

// Status counts what happened to the endpoint.
func (e *endpoint) Status() dds.Status { return e.status() }

func (e *endpoint) base() *endpoint { return e }

func (e *endpoint) rosType() string { return e.typeName }

// news warns of endpoints that were refused for their QoS, in rclcpp's words.
func (e *endpoint) news() {
	s := e.status()
	e.mu.Lock()
	fresh := s.Incompatible > e.incompatible
	e.incompatible = s.Incompatible
	e.mu.Unlock()
	if !fresh {
		return
	}
	policy := s.IncompatiblePolicy.String() + "_QOS_POLICY"
	if e.side == qos.Publisher {
		e.n.log.Warn().Msgf("New subscription discovered on topic '%s', requesting incompatible QoS. "+
			"No messages will be sent to it. Last incompatible policy: %s", e.topic, policy)
		return
	}
	e.n.log.Warn().Msgf("New publisher discovered on topic '%s', offering incompatible QoS. "+
		"No messages will be received from it. Last incompatible policy: %s", e.topic, policy)
}

// Incompatible tells of an endpoint of the node that does not match a peer for
// its QoS.
type Incompatible struct {
	Topic  string
	Side   string // the node's own: "publisher" or "subscription"
	Count  int    // refusals since the endpoint was made
	Policy dds.Policy
}

// Incompatible lists the node's endpoints that refused peers for their QoS, or
// were refused.
func (n *Node) Incompatible() []Incompatible {
	var list []Incompatible
	for _, o := range n.owned() {
		e, ok := o.(matched)
		if !ok {
			continue
		}
		b := e.base()
		if s := b.status(); s.Incompatible > 0 {
			list = append(list, Incompatible{b.topic, string(b.side), s.Incompatible, s.IncompatiblePolicy})
		}
	}
	return list
}

// matched is a publisher or subscription.
type matched interface{ base() *endpoint }

// WaitForMatched waits until at least count endpoints at the other side match,
// or ctx is done; then the error says how many there are. It may be called
// anywhere, also without any Spin. An endpoint that has just gone still counts
// until discovery removes it. A volatile publisher that waits for a restarted
// subscription may therefore return early, and that subscription miss samples.
func WaitForMatched(ctx context.Context, e matched, count int) error {
	b := e.base()
	err := b.n.context.executor.until(ctx, func() bool { return b.Matched() >= count })
	if err != nil {
		other := qos.Subscription
		if b.side == qos.Subscription {
			other = qos.Publisher
		}
		return fmt.Errorf("topic %s: %d matching %ss, expected %d: %w", b.topic, b.Matched(), other, count, err)
	}
	return nil
}

// prepare resolves the topic and its QoS for an endpoint.
func (n *Node) prepare(e *endpoint, topic, typeName string, q QoS, s qos.Entity, options []Option) (
	rmw.Topic, QoS, error) {
	full, err := n.name.Topic(topic)
	if err != nil {
		return rmw.Topic{}, q, n.errorf("topic %q: %w", topic, err)
	}
	if o := n.settle(options).overridable; o != nil {
		if q, err = qos.Declare(n.parameters, full, s, *o, q); err != nil {
			return rmw.Topic{}, q, n.errorf("%w", err)
		}
	}
	e.n, e.topic, e.typeName, e.side = n, full, typeName, s
	return rmw.Topic{Name: full, Type: typeName, Hash: typeHash(typeName)}, q, nil
}
