//go:build cgo

package native

// #include "call.h"
import "C"

import (
	"sync"
	"unsafe"

	"vnd/pkg/ros2/dds"
)

// graph merges the changes of participants, writers and readers, whose order is independent.
type graph struct {
	lock  sync.Mutex
	known map[dds.GUID]dds.Kind
}

func (p *participant) Changes(f func(dds.Change)) error {
	changes, err := p.takeChanges()
	for _, c := range changes {
		f(c)
	}
	return err
}

// takeChanges takes endpoints before participants: a participant is older than its
// endpoints, so that no endpoint lacks its participant.
func (p *participant) takeChanges() ([]dds.Change, error) {
	p.use.RLock()
	defer p.use.RUnlock()
	if p.closed {
		return nil, dds.ErrClosed
	}
	p.graph.lock.Lock()
	defer p.graph.lock.Unlock()
	var taken [3][]dds.Change
	for _, kind := range []dds.Kind{dds.WriterKind, dds.ReaderKind, dds.ParticipantKind} {
		var err error
		if taken[kind], err = p.takeKind(kind); err != nil {
			return nil, err
		}
	}
	return p.graph.merge(taken), nil
}

// merge orders changes: participants appear before their endpoints and disappear after
// them. An entity that was never reported does not disappear.
func (g *graph) merge(taken [3][]dds.Change) []dds.Change {
	if g.known == nil {
		g.known = map[dds.GUID]dds.Kind{}
	}
	var all []dds.Change
	appear := func(c dds.Change) {
		g.known[c.GUID] = c.Kind
		all = append(all, c)
	}
	disappear := func(c dds.Change) {
		if _, known := g.known[c.GUID]; known {
			delete(g.known, c.GUID)
			all = append(all, c)
		}
	}
	for _, c := range taken[dds.ParticipantKind] {
		if c.Alive {
			appear(c)
		}
	}
	for _, c := range append(taken[dds.WriterKind], taken[dds.ReaderKind]...) {
		if !c.Alive {
			disappear(c)
		} else if _, known := g.known[c.Participant]; known {
			appear(c)
		}
	}
	for _, c := range taken[dds.ParticipantKind] {
		if c.Alive {
			continue
		}
		for guid, kind := range g.known {
			if kind != dds.ParticipantKind && participantOf(guid) == c.GUID {
				disappear(dds.Change{Kind: kind, GUID: guid, Participant: c.GUID})
			}
		}
		disappear(c)
	}
	return all
}

// participantOf is the participant that an entity belongs to: the same prefix
// (RTPS 2.3, 8.2.4.2).
func participantOf(g dds.GUID) dds.GUID {
	copy(g[12:], []byte{0, 0, 1, 0xc1})
	return g
}

// takeKind takes all changes of one kind.
func (p *participant) takeKind(kind dds.Kind) ([]dds.Change, error) {
	var all []dds.Change
	var loan [C.VND_CHANGES]unsafe.Pointer
	var changes [C.VND_CHANGES]C.struct_vnd_change
	for {
		n := C.call_take_changes(p.api, p.c, C.int(kind), &changes[0], &loan[0])
		if n < 0 {
			return nil, p.failure(n)
		}
		if n == 0 {
			return all, nil
		}
		for i := range changes[:n] {
			all = append(all, changeOf(kind, &changes[i]))
		}
		C.call_return_changes(p.api, p.c, C.int(kind), &changes[0], n, &loan[0])
	}
}

func changeOf(kind dds.Kind, c *C.struct_vnd_change) dds.Change {
	guid := guidOf(&c.guid)
	change := dds.Change{Kind: kind, Alive: bool(c.alive), GUID: guid, Participant: participantOf(guid)}
	if !change.Alive {
		return change
	}
	if c.user_data_size > 0 {
		change.UserData = C.GoBytes(c.user_data, C.int(c.user_data_size))
	}
	if kind != dds.ParticipantKind {
		change.Topic = dds.Topic{Name: C.GoString(c.topic), Type: C.GoString(c._type)}
		change.QoS = qosFromC(&c.qos)
		change.QoS.UserData = change.UserData
	}
	return change
}
