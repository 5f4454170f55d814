package ros

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"vnd/pkg/ros2/cdr"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros/qos"
)

// Message is the constraint of *T for a message type T.
type Message[T any] interface {
	*T
	cdr.Message
}

// Publisher sends messages of type T. Its methods may be called from any
// goroutine.
type Publisher[T any] struct {
	*RawPublisher
	message func(*T) cdr.Message

	mu      sync.Mutex
	encoder cdr.Encoder
	buffer  []byte
}

// NewPublisher makes a publisher on the topic, whose name is expanded and remapped. On a
// LifecycleNode it sends only while the node is active.
func NewPublisher[T any, P Message[T]](h Host, topic string, q QoS, options ...Option) (*Publisher[T], error) {
	name := P(new(T)).TypeName()
	raw, err := NewRawPublisher(h, topic, name, q, options...)
	if err != nil {
		return nil, err
	}
	return &Publisher[T]{RawPublisher: raw, message: func(m *T) cdr.Message { return P(m) }}, nil
}

// Publish sends m and keeps no part of it. It allocates nothing once it has sent a message
// of that size.
func (p *Publisher[T]) Publish(m *T) error { return p.PublishAt(m, 0) }

// PublishAt is Publish with a source time; 0 is now.
func (p *Publisher[T]) PublishAt(m *T, source Time) error {
	if !p.active() {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.encoder.Reset(p.buffer[:0], cdr.LittleEndian)
	p.message(m).MarshalCDR(&p.encoder)
	data, err := p.encoder.Bytes()
	if err != nil {
		return fmt.Errorf("topic %s: %w", p.topic, err)
	}
	p.buffer = data
	return p.publish(data, source)
}

// RawPublisher sends messages of any type as CDR.
type RawPublisher struct {
	endpoint
	publisher rmw.Publisher
	enabled   *atomic.Bool // while a managed node is active; nil is always
}

// NewRawPublisher makes a publisher of messages of the named type
// ("std_msgs/msg/String").
func NewRawPublisher(h Host, topic, typeName string, q QoS, options ...Option) (*RawPublisher, error) {
	n := h.node()
	p := &RawPublisher{enabled: h.publishing()}
	t, q, err := n.prepare(&p.endpoint, topic, typeName, q, qos.Publisher, options)
	if err != nil {
		return nil, err
	}
	err = n.newEntity(p, func() error {
		p.publisher, err = n.middleware.NewPublisher(t, q, p)
		if err == nil {
			p.status = p.publisher.Status
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// PublishBytes sends a message: encapsulation header and CDR. It keeps no part of it.
func (p *RawPublisher) PublishBytes(message []byte) error {
	if !p.active() {
		return nil
	}
	return p.publish(message, 0)
}

// publish sends a message. What is sent while the process leaves the graph goes nowhere, as in rclcpp.
func (p *RawPublisher) publish(message []byte, source Time) error {
	err := p.publisher.Publish(message, int64(source))
	if err == nil || errors.Is(err, rmw.ErrClosed) && p.n.context.leaving() {
		return nil
	}
	return fmt.Errorf("topic %s: %w", p.topic, err)
}

func (p *RawPublisher) active() bool { return p.enabled == nil || p.enabled.Load() }

// GID of the publisher.
func (p *RawPublisher) GID() rmw.GID { return p.publisher.GID() }

// Close ends the publisher.
func (p *RawPublisher) Close() error {
	p.n.removeCloser(p)
	return p.publisher.Close()
}

// take: a publisher has no data.
func (p *RawPublisher) take() job { return nil }
func (p *RawPublisher) queueAll() {}
