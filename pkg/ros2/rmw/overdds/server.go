package overdds

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/rmw"
)

// A response waits at most matchTimeout until its client's reader is matched. That is
// looked up every matchPoll. In rmw_send_response they are 100 ms and 10 ms, because it
// blocks its caller. Here nobody is blocked, and discovery on a busy machine takes
// longer than that.
const (
	matchTimeout = 3 * time.Second
	matchPoll    = 2 * time.Millisecond
)

// server is a service server. A request may arrive before discovery has matched the
// client's reader of responses. The response then waits in a queue; Respond does not
// block.
type server struct {
	serviceEnd
	matchTimeout time.Duration

	writeMu  sync.Mutex // guards response, and is held while it is sent
	response []byte

	mu      sync.Mutex                     // guards what follows; never held while blocking
	clients map[rmw.RequestID]remoteClient // without their numbers
	queue   []queuedResponse
	sending bool // sendQueue is running
	closed  bool
	done    chan struct{} // closed with the server
	senders sync.WaitGroup
}

// remoteClient is a client that sent a request.
type remoteClient struct {
	writer  rmw.GID
	matched bool // its reader of responses has been matched
}

// queuedResponse is a response whose client's reader is not matched yet.
type queuedResponse struct {
	id       rmw.RequestID
	response []byte
	until    time.Time
}

// Bounds on the memory that clients which come and go can take.
const (
	maxClients = 256
	maxQueued  = 256
)

func (n *node) NewServer(s rmw.Service, q rmw.QoS, owner any) (rmw.Server, error) {
	end, err := n.newServiceEnd(s, q, owner, serverKey, responseType)
	v := &server{serviceEnd: end, matchTimeout: matchTimeout, clients: map[rmw.RequestID]remoteClient{},
		done: make(chan struct{})}
	if err == nil {
		v.inbox = newInbox(&v.serviceEnd, asked, v.remember)
		err = n.add(v)
	}
	if err != nil {
		return nil, fmt.Errorf("server of service %s: %w", s.Name, err)
	}
	return v, nil
}

func (s *server) Close() error { return s.node.remove(s) }

// closeEndpoints drops the responses that are still queued.
func (s *server) closeEndpoints() error {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.done)
	}
	s.mu.Unlock()
	err := s.serviceEnd.closeEndpoints()
	s.senders.Wait()
	return err
}

func (s *server) Take(max int, f func(rmw.RequestID, *dds.Sample)) (int, error) {
	return s.inbox.take(max, f)
}

// asked is the identity of a request: the client's reader where it says so, else its writer.
func asked(request *dds.Sample) rmw.RequestID {
	client := request.Related.Writer
	if client == (rmw.GID{}) {
		client = request.Writer
	}
	return rmw.RequestID{Endpoint: client, Sequence: request.Sequence}
}

// remember notes which writer a request's client belongs to. It accepts every
// request.
func (s *server) remember(id rmw.RequestID, writer rmw.GID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	id.Sequence = 0
	if c, known := s.clients[id]; known && c.writer == writer || writer == (rmw.GID{}) {
		return true
	}
	if len(s.clients) >= maxClients {
		// Clients that are still there are added again with their next request.
		clear(s.clients)
	}
	const readerKind = 4 // a bit of every reader's GUID (RTPS 2.3, 9.3.1.2), and of no writer's
	named := id.Endpoint != (rmw.GID{})
	s.clients[id] = remoteClient{writer: writer, matched: named && id.Endpoint[15]&readerKind == 0}
	return true
}

// canReceive says whether the client's reader of responses has been matched. Where the
// request does not name it, it carries the same clientid as the client's writer. Clients
// without a clientid count as matched, as in rmw_cyclonedds_cpp. The caller holds mu.
func (s *server) canReceive(id rmw.RequestID) bool {
	id.Sequence = 0
	c, known := s.clients[id]
	if !known || c.matched {
		return true
	}
	if id.Endpoint != (rmw.GID{}) {
		s.writer.Matched(func(reader rmw.GID) { c.matched = c.matched || reader == id.Endpoint })
		s.clients[id] = c
		return c.matched
	}
	graph := s.node.context.graph
	graph.sync()
	pair, present := graph.clientOf(dds.WriterKind, c.writer)
	if present && pair == "" {
		c.matched = true
	}
	s.writer.Matched(func(reader rmw.GID) {
		if other, _ := graph.clientOf(dds.ReaderKind, reader); present && other == pair {
			c.matched = true
		}
	})
	s.clients[id] = c
	return c.matched
}

func (s *server) Respond(id rmw.RequestID, response []byte) error {
	if order(response) == nil {
		return s.notCDR(response)
	}
	if queued, err := s.enqueue(id, response); queued || err != nil {
		return err
	}
	s.writeMu.Lock()
	defer s.writeMu.Unlock()
	if err := s.send(id, response); err != nil {
		return fmt.Errorf("service %s: %w", s.service, err)
	}
	return nil
}

// send sends a response in the mapping of its request; the caller holds writeMu.
func (s *server) send(id rmw.RequestID, response []byte) error {
	w, ok := s.writer.(dds.RelatedWriter)
	if id.Endpoint == (rmw.GID{}) || !ok {
		s.response, _ = wrap(s.response[:0], id, response)
		return s.writer.Write(s.response, 0)
	}
	_, err := w.WriteRelated(response, dds.Identity{Writer: id.Endpoint, Sequence: id.Sequence})
	return err
}

// enqueue puts a response into the queue if its client cannot receive it yet.
func (s *server) enqueue(id rmw.RequestID, response []byte) (queued bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false, fmt.Errorf("service %s: %w", s.service, rmw.ErrClosed)
	}
	if len(s.queue) >= maxQueued || s.canReceive(id) {
		return false, nil
	}
	s.queue = append(s.queue, queuedResponse{id, slices.Clone(response), time.Now().Add(s.matchTimeout)})
	if !s.sending {
		s.sending = true
		s.senders.Go(s.sendQueue)
	}
	return true, nil
}

// sendQueue sends queued responses as soon as their client can receive them or their
// time is over. It ends with an empty queue.
func (s *server) sendQueue() {
	tick := time.NewTicker(matchPoll)
	defer tick.Stop()
	for {
		select {
		case <-s.done:
			return
		case <-tick.C:
		}
		due, left := s.due(time.Now())
		for _, r := range due {
			s.writeMu.Lock()
			_ = s.send(r.id, r.response) // a client that does not keep up gets no response
			s.writeMu.Unlock()
		}
		if !left {
			return
		}
	}
}

// due takes the responses that need not wait any longer out of the queue.
func (s *server) due(now time.Time) (due []queuedResponse, left bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = slices.DeleteFunc(s.queue, func(r queuedResponse) bool {
		over := s.canReceive(r.id) || !now.Before(r.until)
		if over {
			due = append(due, r)
		}
		return over
	})
	s.sending = len(s.queue) > 0
	return due, s.sending
}
