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

	// use is read-locked while c is used; Close frees c.
	use    sync.RWMutex
	c      *C.struct_vnd_participant
	closed bool

	lock      sync.Mutex // guards below
	made      uint64     // endpoints ever
	endpoints map[uint64]*endpoint

	graph graph
}

// Open creates a participant. The error names the fault in the configuration: file
// and line, network interface, or domain.
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
	d, lines, err := acquire(c)
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
		for _, line := range append(lines, more...) {
			c.Log("Cyclone DDS: " + line)
		}
		c.Log(fmt.Sprintf("Cyclone DDS %s: domain %d on %s", C.DDS_VERSION, c.Domain, p.interfaces()))
	}
	return p, nil
}

// open creates the participant in Cyclone DDS, and returns the lines that it logged.
func (p *participant) open(c Config, properties string) (logged []string, err error) {
	p.c = (*C.struct_vnd_participant)(C.calloc(1, C.sizeof_struct_vnd_participant))
	data, pairs := C.CBytes(c.UserData), C.CString(properties)
	defer C.free(data)
	defer C.free(unsafe.Pointer(pairs))
	text := make([]byte, 16<<10)
	code := C.vnd_participant_open(p.c, C.uint32_t(c.Domain), data, C.size_t(len(c.UserData)),
		pairs, (*C.char)(unsafe.Pointer(&text[0])), C.size_t(len(text)))
	logged = logLines(C.GoString((*C.char)(unsafe.Pointer(&text[0]))))
	if code == 0 {
		return logged, nil
	}
	C.free(unsafe.Pointer(p.c))
	if len(logged) > 0 {
		return nil, fmt.Errorf("domain %d: participant: %s", c.Domain, strings.Join(logged, "; "))
	}
	return nil, fmt.Errorf("domain %d: participant: %w", c.Domain, failure(code))
}

// interfaces lists the network interfaces that the domain uses.
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
	C.vnd_participant_close(p.c)
	C.free(unsafe.Pointer(p.c))
	p.c = nil
	p.domain.release()
	return nil
}

// stopWaiting ends Wait, which has use locked.
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
