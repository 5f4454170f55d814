package overrcl

/*
#include "rcl.h"
*/
import "C"

import (
	"fmt"
	"time"
	"unsafe"

	"vnd/pkg/ros2/rmw"
)

// target is what an entry of the wait set is about: an owner's data, or an event.
type target struct {
	owner any
	rated *rated
	event *C.struct_vnd_happening
}

// Wait is in the interface. What is ready is not asked for twice: rcl is.
func (c *context) Wait(timeout time.Duration, ready []rmw.Ready) ([]rmw.Ready, error) {
	var end time.Time
	if timeout > 0 {
		end = time.Now().Add(timeout)
	}
	for before := len(ready); ; {
		left := timeout
		if timeout > 0 {
			left = max(time.Until(end), 0)
		}
		var err error
		if ready, err = c.once(left, ready); err != nil {
			return ready, err
		}
		over := timeout == 0 || timeout > 0 && !time.Now().Before(end)
		if woken := c.woken.Swap(false); woken || over || len(ready) > before {
			return ready, nil
		}
	}
}

// once waits once, at most until endpoints are to be looked at.
func (c *context) once(timeout time.Duration, ready []rmw.Ready) ([]rmw.Ready, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.apart > 0 {
		c.left.Wait()
	}
	if c.closed {
		return ready, rmw.ErrClosed
	}
	c.arrange()
	if next, settling := c.settle.next(time.Now()); settling && (timeout < 0 || next < timeout) {
		timeout = next
	}
	if c.woken.Load() {
		timeout = 0
	}
	c.waiting = true
	c.mu.Unlock()
	failed := C.vnd_wait(c.set, unsafe.SliceData(c.entries), C.size_t(len(c.entries)), C.int64_t(timeout))
	c.mu.Lock()
	c.waiting = false
	c.left.Broadcast()
	if failed != nil {
		return ready, fmt.Errorf("waiting: %w", failure(failed))
	}
	return c.look(c.collect(ready)), nil
}

// arrange lists what to wait for, when that has changed.
func (c *context) arrange() {
	if !c.stale {
		return
	}
	c.stale = false
	e, t := append(c.entries[:0], entry(C.vnd_guard, unsafe.Pointer(c.guard))), append(c.targets[:0], target{})
	if n := c.sight(); n != nil {
		e = append(e, entry(C.vnd_graph, unsafe.Pointer(C.rcl_node_get_graph_guard_condition(n))))
		t = append(t, target{})
	}
	for _, n := range c.nodes {
		for _, x := range n.entities {
			e, t = x.entries(e, t)
		}
	}
	c.entries, c.targets = e, t
}

// collect appends what is ready, and takes the events. What has gone meanwhile is not among it: nobody ends anything
// before apart lets him.
func (c *context) collect(ready []rmw.Ready) []rmw.Ready {
	for i := range c.entries {
		if c.entries[i].ready == 0 {
			continue
		}
		switch t := &c.targets[i]; {
		case c.entries[i].kind == C.vnd_graph:
			c.settle.begin(time.Now())
			ready = append(ready, rmw.Ready{Event: true})
		case t.event != nil:
			if t.rated.happened(t.event) && t.rated.owner != nil {
				ready = append(ready, rmw.Ready{Owner: t.rated.owner, Event: true})
			}
		case t.owner != nil:
			ready = append(ready, rmw.Ready{Owner: t.owner, Data: true})
		}
	}
	return ready
}

// look looks for matches that came or went, for a while after the graph has changed.
func (c *context) look(ready []rmw.Ready) []rmw.Ready {
	if !c.settle.due(time.Now()) {
		return ready
	}
	for _, n := range c.nodes {
		for _, e := range n.entities {
			if p, ok := e.(endpoint); ok {
				if owner := p.look(); owner != nil {
					ready = append(ready, rmw.Ready{Owner: owner, Event: true})
				}
			}
		}
	}
	return ready
}

// settle says when to look at matches: rcl of Humble tells of changes in the graph, but not of a match, which comes
// with
// such a change or soon after it.
type settle struct {
	at   time.Time     // of the next look; zero when there is none
	step time.Duration // to the one after it
}

// The first look comes at once, the others after steps that double.
const (
	firstStep = time.Millisecond
	lastStep  = 512 * time.Millisecond
)

func (s *settle) begin(now time.Time) { s.at, s.step = now, firstStep }

// next is the time until the next look.
func (s *settle) next(now time.Time) (wait time.Duration, settling bool) {
	if s.at.IsZero() {
		return 0, false
	}
	return max(s.at.Sub(now), 0), true
}

// due says that it is time for a look, which follows.
func (s *settle) due(now time.Time) bool {
	if s.at.IsZero() || now.Before(s.at) {
		return false
	}
	if s.step > lastStep {
		s.at = time.Time{}
		return true
	}
	s.at = now.Add(s.step)
	s.step *= 2
	return true
}
