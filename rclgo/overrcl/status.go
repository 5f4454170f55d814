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

// rated is what publishers and subscriptions have in common: who they are and what happened to them.
type rated struct {
	node  *node
	topic string
	owner any // nil for nobody
	lease time.Duration
	count func() (int, error) // matches
	events

	mu     sync.Mutex // guards what follows
	status dds.Status
	known  rmw.GID
}

// now is the status of this moment. The entity is not ended meanwhile.
func (r *rated) now() dds.Status {
	r.recount()
	return r.last()
}

func (r *rated) last() dds.Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.status
}

// recount counts the matches and says whether they are others than before. Events of matches came after Humble; what
// came
// and went between two looks is not counted.
func (r *rated) recount() bool {
	n, err := r.count()
	if err != nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.status.Matched
	r.status.Matched = n
	r.status.MatchedTotal += max(n-before, 0)
	if r.lease == 0 { // not every middleware tells of the liveliness of those who need not show it
		r.status.Alive, r.status.NotAlive = n, 0
	}
	return n != before
}

// look is in the interface.
func (r *rated) look() (owner any) {
	if r.recount() {
		return r.owner
	}
	return nil
}

// policies are those of rmw_qos_policy_kind_t.
var policies = map[C.int64_t]dds.Policy{1 << 1: dds.DurabilityPolicy, 1 << 2: dds.DeadlinePolicy,
	1 << 3: dds.LivelinessPolicy, 1 << 4: dds.ReliabilityPolicy}

// happened takes an event over, and says whether there was one.
func (r *rated) happened(h *C.struct_vnd_happening) bool {
	var news C.struct_vnd_news
	if C.vnd_take_event(h, &news) == 0 {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	total := int(news.total)
	switch s := &r.status; h.kind {
	case C.vnd_incompatible:
		s.Incompatible, s.IncompatiblePolicy = total, policies[news.other]
	case C.vnd_deadline_missed:
		s.DeadlineMissed = total
	case C.vnd_liveliness_lost:
		s.LivelinessLost = total
	case C.vnd_lost:
		s.SamplesLost = total
	case C.vnd_liveliness_changed:
		if r.lease != 0 {
			s.Alive, s.NotAlive = total, int(news.other)
		}
	}
	return true
}

// events are those that the middleware tells of an endpoint.
type events struct {
	memory *[C.vnd_most_events]C.struct_vnd_happening // in C
	n      C.size_t
}

func (e *events) reserve() *C.struct_vnd_happening {
	p := C.malloc(C.vnd_most_events * C.sizeof_struct_vnd_happening)
	e.memory = (*[C.vnd_most_events]C.struct_vnd_happening)(p)
	return &e.memory[0]
}

func (e *events) publisher(p *C.rcl_publisher_t) { e.n = C.vnd_publisher_events(p, e.reserve()) }

func (e *events) subscription(s *C.rcl_subscription_t) {
	e.n = C.vnd_subscription_events(s, e.reserve())
}

func (e *events) entries(entries []C.struct_vnd_entry, targets []target, r *rated) ([]C.struct_vnd_entry, []target) {
	for i := range e.memory[:e.n] {
		entries = append(entries, entry(C.vnd_event, unsafe.Pointer(&e.memory[i].event)))
		targets = append(targets, target{rated: r, event: &e.memory[i]})
	}
	return entries, targets
}

func (e *events) end() {
	C.vnd_events_fini(&e.memory[0], e.n)
	C.free(unsafe.Pointer(e.memory))
}
