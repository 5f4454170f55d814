package overdds

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/rmw"
)

// A response waits at most grace until its client's reader is matched, and looks
// for it every look. rmw_send_response has 100 ms and 10 ms, for its caller waits;
// nobody waits here, and on a busy machine discovery takes longer than that.
const (
	grace = 3 * time.Second
	look  = 2 * time.Millisecond
)

// server answers requests. Discovery may let it hear a client before it can be
// heard by it: such responses wait in a queue, and the caller does not.
type server struct {
	node    *node
	service string
	grace   time.Duration
	writer  dds.Writer
	reader  dds.Reader
	inbox   *inbox

	writeMu  sync.Mutex // guards response
	response []byte

	mu       sync.Mutex // guards what follows; nobody blocks while holding it
	peers    map[uint64]peer
	waiting  []waiting
	watching bool // a goroutine looks after those
	closed   bool
	done     chan struct{} // closed with the server
	watchers sync.WaitGroup
}

// peer is a client that sent a request.
type peer struct {
	writer rmw.GID
	heard  bool // its reader has been matched
}

// waiting is a response whose client cannot hear it yet.
type waiting struct {
	client   uint64
	response []byte
	until    time.Time
}

// Bounds on what clients that come and go can use up.
const (
	maxPeers   = 256
	maxWaiting = 256
)

func (n *node) NewServer(s rmw.Service, q rmw.QoS, owner any) (rmw.Server, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	if owner == nil {
		return nil, fmt.Errorf("service %s: %w", s.Name, rmw.ErrNoOwner)
	}
	v := &server{node: n, service: s.Name, grace: grace, peers: map[uint64]peer{}, done: make(chan struct{})}
	request, reply := mangleService(s.Name)
	var err error
	v.writer, v.reader, err = n.pair(serverKey, owner, q,
		half{dds.Topic{Name: reply, Type: mangleType(s.Type, responseType)}, s.ResponseHash},
		half{dds.Topic{Name: request, Type: mangleType(s.Type, requestType)}, s.RequestHash})
	if err == nil {
		v.inbox = newInbox(v.reader, v.meet)
		err = n.add(v)
	}
	if err != nil {
		return nil, fmt.Errorf("server of service %s: %w", s.Name, err)
	}
	return v, nil
}

func (s *server) gids() (reader, writer rmw.GID) { return s.reader.GUID(), s.writer.GUID() }

func (s *server) Close() error { return s.node.remove(s) }

// shut lets waiting responses go, unheard.
func (s *server) shut() error {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.done)
	}
	s.mu.Unlock()
	err := closeBoth(s.writer, s.reader)
	s.watchers.Wait()
	return err
}

func closeBoth(a, b io.Closer) error { return errors.Join(a.Close(), b.Close()) }

func (s *server) Take(max int, f func(rmw.RequestID, *dds.Sample)) (int, error) {
	return s.inbox.take(max, f)
}

// meet remembers whose requests a handle stands in. All are welcome.
func (s *server) meet(id rmw.RequestID, writer rmw.GID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p, known := s.peers[id.Client]; known && p.writer == writer || writer == (rmw.GID{}) {
		return true
	}
	if len(s.peers) >= maxPeers {
		// Those that stay are met again with their next request.
		clear(s.peers)
	}
	s.peers[id.Client] = peer{writer: writer}
	return true
}

// hears says whether a client can hear responses: its reader, which carries the
// same clientid as its writer, has been matched. Clients without one are taken
// at their word, as rmw_cyclonedds_cpp does. The caller holds mu.
func (s *server) hears(client uint64) bool {
	p, known := s.peers[client]
	if !known || p.heard {
		return true
	}
	graph := s.node.context.graph
	graph.sync()
	id, present := graph.clientOf(dds.WriterKind, p.writer)
	if present && id == "" {
		p.heard = true
	}
	var readers []rmw.GID
	s.writer.Matched(func(g rmw.GID) { readers = append(readers, g) })
	for _, g := range readers {
		if other, _ := graph.clientOf(dds.ReaderKind, g); present && other == id {
			p.heard = true
		}
	}
	s.peers[client] = p
	return p.heard
}

func (s *server) Respond(id rmw.RequestID, response []byte) error {
	if order(response) == nil {
		return notCDR(s.service, response)
	}
	if waits, err := s.enqueue(id, response); waits || err != nil {
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

// enqueue puts a response into the queue if it is to wait.
func (s *server) enqueue(id rmw.RequestID, response []byte) (waits bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false, fmt.Errorf("service %s: %w", s.service, rmw.ErrClosed)
	}
	if len(s.waiting) >= maxWaiting || s.hears(id.Client) {
		return false, nil
	}
	sample, _ := wrap(nil, id, response)
	s.waiting = append(s.waiting, waiting{id.Client, sample, time.Now().Add(s.grace)})
	if !s.watching {
		s.watching = true
		s.watchers.Add(1)
		go s.watch()
	}
	return true, nil
}

// watch sends the responses that wait, as soon as they would be heard or their
// time is over, and ends when there are none left.
func (s *server) watch() {
	defer s.watchers.Done()
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		select {
		case <-s.done:
			return
		case <-tick.C:
		}
		if !s.sendWaiting() {
			return
		}
	}
}

// sendWaiting says whether any response still waits.
func (s *server) sendWaiting() bool {
	due, left := s.due(time.Now())
	for _, sample := range due {
		_ = s.writer.Write(sample, 0) // a client that does not keep up gets no answer
	}
	return left
}

// due takes what need not wait any longer out of the queue.
func (s *server) due(now time.Time) (due [][]byte, left bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = slices.DeleteFunc(s.waiting, func(w waiting) bool {
		over := s.hears(w.client) || !now.Before(w.until)
		if over {
			due = append(due, w.response)
		}
		return over
	})
	s.watching = len(s.waiting) > 0
	return due, s.watching
}
