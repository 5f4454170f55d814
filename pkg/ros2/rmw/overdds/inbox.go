package overdds

import (
	"sync"

	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/rmw"
)

// inbox takes requests or responses out of a reader and removes their header.
type inbox struct {
	reader dds.Reader
	accept func(rmw.RequestID, rmw.GID) bool // by header and writer
	calls  sync.Pool                         // of *takeCall
}

// takeCall is the state of one call of take. Calls may nest and run side by side.
type takeCall struct {
	inbox    *inbox
	onSample func(*dds.Sample) // the method, bound once
	f        func(rmw.RequestID, *dds.Sample)
	taken    int
	sample   dds.Sample
	message  []byte
}

func newInbox(r dds.Reader, accept func(rmw.RequestID, rmw.GID) bool) *inbox {
	b := &inbox{reader: r, accept: accept}
	b.calls.New = func() any {
		c := &takeCall{inbox: b}
		c.onSample = c.take
		return c
	}
	return b
}

// take calls f with up to max messages without their header. Malformed samples and
// those that are not accepted do not count.
func (b *inbox) take(max int, f func(rmw.RequestID, *dds.Sample)) (int, error) {
	c := b.calls.Get().(*takeCall)
	defer b.calls.Put(c)
	c.f, c.taken = f, 0
	defer func() { c.f = nil }()
	for c.taken < max {
		ask := max - c.taken
		if n, err := b.reader.Take(ask, c.onSample); err != nil || n < ask {
			return c.taken, err
		}
	}
	return c.taken, nil
}

func (c *takeCall) take(s *dds.Sample) {
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
