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

// Info is what is known of a message besides its fields.
type Info struct {
	Source    Time    // when it was published, by the publisher's clock
	Received  Time    // when it came here, by the system's clock
	Publisher rmw.GID // zero when the middleware never knew
}

// Subscription hears messages of type T.
type Subscription[T any] struct{ raw *RawSubscription }

// NewSubscription makes a subscription on the topic, whose name is expanded and
// remapped. Its callback owns the message until it returns; then the memory is
// used again, which is why nothing is allocated once a message of that size was
// there. What cannot be decoded is counted, told to the log and dropped.
func NewSubscription[T any, P Message[T]](h Host, topic string, q QoS, callback func(*T, Info), options ...Option) (
	*Subscription[T], error) {
	name := P(new(T)).TypeName()
	raw, err := newSubscription(h, topic, name, q, options, func(s *RawSubscription) delivery {
		m := new(T)
		return &typed[T]{parcel: parcel{sub: s}, m: m, message: P(m), callback: callback}
	})
	if err != nil {
		return nil, err
	}
	return &Subscription[T]{raw}, nil
}

// Topic is the full name of the topic.
func (s *Subscription[T]) Topic() string { return s.raw.topic }

// Matched counts the publishers that this subscription hears now.
func (s *Subscription[T]) Matched() int { return s.raw.Matched() }

// Malformed counts the messages that could not be decoded.
func (s *Subscription[T]) Malformed() uint64 { return s.raw.Malformed() }

// Overrun counts the messages that gave way to newer ones, beyond the QoS'
// depth, while callbacks were busy.
func (s *Subscription[T]) Overrun() uint64 { return s.raw.Overrun() }

// Status counts what happened to the subscription.
func (s *Subscription[T]) Status() dds.Status { return s.raw.Status() }

// Close ends the subscription. Its callback is not called afterwards, unless it
// is running now.
func (s *Subscription[T]) Close() error { return s.raw.Close() }

func (s *Subscription[T]) base() *endpoint { return &s.raw.endpoint }

// RawSubscription hears messages of any type as CDR.
type RawSubscription struct {
	endpoint
	subscription rmw.Subscription
	group        *Group
	create       func(*RawSubscription) delivery
	onSample     func(*dds.Sample)
	closed       atomic.Bool
	malformed    atomic.Uint64
	overrun      atomic.Uint64
	depth        int // most deliveries that wait; 0 for no bound
	complaint    throttle

	// Of the holder of the executor's token.
	taken delivery
	bad   error
	from  rmw.GID

	mu      sync.Mutex
	free    []delivery
	waiting fifo[delivery]
}

// NewRawSubscription makes a subscription of messages of the named type. data is
// the encapsulation header and CDR, the callback's until it returns.
func NewRawSubscription(h Host, topic, typeName string, q QoS, callback func(data []byte, i Info), options ...Option) (
	*RawSubscription, error) {
	return newSubscription(h, topic, typeName, q, options, func(s *RawSubscription) delivery {
		return &rawParcel{parcel: parcel{sub: s}, callback: callback}
	})
}

func newSubscription(h Host, topic, typeName string, q QoS, options []Option, create func(*RawSubscription) delivery) (
	*RawSubscription, error) {
	n := h.node()
	s := &RawSubscription{create: create, group: n.settle(options).group}
	s.onSample = s.receive
	t, q, err := n.prepare(&s.endpoint, topic, typeName, q, qos.Subscription, options)
	if err != nil {
		return nil, err
	}
	if q.History == dds.KeepLast {
		s.depth = max(q.Depth, 1)
	}
	err = n.make(s, func() error {
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

// Overrun counts the messages that gave way to newer ones, beyond the QoS'
// depth, while callbacks were busy.
func (s *RawSubscription) Overrun() uint64 { return s.overrun.Load() }

// Close ends the subscription. Its callback is not called afterwards, unless it
// is running now.
func (s *RawSubscription) Close() error {
	s.closed.Store(true)
	s.n.disown(s)
	return s.subscription.Close()
}

// delivery is a message on its way to the callback.
type delivery interface {
	job
	load(*dds.Sample) error
}

// parcel is what deliveries have in common.
type parcel struct {
	sub  *RawSubscription
	info Info
}

func (p *parcel) note(s *dds.Sample) {
	p.info = Info{Time(s.Source), Time(s.Received), s.Writer}
	if s.Received == 0 {
		p.info.Received = Time(time.Now().UnixNano())
	}
}

type typed[T any] struct {
	parcel
	m        *T
	message  cdr.Message
	decoder  cdr.Decoder
	callback func(*T, Info)
}

func (d *typed[T]) load(s *dds.Sample) error {
	d.note(s)
	d.decoder.Reset(s.Data)
	d.message.UnmarshalCDR(&d.decoder)
	err := d.decoder.Finish()
	d.decoder.Reset(nothing) // the sample's memory is not ours to keep
	return err
}

// nothing is a message without a body.
var nothing = []byte{0, 1, 0, 0}

func (d *typed[T]) run() {
	if !d.sub.closed.Load() {
		d.callback(d.m, d.info)
	}
	d.sub.recycle(d)
}

type rawParcel struct {
	parcel
	data     []byte
	callback func([]byte, Info)
}

func (d *rawParcel) load(s *dds.Sample) error {
	d.note(s)
	d.data = append(d.data[:0], s.Data...)
	return nil
}

func (d *rawParcel) run() {
	if !d.sub.closed.Load() {
		d.callback(d.data, d.info)
	}
	d.sub.recycle(d)
}

// take decodes the next message that can be decoded.
func (s *RawSubscription) take() job {
	for {
		s.taken, s.bad = s.blank(), nil
		n, err := s.subscription.Take(1, s.onSample)
		switch {
		case err != nil || n == 0:
			s.recycle(s.taken)
			if err != nil && !errors.Is(err, rmw.ErrClosed) {
				s.complaint.log(&s.n.log, "topic '%s': taking a message: %v", s.topic, err)
			}
			return nil
		case s.bad == nil:
			return s.taken
		}
		s.recycle(s.taken)
		count := s.malformed.Add(1)
		s.complaint.log(&s.n.log, "topic '%s': message from %s dropped: %v (%d so far)", s.topic, s.publisher(s.from),
			s.bad, count)
	}
}

func (s *RawSubscription) receive(sample *dds.Sample) {
	s.from = sample.Writer
	s.bad = s.taken.load(sample)
}

// publisher names who sent a message, by node where the graph knows it.
func (s *RawSubscription) publisher(id rmw.GID) string {
	for _, e := range s.n.context.middleware.Graph().Publishers(s.topic) {
		if e.GID == id {
			return "publisher " + id.String() + " of node " + join(e.Node)
		}
	}
	return "publisher " + id.String()
}

// fill queues what there is. As everywhere in ROS, what is beyond the depth
// gives way to what is newer.
func (s *RawSubscription) fill() {
	for {
		j := s.take()
		if j == nil {
			return
		}
		s.mu.Lock()
		dropped := s.depth > 0 && s.waiting.len() >= s.depth
		if dropped {
			old, _ := s.waiting.pop()
			s.free = append(s.free, old)
			s.overrun.Add(1)
		}
		s.waiting.push(j.(delivery))
		s.mu.Unlock()
		if !dropped { // else the job of the one that gave way serves the new one
			s.group.push(s)
		}
	}
}

// run brings the oldest waiting message to the callback.
func (s *RawSubscription) run() {
	s.mu.Lock()
	d, ok := s.waiting.pop()
	s.mu.Unlock()
	if ok {
		d.run()
	}
}

func (s *RawSubscription) blank() delivery {
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
