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
	incompatible int // as of the last event
}

// Topic is the full name of the topic.
func (e *endpoint) Topic() string { return e.topic }

// Matched counts the matching endpoints at the other side of the topic.
func (e *endpoint) Matched() int { return e.status().Matched }

// Status counts what happened to the endpoint.
func (e *endpoint) Status() dds.Status { return e.status() }

func (e *endpoint) base() *endpoint { return e }

func (e *endpoint) rosType() string { return e.typeName }

// onEvent warns of newly refused endpoints with incompatible QoS, in rclcpp's words.
func (e *endpoint) onEvent() {
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

// Incompatible describes an endpoint of the node and peers with incompatible QoS.
type Incompatible struct {
	Topic  string
	Side   string // the node's own: "publisher" or "subscription"
	Count  int    // refusals since the endpoint was made
	Policy dds.Policy
}

// Incompatible lists the node's endpoints that did not match peers because of their QoS.
func (n *Node) Incompatible() []Incompatible {
	var list []Incompatible
	for _, o := range n.allClosers() {
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

// matched is implemented by publishers and subscriptions.
type matched interface{ base() *endpoint }

// WaitForMatched waits until at least count endpoints at the other side match, or ctx is
// done. It may be called anywhere, also without any Spin. A closed endpoint counts until
// discovery removes it. A wait for a restarted subscription may therefore end early, and
// that subscription miss the messages of a volatile publisher.
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
	if o := n.applyOptions(options).overridable; o != nil {
		if q, err = qos.Declare(n.parameters, full, s, *o, q); err != nil {
			return rmw.Topic{}, q, n.errorf("%w", err)
		}
	}
	e.n, e.topic, e.typeName, e.side = n, full, typeName, s
	return rmw.Topic{Name: full, Type: typeName, Hash: n.typeHash(typeName)}, q, nil
}
