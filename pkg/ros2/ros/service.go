package ros

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"vnd/pkg/ros2/cdr"
	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/rmw"
)

// Service answers requests.
type Service[Req, Resp any] struct {
	n         *Node
	name      string
	typeName  string
	server    rmw.Server
	group     *Group
	handler   func(*Req, *Resp)
	request   func(*Req) cdr.Message
	response  func(*Resp) cdr.Message
	onRequest func(rmw.RequestID, *dds.Sample)
	closed    atomic.Bool
	malformed atomic.Uint64
	complaint throttle

	taken *call[Req, Resp] // of the holder of the executor's token
	bad   error

	mu     sync.Mutex // of the buffer
	buffer []byte
}

// NewService makes a service, whose name is expanded and remapped. The handler
// fills in the response, a zero value at first, which is sent when it returns.
// What cannot be decoded is counted, told to the log and dropped.
func NewService[Req, Resp any, P Message[Req], R Message[Resp]](h Host, name string, handler func(*Req, *Resp),
	options ...Option) (*Service[Req, Resp], error) {
	n := h.node()
	o := n.settle(options)
	s := &Service[Req, Resp]{n: n, group: o.group, handler: handler,
		request:  func(m *Req) cdr.Message { return P(m) },
		response: func(m *Resp) cdr.Message { return R(m) }}
	s.onRequest = s.receive
	t, err := n.serviceType(name, P(new(Req)).TypeName(), R(new(Resp)).TypeName())
	if err != nil {
		return nil, err
	}
	s.name, s.typeName = t.Name, t.Type
	err = n.make(s, func() error {
		s.server, err = n.middleware.NewServer(t, o.serviceQoS(), s)
		return err
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// serviceType resolves a service's name and names its type after its halves.
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
	return rmw.Service{Name: full, Type: base, RequestHash: typeHash(request), ResponseHash: typeHash(response)}, nil
}

// Name is the service's full name.
func (s *Service[Req, Resp]) Name() string { return s.name }

// Malformed counts the requests that could not be decoded.
func (s *Service[Req, Resp]) Malformed() uint64 { return s.malformed.Load() }

// Close ends the service.
func (s *Service[Req, Resp]) Close() error {
	s.closed.Store(true)
	s.n.disown(s)
	return s.server.Close()
}

// call is a request on its way to the handler.
type call[Req, Resp any] struct {
	service *Service[Req, Resp]
	id      rmw.RequestID
	request Req
}

func (c *call[Req, Resp]) run() {
	s := c.service
	if s.closed.Load() {
		return
	}
	var response Resp
	s.handler(&c.request, &response)
	if err := s.respond(c.id, &response); err != nil && !errors.Is(err, rmw.ErrClosed) {
		s.complaint.log(&s.n.log, "service '%s': answering: %v", s.name, err)
	}
}

func (s *Service[Req, Resp]) respond(id rmw.RequestID, response *Resp) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	data, err := cdr.Append(s.buffer[:0], cdr.LittleEndian, s.response(response))
	if err != nil {
		return err
	}
	s.buffer = data
	return s.server.Respond(id, data)
}

func (s *Service[Req, Resp]) take() job {
	for {
		s.taken, s.bad = &call[Req, Resp]{service: s}, nil
		n, err := s.server.Take(1, s.onRequest)
		switch {
		case err != nil || n == 0:
			if err != nil && !errors.Is(err, rmw.ErrClosed) {
				s.complaint.log(&s.n.log, "service '%s': taking a request: %v", s.name, err)
			}
			return nil
		case s.bad == nil:
			return s.taken
		}
		count := s.malformed.Add(1)
		s.complaint.log(&s.n.log, "service '%s': request dropped: %v (%d so far)", s.name, s.bad, count)
	}
}

func (s *Service[Req, Resp]) receive(id rmw.RequestID, sample *dds.Sample) {
	s.taken.id = id
	s.bad = cdr.Unmarshal(sample.Data, s.request(&s.taken.request))
}

func (s *Service[Req, Resp]) fill() {
	for j := s.take(); j != nil; j = s.take() {
		s.group.push(j)
	}
}

func (s *Service[Req, Resp]) news() {}

func (s *Service[Req, Resp]) rosType() string { return s.typeName }

// errorf is an error that names the node.
func (n *Node) errorf(format string, args ...any) error {
	return fmt.Errorf("node %s: "+format, append([]any{n.FullName()}, args...)...)
}
