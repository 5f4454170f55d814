package controller

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros"
)

// epoch is when the process began, and monotonic the ns since then, of a clock that nobody sets.
var epoch = time.Now()

func monotonic() int64 { return int64(time.Since(epoch)) }

var errSecond = errors.New("another node's commands are heard, which were there before")

const (
	newcomer = time.Second            // a controller that sends for less than this is the later of two
	quiet    = time.Second            // without another's commands before a later one sends
	recently = 500 * time.Millisecond // a publisher heard within this time is alive
	graphAge = 50 * time.Millisecond  // how often the graph is looked at
)

// noteSending notes that a command goes out. A gap of a second, as of a process that stood still, begins anew: who
// commands meanwhile was there before.
func (f *ticker) noteSending() {
	now := monotonic()
	if f.sending.Load() == 0 || now-f.sentAt > int64(newcomer) {
		f.sending.Store(now)
	}
	f.sentAt = now
}

// rivals hears the commands of others on the topic of ours, while there are other publishers. The controller that began
// to send later falls silent. Publishers that are there and send nothing, such as one of a process that was killed, are
// no rivals.
type rivals struct {
	*Controller
	f        *ticker
	typeName string
	listener *ros.RawSubscription // nil while there is no other publisher
	received atomic.Int64         // when one of their commands came, ns of monotonic; 0: never
	after    time.Duration        // quiet, and a share by chance: of two that fell silent together one begins
}

// watchPublishers begins to look for others on the topic of commands.
func (c *Controller) watchPublishers(p *Params, f *ticker) error {
	_, typeName := p.CommandTopic()
	r := &rivals{Controller: c, f: f, typeName: typeName, after: quiet + rand.N(quiet)}
	if c.connectOwn != nil { // of a type that the lab alone knows
		return nil
	}
	f.rivals = r
	t, err := c.NewWallTimer(graphAge, r.look, ros.InGroup(c.Context().NewGroup(ros.Exclusive)))
	if err != nil {
		return err
	}
	c.keep(t)
	return nil
}

// look listens while there are others, and has commands go out again when they have ended.
func (r *rivals) look() {
	topic := r.f.sender.topic()
	others := len(r.Context().Graph().Publishers(topic)) > 1
	if others && r.listener == nil {
		var err error
		q := rmw.QoS{Depth: 1, IgnoreLocal: true} // best effort: no writer waits for this reader
		if r.listener, err = ros.NewRawSubscription(r.Controller, topic, r.typeName, q, r.receive,
			ros.InGroup(r.Context().NewGroup(ros.Exclusive))); err != nil {
			r.Log().Error().Msg(err.Error())
			return
		}
		r.keep(r.listener)
	}
	if r.f.silent.Load() && monotonic()-r.received.Load() > int64(r.after) {
		r.f.silent.Store(false)
		r.Log().Warn().Msgf("topic %s: no other commands any more: ours go out again", topic)
	}
}

// receive takes a command of another publisher.
func (r *rivals) receive([]byte, ros.Info) {
	now := monotonic()
	r.received.Store(now)
	since := r.f.sending.Load()
	if since != 0 && now-since >= int64(newcomer) || r.f.silent.Swap(true) {
		return
	}
	r.f.sending.Store(0)
	r.Log().Error().Msgf("no command goes out: %v: %s", errSecond, others(r.Node, r.f.sender.topic()))
}

// alive reports whether another one commands the vehicle now.
func (r *rivals) alive() bool {
	at := r.received.Load()
	return at != 0 && monotonic()-at < int64(recently)
}

// awaitSolePublisher refuses to arm while another one publishes commands. One that is heard no more leaves the graph
// after its lease, which is waited for.
func (c *Controller) awaitSolePublisher(ctx context.Context) error {
	f := c.ticker()
	if f == nil || f.rivals == nil {
		return nil
	}
	topics := []string{f.sender.topic()}
	if s, ok := f.sender.(interface{ beside() string }); ok {
		topics = append(topics, s.beside())
	}
	for _, topic := range topics {
		for len(c.Context().Graph().Publishers(topic)) > 1 {
			if f.rivals.alive() || !wait(ctx) {
				return fmt.Errorf("not armed: %s", others(c.Node, topic))
			}
		}
	}
	return nil
}

// soleWriter knows the publisher of a topic whose samples count: the first one, as long as it is heard.
type soleWriter struct {
	trusted  rmw.GID
	at       int64 // when it was heard last, ns of monotonic
	reported rmw.GID
	within   time.Duration // without a sample of the first one before another one counts
}

// accept reports whether a sample is of the one publisher. A zero id, of a middleware that knows none, always is.
func (s *soleWriter) accept(from rmw.GID, now int64) bool {
	if from != s.trusted && s.trusted != (rmw.GID{}) && from != (rmw.GID{}) && now-s.at < int64(s.within) {
		return false
	}
	s.trusted, s.at = from, now
	return true
}

// secondSource has the guard trip, for a sample of a second publisher: nobody knows which of the two is right.
func (c *Controller) secondSource(f *ticker, s *soleWriter, from rmw.GID) {
	c.gauges.refused.Add(1)
	select {
	case f.orders <- func(x *ticker) {
		if x.active {
			x.loop.Guard().Trip()
		}
	}:
		f.signal()
	default: // the next sample asks again
	}
	if s.reported == from {
		return
	}
	s.reported = from
	c.Log().Error().Msgf("topic %s has two publishers, %s and %s: the guard takes over; samples of the second are "+
		"refused", c.source, c.publisherName(s.trusted), c.publisherName(from))
}

// publisherName is the node of a publisher of the state, with its id where that does not tell two apart.
func (c *Controller) publisherName(id rmw.GID) string {
	for _, e := range c.Context().Graph().Publishers(c.source) {
		if e.GID == id {
			return fmt.Sprintf("%s (%x)", fullName(e.Node), id[len(id)-4:])
		}
	}
	return fmt.Sprintf("one not discovered yet (%x)", id[len(id)-4:])
}
