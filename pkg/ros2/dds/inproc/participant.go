package inproc

import (
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"vnd/pkg/ros2/dds"
)

// participant implements dds.Participant. The domain's mutex guards its fields.
type participant struct {
	domain   *Domain
	guid     dds.GUID
	userData []byte
	news     chan struct{} // full when Wait is to look again

	made      uint32 // endpoints ever
	endpoints []*endpoint
	changes   []dds.Change
	changed   bool // Wait has not reported changes yet
	woken     bool
	closed    bool
}

// entity is a writer or a reader.
type entity interface {
	// hasData reports whether there are samples to take.
	hasData(now int64) bool
	// closing removes the entity from its topic; the domain is locked.
	closing()
}

func (p *participant) GUID() dds.GUID { return p.guid }

func (p *participant) change(alive bool) dds.Change {
	c := dds.Change{Kind: dds.ParticipantKind, Alive: alive, GUID: p.guid, Participant: p.guid}
	if alive {
		c.UserData = slices.Clone(p.userData)
	}
	return c
}

// learn adds a change of the graph. An entity that disappears before Changes has
// reported it is dropped, so that the list has at most one change per entity.
func (p *participant) learn(c dds.Change) {
	if !c.Alive {
		came := slices.IndexFunc(p.changes, func(x dds.Change) bool { return x.GUID == c.GUID && x.Alive })
		if came >= 0 {
			p.changes = slices.Delete(p.changes, came, came+1)
			return
		}
	}
	p.changes = append(p.changes, c)
	p.changed = true
	p.signal()
}

// signal makes Wait look again.
func (p *participant) signal() {
	select {
	case p.news <- struct{}{}:
	default:
	}
}

func (p *participant) NewWriter(t dds.Topic, q dds.QoS, owner any) (dds.Writer, error) {
	if err := q.Check(t); err != nil {
		return nil, err
	}
	d := p.domain
	d.mu.Lock()
	defer d.mu.Unlock()
	w := &writer{space: make(chan struct{}, 1)}
	if err := p.add(&w.endpoint, dds.WriterKind, t, q, owner, w); err != nil {
		return nil, err
	}
	w.startLease()
	topic := d.topicOf(t)
	topic.writers = append(topic.writers, w)
	for _, r := range topic.readers {
		match(w, r)
	}
	return w, nil
}

func (p *participant) NewReader(t dds.Topic, q dds.QoS, owner any) (dds.Reader, error) {
	if err := q.Check(t); err != nil {
		return nil, err
	}
	d := p.domain
	d.mu.Lock()
	defer d.mu.Unlock()
	r := &reader{}
	if err := p.add(&r.endpoint, dds.ReaderKind, t, q, owner, r); err != nil {
		return nil, err
	}
	topic := d.topicOf(t)
	topic.readers = append(topic.readers, r)
	for _, w := range topic.writers {
		match(w, r)
	}
	return r, nil
}

// add makes e an endpoint of the participant and announces it.
func (p *participant) add(e *endpoint, k dds.Kind, t dds.Topic, q dds.QoS, owner any, self entity) error {
	if p.closed {
		return fmt.Errorf("topic %s: the participant: %w", t.Name, dds.ErrClosed)
	}
	p.made++
	q.UserData = slices.Clone(q.UserData)
	*e = endpoint{participant: p, self: self, kind: k, topic: t, qos: q, owner: owner, guid: p.guid}
	entityKind := uint32(0x03) // RTPS 2.3, 9.3.1.2: a writer without key
	if k == dds.ReaderKind {
		entityKind = 0x04
	}
	binary.BigEndian.PutUint32(e.guid[12:], p.made<<8|entityKind)
	p.endpoints = append(p.endpoints, e)
	p.domain.announce(e.change(true))
	return nil
}

// remove undoes add.
func (p *participant) remove(e *endpoint) {
	if e.closed {
		return
	}
	e.closed = true
	p.endpoints = slices.DeleteFunc(p.endpoints, func(x *endpoint) bool { return x == e })
	e.deadline.stop()
	e.self.closing()
	if t := p.domain.topics[e.topic]; len(t.writers)+len(t.readers) == 0 {
		delete(p.domain.topics, e.topic)
	}
	p.domain.announce(e.change(false))
}

func (p *participant) Wait(timeout time.Duration, ready []dds.Ready) ([]dds.Ready, error) {
	var expired <-chan time.Time
	if timeout > 0 {
		timer := time.NewTimer(timeout)
		defer timer.Stop()
		expired = timer.C
	}
	before := len(ready)
	for {
		var woken bool
		var err error
		if ready, woken, err = p.collect(ready); err != nil || woken || len(ready) > before || timeout == 0 {
			return ready, err
		}
		select {
		case <-p.news:
		case <-expired:
			timeout = 0
		}
	}
}

// collect appends what is ready now.
func (p *participant) collect(ready []dds.Ready) (_ []dds.Ready, woken bool, _ error) {
	p.domain.mu.Lock()
	defer p.domain.mu.Unlock()
	if p.closed {
		p.signal() // for whoever waits next
		return ready, false, dds.ErrClosed
	}
	now := time.Now().UnixNano()
	for _, e := range p.endpoints {
		if data := e.self.hasData(now); data || e.event {
			ready = append(ready, dds.Ready{Owner: e.owner, Data: data, Event: e.event})
			e.event = false
		}
	}
	if p.changed {
		ready = append(ready, dds.Ready{Event: true})
		p.changed = false
	}
	woken, p.woken = p.woken, false
	return ready, woken, nil
}

func (p *participant) Wake() {
	p.domain.mu.Lock()
	defer p.domain.mu.Unlock()
	p.woken = true
	p.signal()
}

func (p *participant) Changes(f func(dds.Change)) error {
	p.domain.mu.Lock()
	changes, closed := p.changes, p.closed
	p.changes, p.changed = nil, false
	p.domain.mu.Unlock()
	if closed {
		return dds.ErrClosed
	}
	for _, c := range changes {
		f(c)
	}
	return nil
}

func (p *participant) Close() error {
	d := p.domain
	d.mu.Lock()
	defer d.mu.Unlock()
	if p.closed {
		return nil
	}
	for len(p.endpoints) > 0 {
		p.remove(p.endpoints[len(p.endpoints)-1])
	}
	p.closed = true
	p.changes = nil
	d.participants = slices.DeleteFunc(d.participants, func(x *participant) bool { return x == p })
	d.announce(p.change(false))
	p.signal()
	return nil
}
