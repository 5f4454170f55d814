package overdds

import (
	"errors"
	"fmt"
	"sync"

	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/rmw"
)

// inbox takes requests or responses out of a reader and removes their header.
type inbox struct {
	reader dds.Reader
	accept func(rmw.RequestID, rmw.GID) bool // by header and writer
	calls  sync.Pool                         // of *takeCall
	name   string                            // of the service
}

// takeCall is the state of one call of take. Calls may nest and run side by side.
type takeCall struct {
	inbox    *inbox
	onSample func(*dds.Sample) // the method, bound once
	f        func(rmw.RequestID, *dds.Sample)
	taken    int
	foreign  string // vendor of a sample in another mapping
	sample   dds.Sample
	message  []byte
}

func newInbox(e *serviceEnd, accept func(rmw.RequestID, rmw.GID) bool) *inbox {
	b := &inbox{reader: e.reader, accept: accept, name: e.service}
	b.calls.New = func() any {
		c := &takeCall{inbox: b}
		c.onSample = c.take
		return c
	}
	return b
}

// take calls f with up to max messages without their header. Malformed samples and
// those that are not accepted do not count. The error is of a sample by another vendor,
// which ends the call.
func (b *inbox) take(max int, f func(rmw.RequestID, *dds.Sample)) (int, error) {
	c := b.calls.Get().(*takeCall)
	defer b.calls.Put(c)
	c.f, c.taken, c.foreign = f, 0, ""
	defer func() { c.f = nil }()
	for c.taken < max {
		ask := max - c.taken
		if n, err := b.reader.Take(ask, c.onSample); err != nil || n < ask {
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
		"export RMW_IMPLEMENTATION=rmw_cyclonedds_cpp there", c.inbox.name, c.foreign)
}

func (c *takeCall) take(s *dds.Sample) {
	if v := rmw.OtherMapping(s.Writer); v != "" {
		c.foreign = v
		return
	}
	id, message, ok := unwrap(c.message, s.Data)
	c.message = message
	if !ok || !c.inbox.accept(id, s.Writer) {
		return
	}
	c.taken++
	c.sample = *s
	c.sample.Data = message
	c.f(id, &c.sample)
}
