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

	writeMu  sync.Mutex // guards response
	response []byte

	mu      sync.Mutex // guards what follows; never held while blocking
	clients map[uint64]remoteClient
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
	client   uint64
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
	v := &server{serviceEnd: end, matchTimeout: matchTimeout, clients: map[uint64]remoteClient{},
		done: make(chan struct{})}
	if err == nil {
		v.inbox = newInbox(&v.serviceEnd, v.remember)
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

// remember notes which writer a request's client handle belongs to. It accepts every
// request.
func (s *server) remember(id rmw.RequestID, writer rmw.GID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, known := s.clients[id.Client]; known && c.writer == writer || writer == (rmw.GID{}) {
		return true
	}
	if len(s.clients) >= maxClients {
		// Clients that are still there are added again with their next request.
		clear(s.clients)
	}
	s.clients[id.Client] = remoteClient{writer: writer}
	return true
}

// canReceive says whether the client's reader of responses has been matched. It
// carries the same clientid as the client's writer. Clients without a clientid count
// as matched, as in rmw_cyclonedds_cpp. The caller holds mu.
func (s *server) canReceive(client uint64) bool {
	c, known := s.clients[client]
	if !known || c.matched {
		return true
	}
	graph := s.node.context.graph
	graph.sync()
	id, present := graph.clientOf(dds.WriterKind, c.writer)
	if present && id == "" {
		c.matched = true
	}
	s.writer.Matched(func(reader rmw.GID) {
		if other, _ := graph.clientOf(dds.ReaderKind, reader); present && other == id {
			c.matched = true
		}
	})
	s.clients[client] = c
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
	s.response, _ = wrap(s.response[:0], id, response)
	if err := s.writer.Write(s.response, 0); err != nil {
		return fmt.Errorf("service %s: %w", s.service, err)
	}
	return nil
}

// enqueue puts a response into the queue if its client cannot receive it yet.
func (s *server) enqueue(id rmw.RequestID, response []byte) (queued bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false, fmt.Errorf("service %s: %w", s.service, rmw.ErrClosed)
	}
	if len(s.queue) >= maxQueued || s.canReceive(id.Client) {
		return false, nil
	}
	sample, _ := wrap(nil, id, response)
	s.queue = append(s.queue, queuedResponse{id.Client, sample, time.Now().Add(s.matchTimeout)})
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
		for _, sample := range due {
			_ = s.writer.Write(sample, 0) // a client that does not keep up gets no response
		}
		if !left {
			return
		}
	}
}

// due takes the responses that need not wait any longer out of the queue.
func (s *server) due(now time.Time) (due [][]byte, left bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = slices.DeleteFunc(s.queue, func(r queuedResponse) bool {
		over := s.canReceive(r.client) || !now.Before(r.until)
		if over {
			due = append(due, r.response)
		}
		return over
	})
	s.sending = len(s.queue) > 0
	return due, s.sending
}
