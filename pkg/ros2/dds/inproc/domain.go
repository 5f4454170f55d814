// Package inproc is a DDS backend within one process, without a network: for tests,
// and for nodes that share a process. Matching, queues, deadlines, liveliness and
// lifespans are those of DDS 1.4. A sample is copied once for all readers.
package inproc

import (
	"crypto/rand"
	"encoding/binary"
	"slices"
	"sync"

	"vnd/pkg/ros2/dds"
)

// Domain connects its participants. Domains are separate from each other.
type Domain struct {
	prefix  [8]byte // random, of the GUIDs, but for the vendor's two bytes
	samples sync.Pool
	views   sync.Pool // of *dds.Sample, for Take

	mu           sync.Mutex // guards all below, and everything of participants and endpoints
	opened       uint32     // participants ever
	participants []*participant
	topics       map[dds.Topic]*topic
}

// topic lists the endpoints of a name and type.
type topic struct {
	writers []*writer
	readers []*reader
}

// NewDomain returns an empty domain.
func NewDomain() *Domain {
	d := &Domain{topics: map[dds.Topic]*topic{}}
	rand.Read(d.prefix[2:])
	d.samples.New = func() any { return new(sample) }
	d.views.New = func() any { return new(dds.Sample) }
	return d
}

// Open creates a participant and announces its user data to the others.
func (d *Domain) Open(userData []byte) dds.Participant {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.opened++
	p := &participant{
		domain: d, userData: slices.Clone(userData), news: make(chan struct{}, 1),
	}
	copy(p.guid[:], d.prefix[:])
	binary.BigEndian.PutUint32(p.guid[8:], d.opened)
	binary.BigEndian.PutUint32(p.guid[12:], 0x000001c1) // RTPS 2.3, 9.3.1.2: ENTITYID_PARTICIPANT
	for _, other := range d.participants {
		p.learn(other.change(true))
		for _, e := range other.endpoints {
			p.learn(e.change(true))
		}
	}
	d.participants = append(d.participants, p)
	d.announce(p.change(true))
	return p
}

// announce passes a change to every participant.
func (d *Domain) announce(c dds.Change) {
	for _, p := range d.participants {
		p.learn(c)
	}
}

// topicOf returns the topic's endpoints.
func (d *Domain) topicOf(t dds.Topic) *topic {
	if d.topics[t] == nil {
		d.topics[t] = &topic{}
	}
	return d.topics[t]
}

// match connects a writer and a reader, or counts at both why they do not match.
func match(w *writer, r *reader) {
	if r.qos.IgnoreLocal && r.participant == w.participant {
		return
	}
	if policy := dds.Compatible(w.qos, r.qos); policy != dds.NoPolicy {
		for _, e := range []*endpoint{&w.endpoint, &r.endpoint} {
			e.status.Incompatible++
			e.status.IncompatiblePolicy = policy
			e.notify()
		}
		return
	}
	w.readers = append(w.readers, r)
	r.writers = append(r.writers, w)
	for _, e := range []*endpoint{&w.endpoint, &r.endpoint} {
		e.status.Matched++
		e.status.MatchedTotal++
		e.notify()
	}
	if w.lost {
		r.status.NotAlive++
	} else {
		r.status.Alive++
	}
	if r.qos.Durability == dds.TransientLocal {
		for s := range w.history.all() {
			r.receive(s)
		}
	}
}

// part undoes match.
func part(w *writer, r *reader) {
	w.readers = slices.DeleteFunc(w.readers, func(x *reader) bool { return x == r })
	r.writers = slices.DeleteFunc(r.writers, func(x *writer) bool { return x == w })
	for _, e := range []*endpoint{&w.endpoint, &r.endpoint} {
		e.status.Matched--
		e.notify()
	}
	if w.lost {
		r.status.NotAlive--
	} else {
		r.status.Alive--
	}
}
