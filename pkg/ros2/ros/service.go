package ros

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"vnd/msgs"
	"vnd/pkg/ros2/cdr"
	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/rmw"
)

// serviceEnd is the common part of services and clients.
type serviceEnd struct {
	n        *Node
	name     string
	typeName string
	group    *Group
	warnings throttle

	mu     sync.Mutex // guards buffer and what the end itself adds
	buffer []byte
}

// Name is the service's full name.
func (e *serviceEnd) Name() string { return e.name }

func (e *serviceEnd) rosType() string { return e.typeName }

func (e *serviceEnd) onEvent() {}

func (e *serviceEnd) errorf(err error) error { return fmt.Errorf("service %s: %w", e.name, err) }

// warn logs an error now and then, unless the end is closed.
func (e *serviceEnd) warn(doing string, err error) {
	if err != nil && !errors.Is(err, rmw.ErrClosed) {
		e.warnings.log(&e.n.log, "service '%s': %s: %v", e.name, doing, err)
	}
}

// encode writes a message into the buffer. The caller holds mu.
func (e *serviceEnd) encode(m cdr.Message) ([]byte, error) {
	data, err := cdr.Append(e.buffer[:0], cdr.LittleEndian, m)
	if err == nil {
		e.buffer = data
	}
	return data, err
}

// queueEach queues the jobs that take returns.
func (e *serviceEnd) queueEach(take func() job) {
	for j := take(); j != nil; j = take() {
		e.group.push(j)
	}
}

// open resolves the service's name, and opens the entity with QoS and group of the options.
func (e *serviceEnd) open(h Host, name, request, response string, options []Option, entity io.Closer,
	open func(rmw.Node, rmw.Service, QoS) error) error {
	n := h.node()
	o := n.applyOptions(options)
	t, err := n.serviceType(name, request, response)
	if err != nil {
		return err
	}
	e.n, e.group, e.name, e.typeName = n, o.group, t.Name, t.Type
	return n.newEntity(entity, func() error { return open(n.middleware, t, o.serviceQoS()) })
}

// Service answers requests.
type Service[Req, Resp any] struct {
	serviceEnd
	server    rmw.Server
	handler   func(*Req, func(*Resp))
	request   func(*Req) cdr.Message
	response  func(*Resp) cdr.Message
	onRequest func(rmw.RequestID, *dds.Sample)
	limits    RequestLimits
	refuse    func(*Resp, error) // nil: what is beyond the limits gets no answer
	waiting   atomic.Int32       // requests that were taken, and whose handler has not begun
	dropped   atomic.Uint64
	closed    atomic.Bool
	malformed atomic.Uint64

	// Of the holder of the executor's token.
	taken        *call[Req, Resp]
	malformedErr error
}

// NewService makes a service, whose name is expanded and remapped. The handler fills in
// the response, a zero value at first, which is sent when it returns. Malformed requests
// are counted, logged and dropped.
func NewService[Req, Resp any, P Message[Req], R Message[Resp]](h Host, name string, handler func(*Req, *Resp),
	options ...Option) (*Service[Req, Resp], error) {
	return NewDeferredService[Req, Resp, P, R](h, name, func(q *Req, answer func(*Resp)) {
		var response Resp
		handler(q, &response)
		answer(&response)
	}, options...)
}

// NewDeferredService is NewService with a handler that may answer later, once, from any
// goroutine. It may keep the request.
func NewDeferredService[Req, Resp any, P Message[Req], R Message[Resp]](h Host, name string,
	handler func(*Req, func(*Resp)), options ...Option) (*Service[Req, Resp], error) {
	s := &Service[Req, Resp]{handler: handler,
		request:  func(m *Req) cdr.Message { return P(m) },
		response: func(m *Resp) cdr.Message { return R(m) }}
	s.onRequest = s.receive
	s.limits, s.refuse = limitsOf[Resp](options)
	err := s.open(h, name, P(new(Req)).TypeName(), R(new(Resp)).TypeName(), options, s,
		func(n rmw.Node, t rmw.Service, q QoS) (err error) {
			s.server, err = n.NewServer(t, q, s)
			return err
		})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// serviceType resolves a service's name, and derives its type from request and response.
func (n *Node) serviceType(name, request, response string) (rmw.Service, error) {
	full, err := n.name.Service(name)
	if err != nil {
		return rmw.Service{}, n.errorf("service %q: %w", name, err)
	}
	base, ok := strings.CutSuffix(request, "_Request")
	if !ok || response != base+"_Response" {
		return rmw.Service{}, n.errorf("service %s: %s and %s, expected the request and the response of one type", full,
			request, response)
	}
	s, _ := msgs.LookupService(base)
	return rmw.Service{Name: full, Type: base, Hash: s.Hash, RequestHash: s.Request.Hash,
		ResponseHash: s.Response.Hash}, nil
}

// Malformed counts the malformed requests.
func (s *Service[Req, Resp]) Malformed() uint64 { return s.malformed.Load() }

// Close ends the service.
func (s *Service[Req, Resp]) Close() error {
	s.closed.Store(true)
	s.n.removeCloser(s)
	return s.server.Close()
}

// call is a job that calls the handler with a request.
type call[Req, Resp any] struct {
	service *Service[Req, Resp]
	id      rmw.RequestID
	request Req
	sent    int64     // ns since 1970, of the client's clock; 0: unknown
	taken   time.Time // from the middleware
	refused error     // beyond the limits
}

func (c *call[Req, Resp]) run() {
	s := c.service
	s.waiting.Add(-1)
	if s.closed.Load() {
		return
	}
	answer := func(response *Resp) { s.warn("answering", s.respond(c.id, response)) }
	if c.refused == nil {
		c.refused = s.limits.late(c.taken, c.sent)
	}
	switch {
	case c.refused == nil:
		s.handler(&c.request, answer)
	case s.refuse == nil:
		s.drop(c.refused)
	default:
		var response Resp
		s.refuse(&response, c.refused)
		answer(&response)
	}
}

func (s *Service[Req, Resp]) respond(id rmw.RequestID, response *Resp) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	data, err := s.encode(s.response(response))
	if err != nil {
		return err
	}
	return s.server.Respond(id, data)
}

func (s *Service[Req, Resp]) take() job {
	for {
		s.taken, s.malformedErr = &call[Req, Resp]{service: s, taken: time.Now()}, nil
		n, err := s.server.Take(1, s.onRequest)
		switch {
		case err != nil || n == 0:
			s.warn("taking a request", err)
			return nil
		case s.malformedErr == nil && int(s.waiting.Load()) >= s.limits.Waiting:
			s.drop(fmt.Errorf("%d wait already", s.limits.Waiting))
			continue
		case s.malformedErr == nil:
			s.waiting.Add(1)
			return s.taken
		}
		count := s.malformed.Add(1)
		s.warnings.log(&s.n.log, "service '%s': request dropped: %v (%d so far)", s.name, s.malformedErr, count)
	}
}

func (s *Service[Req, Resp]) receive(id rmw.RequestID, sample *dds.Sample) {
	s.taken.id, s.taken.sent = id, sample.Source
	if len(sample.Data) > s.limits.Bytes {
		s.taken.refused = fmt.Errorf("a request of %d bytes, expected at most %d", len(sample.Data), s.limits.Bytes)
		return
	}
	s.malformedErr = cdr.Unmarshal(sample.Data, s.request(&s.taken.request))
}

func (s *Service[Req, Resp]) queueAll() { s.queueEach(s.take) }

// errorf is an error that names the node.
func (n *Node) errorf(format string, args ...any) error {
	return fmt.Errorf("node %s: "+format, append([]any{n.FullName()}, args...)...)
}
