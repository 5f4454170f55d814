// Package foxglove shows the graph to Foxglove over its WebSocket protocol: each topic as it is, its type as a schema,
// and each service, where a client may act.
package foxglove

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/coder/websocket"

	"vnd/msgs"
)

// Bus is the graph. Its methods are called by any goroutine.
type Bus interface {
	Topics() map[string]string   // the type of each; the map is the caller's
	Services() map[string]string // the same
	// Subscribe hands each message to take, as CDR that is valid during the call, with its time in ns.
	Subscribe(topic, typeName string, take func(data []byte, at int64)) (io.Closer, error)
	// Call calls a service by a request in CDR.
	Call(ctx context.Context, service, typeName string, request []byte) (response []byte, err error)
}

const (
	often       = time.Second     // between two looks at the graph
	patience    = 5 * time.Second // for a client to take a message
	longestAsk  = 1 << 20         // bytes of a client's message
	mostCalls   = 4               // at once
	mostStreams = 200             // subscriptions of one client
)

// session is one client.
type session struct {
	bus  Bus
	acts bool // it may call services
	out  *queue

	mu       sync.Mutex
	next     uint32
	channels map[uint32]channel
	services map[uint32]service
	streams  map[uint32]stream // by the client's number
	closed   bool              // nothing is subscribed to any more
	calls    chan struct{}
}

// stream is a subscription.
type stream struct {
	io.Closer
	channel uint32
}

func newSession(bus Bus, acts bool) *session {
	return &session{bus: bus, acts: acts, out: newQueue(), channels: map[uint32]channel{},
		services: map[uint32]service{}, streams: map[uint32]stream{}, calls: make(chan struct{}, mostCalls)}
}

// Serve serves one client until ctx is done or it leaves. robot is what it is shown to be; acts says whether it may
// call services.
func Serve(ctx context.Context, c *websocket.Conn, robot string, bus Bus, acts bool) error {
	c.SetReadLimit(longestAsk)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := newSession(bus, acts)
	defer s.close()
	info := serverInfo{Op: "serverInfo", Name: robot, Capabilities: []string{},
		Session: strconv.FormatInt(time.Now().UnixNano(), 10)}
	if acts {
		info.Capabilities, info.Encodings = []string{"services"}, []string{encoding}
	}
	s.json(info)
	go func() {
		defer cancel()
		s.listen(ctx, c)
	}()
	t := time.NewTicker(often)
	defer t.Stop()
	for {
		s.look()
		if err := s.send(ctx, c, t.C); err != nil {
			return err
		}
	}
}

// send writes what waits, until the next look at the graph is due, be there more or not.
func (s *session) send(ctx context.Context, c *websocket.Conn, due <-chan time.Time) error {
	for {
		select {
		case <-due:
			return nil
		default:
		}
		if s.out.lags() {
			return errLags
		}
		if f, ok := s.out.take(); ok {
			if err := write(ctx, c, f); err != nil {
				return err
			}
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-due:
			return nil
		case <-s.out.ready:
		}
	}
}

var errLags = errors.New("the client does not take what it asked for")

func write(ctx context.Context, c *websocket.Conn, f frame) error {
	kind := websocket.MessageText
	if f.binary {
		kind = websocket.MessageBinary
	}
	within, stop := context.WithTimeout(ctx, patience)
	defer stop()
	return c.Write(within, kind, f.data)
}

func (s *session) json(m any) { s.put(m, false) }

func (s *session) put(m any, droppable bool) {
	if data, err := json.Marshal(m); err == nil {
		s.out.put(frame{data: data}, droppable)
	}
}

func (s *session) say(level int, id, format string, a ...any) {
	s.put(status{"status", level, fmt.Sprintf(format, a...), id}, true)
}

// look tells the client what has come into the graph and what has left it, and what it was not sent.
func (s *session) look() {
	if n := s.out.lost(); n > 0 { // this goes out in any case
		s.json(status{"status", warning, fmt.Sprintf("%d messages were dropped: this connection does not keep up", n),
			"dropped"})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lookAtTopics(s.bus.Topics())
	if s.acts {
		s.lookAtServices(s.bus.Services())
	}
}

func (s *session) lookAtTopics(there map[string]string) {
	var gone []uint32
	for id, c := range s.channels {
		if there[c.Topic] == c.SchemaName {
			delete(there, c.Topic)
			continue
		}
		gone = append(gone, id)
		delete(s.channels, id)
		for k, x := range s.streams {
			if x.channel == id {
				s.end(k)
			}
		}
	}
	if len(gone) > 0 {
		s.json(unadvertise{"unadvertise", gone})
	}
	var come []channel
	for _, topic := range slices.Sorted(maps.Keys(there)) {
		if t, ok := msgs.Lookup(there[topic]); ok {
			s.next++
			s.channels[s.next] = channel{s.next, topic, schemaOf(t)}
			come = append(come, s.channels[s.next])
		}
	}
	if len(come) > 0 {
		s.json(advertise{"advertise", come})
	}
}

func (s *session) lookAtServices(there map[string]string) {
	var gone []uint32
	for id, x := range s.services {
		if there[x.Name] == x.Type {
			delete(there, x.Name)
			continue
		}
		gone = append(gone, id)
		delete(s.services, id)
	}
	if len(gone) > 0 {
		s.json(unadvertiseServices{"unadvertiseServices", gone})
	}
	var come []service
	for _, name := range slices.Sorted(maps.Keys(there)) {
		if t, ok := msgs.LookupService(there[name]); ok {
			s.next++
			s.services[s.next] = service{s.next, name, t.Name, schemaOf(t.Request), schemaOf(t.Response)}
			come = append(come, s.services[s.next])
		}
	}
	if len(come) > 0 {
		s.json(advertiseServices{"advertiseServices", come})
	}
}

// listen does what the client asks for.
func (s *session) listen(ctx context.Context, c *websocket.Conn) {
	for {
		kind, data, err := c.Read(ctx)
		switch {
		case err != nil:
			return
		case kind == websocket.MessageBinary:
			s.asked(ctx, data)
			continue
		}
		var r request
		if err := json.Unmarshal(data, &r); err != nil {
			s.say(failure, "", "a message is no JSON: %v", err)
			continue
		}
		switch r.Op {
		case "subscribe":
			for _, x := range r.Subscriptions {
				if err := s.subscribe(x.ID, x.Channel); err != nil {
					s.say(failure, "", "channel %d: %v", x.Channel, err)
				}
			}
		case "unsubscribe":
			s.unsubscribe(r.Ended)
		default: // advertise is for publishing
			s.say(failure, "", "%.40q is refused: this shows topics and calls services, and publishes nothing", r.Op)
		}
	}
}

func (s *session) subscribe(id, channelID uint32) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.channels[channelID]
	_, taken := s.streams[id]
	switch {
	case s.closed:
		return errors.New("the session is over")
	case !ok:
		return errors.New("there is none")
	case taken:
		return fmt.Errorf("subscription %d is there already", id)
	case s.subscribed(channelID):
		return errors.New("it is subscribed to already")
	case len(s.streams) >= mostStreams:
		return fmt.Errorf("%d subscriptions are there already", mostStreams)
	}
	closer, err := s.bus.Subscribe(c.Topic, c.SchemaName, func(data []byte, at int64) {
		s.out.put(frame{binary: true, data: messageFrame(id, at, data)}, true)
	})
	if err == nil {
		s.streams[id] = stream{closer, channelID}
	}
	return err
}

func (s *session) subscribed(channelID uint32) bool {
	for _, x := range s.streams {
		if x.channel == channelID {
			return true
		}
	}
	return false
}

func (s *session) unsubscribe(all []uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range all {
		s.end(id)
	}
}

// end ends a subscription, if it is there; mu is held.
func (s *session) end(id uint32) {
	if x, ok := s.streams[id]; ok {
		_ = x.Close()
		delete(s.streams, id)
	}
}

// asked calls a service, beside others.
func (s *session) asked(ctx context.Context, data []byte) {
	c, err := readCall(data)
	if err != nil {
		s.say(failure, "", "%v", err)
		return
	}
	s.mu.Lock()
	x, ok := s.services[c.service]
	s.mu.Unlock()
	fail := func(why string) { s.json(callFailure{"serviceCallFailure", c.service, c.call, why}) }
	if !ok {
		fail(fmt.Sprintf("there is no service %d, or no right to call it", c.service))
		return
	}
	select {
	case s.calls <- struct{}{}:
	default:
		fail(fmt.Sprintf("%d calls are under way already", mostCalls))
		return
	}
	go func() {
		defer func() { <-s.calls }()
		answer, err := s.bus.Call(ctx, x.Name, x.Type, c.data)
		if err != nil {
			fail(err.Error())
			return
		}
		c.data = answer
		s.out.put(frame{binary: true, data: c.response()}, false)
	}()
}

// close ends all subscriptions, also those that a client still asks for.
func (s *session) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for id := range s.streams {
		s.end(id)
	}
}
