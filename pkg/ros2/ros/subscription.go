package ros

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"vnd/pkg/ros2/cdr"
	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros/qos"
)

// Info is what the middleware knows of a message.
type Info struct {
	Source    Time    // when it was published, by the publisher's clock
	Received  Time    // when it arrived, by the system's clock
	Publisher rmw.GID // zero when the middleware does not know it
}

// Subscription receives messages of type T.
type Subscription[T any] struct{ *RawSubscription }

// NewSubscription makes a subscription on the topic, whose name is expanded and remapped.
// The callback owns the message until it returns. Then its memory is used again: nothing
// is allocated once a message of that size was received. Malformed messages are counted,
// logged and dropped.
func NewSubscription[T any, P Message[T]](h Host, topic string, q QoS, callback func(*T, Info), options ...Option) (
	*Subscription[T], error) {
	name := P(new(T)).TypeName()
	raw, err := newSubscription(h, topic, name, q, options, func(s *RawSubscription) delivery {
		m := new(T)
		return &typedDelivery[T]{deliveryBase: deliveryBase{sub: s}, m: m, message: P(m), callback: callback}
	})
	if err != nil {
		return nil, err
	}
	return &Subscription[T]{raw}, nil
}

// RawSubscription receives messages of any type as CDR.
type RawSubscription struct {
	endpoint
	subscription rmw.Subscription
	group        *Group
	create       func(*RawSubscription) delivery
	onSample     func(*dds.Sample)
	closed       atomic.Bool
	malformed    atomic.Uint64
	overrun      atomic.Uint64
	depth        int // most deliveries in the queue; 0 for no bound
	warnings     throttle

	// Of the holder of the executor's token.
	taken        delivery
	malformedErr error
	from         rmw.GID

	mu     sync.Mutex
	free   []delivery
	queued fifo[delivery]
}

// NewRawSubscription makes a subscription of messages of the named type. The callback owns
// data, the encapsulation header and CDR, until it returns.
func NewRawSubscription(h Host, topic, typeName string, q QoS, callback func(data []byte, i Info), options ...Option) (
	*RawSubscription, error) {
	return newSubscription(h, topic, typeName, q, options, func(s *RawSubscription) delivery {
		return &rawDelivery{deliveryBase: deliveryBase{sub: s}, callback: callback}
	})
}

func newSubscription(h Host, topic, typeName string, q QoS, options []Option, create func(*RawSubscription) delivery) (
	*RawSubscription, error) {
	n := h.node()
	s := &RawSubscription{create: create, group: n.applyOptions(options).group}
	s.onSample = s.receive
	t, q, err := n.prepare(&s.endpoint, topic, typeName, q, qos.Subscription, options)
	if err != nil {
		return nil, err
	}
	if q.History == dds.KeepLast {
		s.depth = max(q.Depth, 1)
	}
	err = n.newEntity(s, func() error {
		s.subscription, err = n.middleware.NewSubscription(t, q, s)
		if err == nil {
			s.status = s.subscription.Status
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Malformed counts the messages that could not be decoded.
func (s *RawSubscription) Malformed() uint64 { return s.malformed.Load() }

// Overrun counts the messages that newer ones replaced while callbacks were busy, beyond
// the depth of the QoS.
func (s *RawSubscription) Overrun() uint64 { return s.overrun.Load() }

// Close ends the subscription. No callback begins afterwards.
func (s *RawSubscription) Close() error {
	s.closed.Store(true)
	s.n.removeCloser(s)
	return s.subscription.Close()
}

// delivery is a message on its way to the callback.
type delivery interface {
	job
	load(*dds.Sample) error
}

// deliveryBase is the common part of deliveries.
type deliveryBase struct {
	sub  *RawSubscription
	info Info
}

func (d *deliveryBase) setInfo(s *dds.Sample) {
	d.info = Info{Time(s.Source), Time(s.Received), s.Writer}
	if s.Received == 0 {
		d.info.Received = Time(time.Now().UnixNano())
	}
}

type typedDelivery[T any] struct {
	deliveryBase
	m        *T
	message  cdr.Message
	decoder  cdr.Decoder
	callback func(*T, Info)
}

func (d *typedDelivery[T]) load(s *dds.Sample) error {
	d.setInfo(s)
	d.decoder.Reset(s.Data)
	d.message.UnmarshalCDR(&d.decoder)
	err := d.decoder.Finish()
	d.decoder.Reset(emptyMessage) // the sample's memory is not kept
	return err
}

// emptyMessage is a message without a body.
var emptyMessage = []byte{0, 1, 0, 0}

func (d *typedDelivery[T]) run() {
	if !d.sub.closed.Load() {
		d.callback(d.m, d.info)
	}
	d.sub.recycle(d)
}

type rawDelivery struct {
	deliveryBase
	data     []byte
	callback func([]byte, Info)
}

func (d *rawDelivery) load(s *dds.Sample) error {
	d.setInfo(s)
	d.data = append(d.data[:0], s.Data...)
	return nil
}

func (d *rawDelivery) run() {
	if !d.sub.closed.Load() {
		d.callback(d.data, d.info)
	}
	d.sub.recycle(d)
}

// take decodes the next message that is not malformed.
func (s *RawSubscription) take() job {
	for {
		s.taken, s.malformedErr = s.newDelivery(), nil
		n, err := s.subscription.Take(1, s.onSample)
		switch {
		case err != nil || n == 0:
			s.recycle(s.taken)
			if err != nil && !errors.Is(err, rmw.ErrClosed) {
				s.warnings.log(&s.n.log, "topic '%s': taking a message: %v", s.topic, err)
			}
			return nil
		case s.malformedErr == nil:
			return s.taken
		}
		s.recycle(s.taken)
		count := s.malformed.Add(1)
		s.warnings.log(&s.n.log, "topic '%s': message from %s dropped: %v (%d so far)", s.topic, s.publisher(s.from),
			s.malformedErr, count)
	}
}

func (s *RawSubscription) receive(sample *dds.Sample) {
	s.from = sample.Writer
	s.malformedErr = s.taken.load(sample)
}

// publisher describes the sender of a message, with its node where the graph knows it.
func (s *RawSubscription) publisher(id rmw.GID) string {
	for _, e := range s.n.context.middleware.Graph().Publishers(s.topic) {
		if e.GID == id {
			return "publisher " + id.String() + " of node " + fullName(e.Node)
		}
	}
	return "publisher " + id.String()
}

// queueAll queues all messages that there are. Beyond the depth of the QoS, newer messages
// replace the oldest, as everywhere in ROS.
func (s *RawSubscription) queueAll() {
	for {
		j := s.take()
		if j == nil {
			return
		}
		s.mu.Lock()
		dropped := s.depth > 0 && s.queued.len() >= s.depth
		if dropped {
			old, _ := s.queued.pop()
			s.free = append(s.free, old)
			s.overrun.Add(1)
		}
		s.queued.push(j.(delivery))
		s.mu.Unlock()
		if !dropped { // else the job of the replaced message runs the new one
			s.group.push(s)
		}
	}
}

// run calls the callback with the oldest message of the queue.
func (s *RawSubscription) run() {
	s.mu.Lock()
	d, ok := s.queued.pop()
	s.mu.Unlock()
	if ok {
		d.run()
	}
}

// newDelivery returns a free delivery, or a new one.
func (s *RawSubscription) newDelivery() delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.free); n > 0 {
		d := s.free[n-1]
		s.free = s.free[:n-1]
		return d
	}
	return s.create(s)
}

func (s *RawSubscription) recycle(d delivery) {
	s.mu.Lock()
	s.free = append(s.free, d)
	s.mu.Unlock()
}
