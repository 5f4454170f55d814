//go:build cgo

package native

// #cgo noescape call_wait
// #cgo nocallback call_wait
// #include "call.h"
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"
	"unsafe"

	"vnd/pkg/ros2/dds"
)

// participant implements dds.Participant.
type participant struct {
	api   *C.struct_vnd_api
	guid  dds.GUID
	ended func()

	// Of the goroutine that waits:
	ready   [64]C.struct_vnd_ready
	yielded time.Time

	// use is read-locked while c is used; Close frees c.
	use    sync.RWMutex
	c      unsafe.Pointer
	closed bool

	lock      sync.Mutex // guards below
	made      uint64     // endpoints ever
	endpoints map[uint64]*endpoint

	graph graph
}

// New is a participant that an implementation has opened. api points to its struct
// vnd_api. Close calls ended after the participant's end.
func New(api, opened unsafe.Pointer, guid dds.GUID, ended func()) dds.Participant {
	return &participant{api: (*C.struct_vnd_api)(api), guid: guid, ended: ended, c: opened,
		endpoints: map[uint64]*endpoint{}}
}

// failure is a result of the implementation as an error.
func (p *participant) failure(code C.int) error {
	return errors.New(C.GoString(p.api.name) + ": " + strings.ToLower(C.GoString(C.call_error(p.api, code))))
}

func guidOf(c *[16]C.uint8_t) dds.GUID { return *(*dds.GUID)(unsafe.Pointer(c)) }

func (p *participant) GUID() dds.GUID { return p.guid }

func (p *participant) Wait(timeout time.Duration, ready []dds.Ready) ([]dds.Ready, error) {
	p.use.RLock()
	defer p.use.RUnlock()
	if p.closed {
		return ready, dds.ErrClosed
	}
	begun := time.Now()
	p.yield(begun)
	for left := timeout; ; left = max(timeout-time.Since(begun), 0) {
		if timeout < 0 {
			left = -1
		}
		n := C.call_wait(p.api, p.c, C.int64_t(left), &p.ready[0], C.int(len(p.ready)))
		if n == C.VND_CLOSED {
			return ready, dds.ErrClosed
		}
		before := len(ready)
		ready = p.resolve(p.ready[:n], ready)
		if n == 0 || len(ready) > before { // else all of them are closed by now
			return ready, nil
		}
	}
}

// yield enters Go's scheduler now and then. Otherwise its monitor takes the processor
// from a goroutine in C that was not scheduled for 10 ms, at every call, and wakes
// idle threads. At 1 kHz that cost an eighth of the median round trip; on busy cores
// it multiplied the 99th percentile (Go 1.26, two cores). Locking the goroutine to
// its thread was worse.
func (p *participant) yield(now time.Time) {
	if now.Sub(p.yielded) > 2*time.Millisecond {
		runtime.Gosched()
		p.yielded = now
	}
}

// resolve appends what C reported, with the owners.
func (p *participant) resolve(reported []C.struct_vnd_ready, ready []dds.Ready) []dds.Ready {
	p.lock.Lock()
	defer p.lock.Unlock()
	for i := range reported {
		r := dds.Ready{Data: bool(reported[i].data), Event: bool(reported[i].event)}
		if id := uint64(reported[i].id); id != 0 {
			e := p.endpoints[id]
			if e == nil {
				continue
			}
			r.Owner = e.owner
		}
		ready = append(ready, r)
	}
	return ready
}

func (p *participant) Wake() {
	p.use.RLock()
	defer p.use.RUnlock()
	if !p.closed {
		C.call_wake(p.api, p.c)
	}
}

func (p *participant) NewWriter(t dds.Topic, q dds.QoS, owner any) (dds.Writer, error) {
	w := &writer{}
	if err := p.add(&w.endpoint, dds.WriterKind, t, q, owner); err != nil {
		return nil, err
	}
	return w, nil
}

func (p *participant) NewReader(t dds.Topic, q dds.QoS, owner any) (dds.Reader, error) {
	r := &reader{}
	if err := p.add(&r.endpoint, dds.ReaderKind, t, q, owner); err != nil {
		return nil, err
	}
	return r, nil
}

// add makes e an endpoint of the participant.
func (p *participant) add(e *endpoint, k dds.Kind, t dds.Topic, q dds.QoS, owner any) error {
	if err := q.Check(t); err != nil {
		return err
	}
	p.use.RLock()
	defer p.use.RUnlock()
	if p.closed {
		return fmt.Errorf("topic %s: the participant: %w", t.Name, dds.ErrClosed)
	}
	e.participant, e.topic, e.owner, e.isWriter = p, t, owner, k == dds.WriterKind
	p.lock.Lock()
	p.made++
	e.id = p.made
	p.endpoints[e.id] = e // before it can report anything
	p.lock.Unlock()
	if err := e.open(q); err != nil {
		p.forget(e.id)
		return fmt.Errorf("topic %s of type %s: %w", t.Name, t.Type, err)
	}
	return nil
}

func (p *participant) forget(id uint64) {
	p.lock.Lock()
	defer p.lock.Unlock()
	delete(p.endpoints, id)
}

func (p *participant) Close() error {
	p.stopWaiting()
	p.use.Lock()
	defer p.use.Unlock()
	if p.closed {
		return nil
	}
	p.closed = true
	for _, e := range p.left() {
		if err := e.Close(); err != nil {
			return err
		}
	}
	C.call_close(p.api, p.c)
	p.c = nil
	p.ended()
	return nil
}

// stopWaiting ends Wait, which has use locked.
func (p *participant) stopWaiting() {
	p.use.RLock()
	defer p.use.RUnlock()
	if !p.closed {
		C.call_stop(p.api, p.c)
	}
}

// left lists the endpoints that are not closed yet.
func (p *participant) left() []*endpoint {
	p.lock.Lock()
	defer p.lock.Unlock()
	var all []*endpoint
	for _, e := range p.endpoints {
		all = append(all, e)
	}
	return all
}
