//go:build cgo && !nocyclone

package cyclone

// #cgo noescape vnd_wait
// #cgo nocallback vnd_wait
// #include <stdlib.h>
// #include "glue.h"
import "C"

import (
	"fmt"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"time"
	"unsafe"

	"vnd/pkg/ros2/dds"
)

// participant implements dds.Participant.
type participant struct {
	domain *domain
	guid   dds.GUID

	// Of the goroutine that waits:
	ready   [64]C.struct_vnd_ready
	yielded time.Time

	// use is read-held by all that use c, which Close frees.
	use    sync.RWMutex
	c      *C.struct_vnd_participant
	closed bool

	lock      sync.Mutex // guards below
	made      uint64     // endpoints ever
	endpoints map[uint64]*endpoint

	graph graph
}

// Open makes a participant. The error names what is wrong in the configuration:
// file and line, network interface, or domain.
func Open(c Config) (dds.Participant, error) {
	if err := checkLibrary(); err != nil {
		return nil, err
	}
	if c.Domain < 0 || c.Domain > 232 {
		return nil, fmt.Errorf("domain %d: expected 0 to 232", c.Domain)
	}
	if err := checkConfig(c.XML); err != nil {
		return nil, err
	}
	secrets, err := properties(c.Security)
	if err != nil {
		return nil, err
	}
	d, said, err := acquire(c)
	if err != nil {
		return nil, err
	}
	p := &participant{domain: d, endpoints: map[uint64]*endpoint{}}
	more, err := p.open(c, secrets)
	if err != nil {
		d.release()
		return nil, err
	}
	p.guid = guidOf(&p.c.guid)
	if c.Log != nil {
		for _, line := range append(said, more...) {
			c.Log("Cyclone DDS: " + line)
		}
		c.Log(fmt.Sprintf("Cyclone DDS %s: domain %d on %s", C.DDS_VERSION, c.Domain, p.interfaces()))
	}
	return p, nil
}

// open makes the participant in Cyclone DDS, and returns what that had to say.
func (p *participant) open(c Config, properties string) (said []string, err error) {
	p.c = (*C.struct_vnd_participant)(C.calloc(1, C.sizeof_struct_vnd_participant))
	data, pairs := C.CBytes(c.UserData), C.CString(properties)
	defer C.free(data)
	defer C.free(unsafe.Pointer(pairs))
	text := make([]byte, 16<<10)
	code := C.vnd_participant_open(p.c, C.uint32_t(c.Domain), data, C.size_t(len(c.UserData)),
		pairs, (*C.char)(unsafe.Pointer(&text[0])), C.size_t(len(text)))
	said = lines(C.GoString((*C.char)(unsafe.Pointer(&text[0]))))
	if code == 0 {
		return said, nil
	}
	C.free(unsafe.Pointer(p.c))
	if len(said) > 0 {
		return nil, fmt.Errorf("domain %d: participant: %s", c.Domain, strings.Join(said, "; "))
	}
	return nil, fmt.Errorf("domain %d: participant: %w", c.Domain, failure(code))
}

// interfaces names those that the domain uses.
func (p *participant) interfaces() string {
	var all string
	var name [64]C.char
	var address [16]C.uint8_t
	var ipv6 C.bool
	for i := C.int(0); C.vnd_interface(p.c, i, &name[0], C.size_t(len(name)), &address[0], &ipv6); i++ {
		raw := C.GoBytes(unsafe.Pointer(&address), 16)
		ip, _ := netip.AddrFromSlice(raw[12:])
		if ipv6 {
			ip, _ = netip.AddrFromSlice(raw)
		}
		if i > 0 {
			all += ", "
		}
		all += fmt.Sprintf("%s (%v)", C.GoString(&name[0]), ip)
	}
	return all
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
		n := C.vnd_wait(&p.c.waiter, C.int64_t(left), &p.ready[0], C.int(len(p.ready)))
		if n == C.VND_CLOSED {
			return ready, dds.ErrClosed
		}
		before := len(ready)
		ready = p.resolve(p.ready[:n], ready)
		if n == 0 || len(ready) > before { // else endpoints told that are closed since
			return ready, nil
		}
	}
}

// yield goes through Go's scheduler now and then. Its monitor takes the processor
// from a goroutine in C that it has not seen scheduled for 10 ms, at every call, and
// wakes threads that find nothing to do: at 1 kHz that cost an eighth of the median
// round trip, and a multiple of the 99th percentile where cores were busy (Go 1.26,
// two cores; locking the goroutine to its thread was worse still).
func (p *participant) yield(now time.Time) {
	if now.Sub(p.yielded) > 2*time.Millisecond {
		runtime.Gosched()
		p.yielded = now
	}
}

// resolve appends what told, with its owner.
func (p *participant) resolve(told []C.struct_vnd_ready, ready []dds.Ready) []dds.Ready {
	p.lock.Lock()
	defer p.lock.Unlock()
	for i := range told {
		r := dds.Ready{Data: bool(told[i].data), Event: bool(told[i].event)}
		if id := uint64(told[i].id); id != 0 {
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
		C.vnd_waiter_wake(&p.c.waiter)
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
	p.endpoints[e.id] = e // before it can tell anything
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
	C.vnd_participant_close(p.c)
	C.free(unsafe.Pointer(p.c))
	p.c = nil
	p.domain.release()
	return nil
}

// stopWaiting ends Wait, which holds use.
func (p *participant) stopWaiting() {
	p.use.RLock()
	defer p.use.RUnlock()
	if !p.closed {
		C.vnd_waiter_close(&p.c.waiter)
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
