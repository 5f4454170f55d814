package overrcl

/*
#include <stdlib.h>
#include "rcl.h"
*/
import "C"

import (
	"sync"
	"time"
	"unsafe"

	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/rmw"
)

// topicEnd is the common part of publishers and subscriptions: identity and status.
type topicEnd struct {
	node  *node
	topic string
	owner any // may be nil
	lease time.Duration
	count func() (int, error) // matches
	events

	mu     sync.Mutex // guards what follows
	status dds.Status
	known  rmw.GID
}

// now is the present status. The entity must not end meanwhile.
func (r *topicEnd) now() dds.Status {
	r.recount()
	return r.last()
}

func (r *topicEnd) last() dds.Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.status
}

// recount updates the number of matches and says whether it changed. Humble has no events of
// matches: a match that comes and goes between two calls is not counted.
func (r *topicEnd) recount() bool {
	n, err := r.count()
	if err != nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.status.Matched
	r.status.Matched = n
	r.status.MatchedTotal += max(n-before, 0)
	if r.lease == 0 { // not every middleware reports liveliness without a lease
		r.status.Alive, r.status.NotAlive = n, 0
	}
	return n != before
}

// checkMatches implements endpoint.
func (r *topicEnd) checkMatches() (owner any) {
	if r.recount() {
		return r.owner
	}
	return nil
}

// policies are those of rmw_qos_policy_kind_t.
var policies = map[C.int64_t]dds.Policy{1 << 1: dds.DurabilityPolicy, 1 << 2: dds.DeadlinePolicy,
	1 << 3: dds.LivelinessPolicy, 1 << 4: dds.ReliabilityPolicy}

// onEvent takes an event and updates the status. It returns false without an event.
func (r *topicEnd) onEvent(h *C.struct_vnd_event_source) bool {
	var event C.struct_vnd_event_status
	if C.vnd_take_event(h, &event) == 0 {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	total := int(event.total)
	switch s := &r.status; h.kind {
	case C.vnd_incompatible:
		s.Incompatible, s.IncompatiblePolicy = total, policies[event.other]
	case C.vnd_deadline_missed:
		s.DeadlineMissed = total
	case C.vnd_liveliness_lost:
		s.LivelinessLost = total
	case C.vnd_lost:
		s.SamplesLost = total
	case C.vnd_liveliness_changed:
		if r.lease != 0 {
			s.Alive, s.NotAlive = total, int(event.other)
		}
	}
	return true
}

// events are the events of an endpoint that the middleware reports.
type events struct {
	memory *[C.vnd_max_events]C.struct_vnd_event_source // in C
	n      C.size_t
}

func (e *events) reserve() *C.struct_vnd_event_source {
	p := C.malloc(C.vnd_max_events * C.sizeof_struct_vnd_event_source)
	e.memory = (*[C.vnd_max_events]C.struct_vnd_event_source)(p)
	return &e.memory[0]
}

func (e *events) publisher(p *C.rcl_publisher_t) { e.n = C.vnd_publisher_events(p, e.reserve()) }

func (e *events) subscription(s *C.rcl_subscription_t) {
	e.n = C.vnd_subscription_events(s, e.reserve())
}

func (e *events) entries(entries []C.struct_vnd_entry, targets []target, r *topicEnd) ([]C.struct_vnd_entry, []target) {
	for i := range e.memory[:e.n] {
		entries = append(entries, entry(C.vnd_event, unsafe.Pointer(&e.memory[i].event)))
		targets = append(targets, target{topicEnd: r, event: &e.memory[i]})
	}
	return entries, targets
}

func (e *events) end() {
	C.vnd_events_fini(&e.memory[0], e.n)
	C.free(unsafe.Pointer(e.memory))
}
