//go:build cgo

package native

// #include <stdlib.h>
// #include "call.h"
import "C"

import (
	"encoding/binary"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"vnd/pkg/ros2/dds"
)

// endpoint is the common part of writers and readers.
type endpoint struct {
	participant *participant
	id          uint64
	topic       dds.Topic
	owner       any
	guid        dds.GUID
	isWriter    bool

	closing sync.Mutex
	closed  atomic.Bool
	// use is read-locked while c is used; Close frees c.
	use  sync.RWMutex
	c    unsafe.Pointer
	last dds.Status // of a closed endpoint
}

// open creates the endpoint in the implementation; the participant's use is read-locked.
func (e *endpoint) open(q dds.QoS) error {
	name, typeName, data := C.CString(e.topic.Name), C.CString(e.topic.Type), C.CBytes(q.UserData)
	defer C.free(unsafe.Pointer(name))
	defer C.free(unsafe.Pointer(typeName))
	defer C.free(data)
	qos := qosToC(q)
	var guid [16]C.uint8_t
	code := C.call_open_endpoint(e.participant.api, e.participant.c, C.uint64_t(e.id), C.bool(e.isWriter), name,
		typeName, &qos, data, C.size_t(len(q.UserData)), &e.c, &guid[0])
	if code < 0 {
		return e.participant.failure(code)
	}
	e.guid = guidOf(&guid)
	return nil
}

func (e *endpoint) GUID() dds.GUID { return e.guid }

func (e *endpoint) Status() dds.Status {
	e.use.RLock()
	defer e.use.RUnlock()
	if e.c == nil {
		return e.last
	}
	return e.status()
}

func (e *endpoint) status() dds.Status {
	var s C.struct_vnd_status
	C.call_status(e.participant.api, e.c, &s)
	return dds.Status{
		Matched: int(s.matched), MatchedTotal: int(s.matched_total),
		Incompatible: int(s.incompatible), IncompatiblePolicy: dds.Policy(s.incompatible_policy),
		DeadlineMissed: int(s.deadline_missed), LivelinessLost: int(s.liveliness_lost),
		Alive: int(s.alive), NotAlive: int(s.not_alive), SamplesLost: int(s.samples_lost),
	}
}

func (e *endpoint) Matched(f func(dds.GUID)) {
	for _, g := range e.matched() {
		f(g)
	}
}

func (e *endpoint) matched() []dds.GUID {
	e.use.RLock()
	defer e.use.RUnlock()
	if e.c == nil {
		return nil
	}
	guids := make([][16]C.uint8_t, 16)
	n := int(C.call_matched(e.participant.api, e.c, &guids[0], C.int(len(guids))))
	for n > len(guids) {
		guids = make([][16]C.uint8_t, n)
		n = int(C.call_matched(e.participant.api, e.c, &guids[0], C.int(len(guids))))
	}
	var all []dds.GUID
	for i := range guids[:max(n, 0)] {
		all = append(all, guidOf(&guids[i]))
	}
	return all
}

// Close interrupts a waiting Write, then ends the endpoint. C does not use it
// afterwards.
func (e *endpoint) Close() error {
	e.closing.Lock()
	defer e.closing.Unlock()
	if e.closed.Swap(true) {
		return nil
	}
	if e.isWriter {
		C.call_interrupt(e.participant.api, e.c)
	}
	e.use.Lock()
	defer e.use.Unlock()
	e.last = e.status()
	e.last.Matched, e.last.Alive, e.last.NotAlive = 0, 0, 0
	C.call_close_endpoint(e.participant.api, e.c)
	e.c = nil
	e.participant.forget(e.id)
	return nil
}

// qosToC converts a QoS; the duration 0 becomes infinity.
func qosToC(q dds.QoS) C.struct_vnd_qos {
	flag := func(b bool) C.int32_t {
		if b {
			return 1
		}
		return 0
	}
	duration := func(d time.Duration) C.int64_t {
		if d == 0 {
			return C.VND_INFINITE
		}
		return C.int64_t(d)
	}
	return C.struct_vnd_qos{
		reliable:        flag(q.Reliability == dds.Reliable),
		transient_local: flag(q.Durability == dds.TransientLocal),
		keep_all:        flag(q.History == dds.KeepAll),
		manual_by_topic: flag(q.Liveliness == dds.ManualByTopic),
		ignore_local:    flag(q.IgnoreLocal),
		depth:           C.int32_t(min(max(q.Depth, 1), math.MaxInt32)),
		max_blocking:    C.int64_t(q.MaxBlocking), // dds.Infinite is VND_INFINITE
		deadline:        duration(q.Deadline),
		lifespan:        duration(q.Lifespan),
		lease:           duration(q.Lease),
	}
}

func qosFromC(c *C.struct_vnd_qos) dds.QoS {
	duration := func(d C.int64_t) time.Duration {
		if d == C.VND_INFINITE {
			return 0
		}
		return time.Duration(d)
	}
	return dds.QoS{
		Reliability: dds.Reliability(c.reliable),
		MaxBlocking: time.Duration(c.max_blocking),
		Durability:  dds.Durability(c.transient_local),
		History:     dds.History(c.keep_all),
		Depth:       int(c.depth),
		Deadline:    duration(c.deadline),
		Lifespan:    duration(c.lifespan),
		Lease:       duration(c.lease),
		Liveliness:  dds.Liveliness(c.manual_by_topic),
	}
}

// writer implements dds.Writer.
type writer struct{ endpoint }

// Handle is the second half of the GUID, to which other servers reply. It has a random
// part of the participant's prefix.
func (w *writer) Handle() uint64 { return binary.LittleEndian.Uint64(w.guid[8:]) }

// check fails for a sample that cannot be sent.
func (w *writer) check(sample []byte) error {
	if err := dds.CheckSample(w.topic.Name, sample); err != nil {
		return err
	}
	if len(sample) > math.MaxInt32-4 {
		return fmt.Errorf("topic %s: %d bytes: RTPS carries less than 2 GiB", w.topic.Name, len(sample))
	}
	return nil
}
