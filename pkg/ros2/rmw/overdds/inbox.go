package overdds

import (
	"errors"
	"fmt"
	"sync"

	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/rmw"
)

// inbox takes requests or responses out of a reader, with their identity.
type inbox struct {
	reader dds.Reader
	// identify finds a sample's identity and puts its message into c.sample. false: it is
	// malformed or of another mapping.
	identify func(c *takeCall, s *dds.Sample) (rmw.RequestID, bool)
	accept   func(rmw.RequestID, rmw.GID) bool // by header and writer
	foreign  func(rmw.GID) string              // vendor of a writer in another mapping
	calls    sync.Pool                         // of *takeCall
	name     string                            // of the service
}

// takeCall is the state of one call of take. Calls may nest and run side by side.
type takeCall struct {
	inbox    *inbox
	onSample func(*dds.Sample) // the method, bound once
	f        func(rmw.RequestID, *dds.Sample)
	numbered func(int64, *dds.Sample)         // of a client
	onNumber func(rmw.RequestID, *dds.Sample) // calls numbered; the method, bound once
	taken    int
	foreign  string // vendor of a sample in another mapping
	sample   dds.Sample
	message  []byte
}

// newInbox takes what accept accepts. identity is that of samples beside which it stands.
func newInbox(e *serviceEnd, identity func(*dds.Sample) rmw.RequestID,
	accept func(rmw.RequestID, rmw.GID) bool) *inbox {
	b := &inbox{reader: e.reader, accept: accept, name: e.service, identify: (*takeCall).ofHeader}
	b.foreign = rmw.OtherMapping
	if e.node != nil {
		b.foreign = e.node.context.graph.foreignWriter
	}
	if e.related() {
		b.identify = func(c *takeCall, s *dds.Sample) (rmw.RequestID, bool) {
			if rmw.OfCyclone(s.Writer) {
				return c.unwrap(s)
			}
			c.sample = *s
			return identity(s), order(s.Data) != nil
		}
	}
	b.calls.New = func() any {
		c := &takeCall{inbox: b}
		c.onSample, c.onNumber = c.take, c.number
		return c
	}
	return b
}

// take calls f with up to max messages. Malformed samples and those that are not accepted
// do not count. The error is of a sample by another vendor, which ends the call.
func (b *inbox) take(max int, f func(rmw.RequestID, *dds.Sample)) (int, error) {
	c := b.calls.Get().(*takeCall)
	defer b.calls.Put(c)
	return c.run(max, f)
}

// takeNumbered is take for a client, who needs the number alone.
func (b *inbox) takeNumbered(max int, f func(int64, *dds.Sample)) (int, error) {
	c := b.calls.Get().(*takeCall)
	defer b.calls.Put(c)
	c.numbered = f
	defer func() { c.numbered = nil }()
	return c.run(max, c.onNumber)
}

func (c *takeCall) number(id rmw.RequestID, s *dds.Sample) { c.numbered(id.Sequence, s) }

func (c *takeCall) run(max int, f func(rmw.RequestID, *dds.Sample)) (int, error) {
	c.f, c.taken, c.foreign = f, 0, ""
	defer func() { c.f = nil }()
	for c.taken < max {
		ask := max - c.taken
		if n, err := c.inbox.reader.Take(ask, c.onSample); err != nil || n < ask {
			return c.taken, errors.Join(err, c.otherMapping())
		}
		if c.foreign != "" {
			break
		}
	}
	return c.taken, c.otherMapping()
}

func (c *takeCall) otherMapping() error {
	if c.foreign == "" {
		return nil
	}
	return fmt.Errorf("service %s: dropped a message of %s, whose services have another mapping on the wire: "+
		"export RMW_IMPLEMENTATION=%s there, or %s here", c.inbox.name, c.foreign, rmw.Cyclone, rmw.FastDDS)
}

func (c *takeCall) take(s *dds.Sample) {
	id, ok := c.inbox.identify(c, s)
	if !ok || !c.inbox.accept(id, s.Writer) {
		return
	}
	c.taken++
	c.f(id, &c.sample)
}

// ofHeader is the identity in a sample's header, of which another vendor's samples have none.
func (c *takeCall) ofHeader(s *dds.Sample) (id rmw.RequestID, ok bool) {
	if v := c.inbox.foreign(s.Writer); v != "" {
		c.foreign = v
		return id, false
	}
	return c.unwrap(s)
}

// unwrap cuts the header off.
func (c *takeCall) unwrap(s *dds.Sample) (id rmw.RequestID, ok bool) {
	id, c.message, ok = unwrap(c.message, s.Data)
	c.sample = *s
	c.sample.Data = c.message
	return id, ok
}
