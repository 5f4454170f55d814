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

// target of an entry of the wait set: an owner's data, or an event.
type target struct {
	owner    any
	topicEnd *topicEnd
	event    *C.struct_vnd_event_source
}

// Wait implements rmw.Context. rcl itself reports data until they are taken.
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
		if ready, err = c.waitOnce(left, ready); err != nil {
			return ready, err
		}
		over := timeout == 0 || timeout > 0 && !time.Now().Before(end)
		if woken := c.woken.Swap(false); woken || over || len(ready) > before {
			return ready, nil
		}
	}
}

// waitOnce waits once, at most until the next look at the matches.
func (c *context) waitOnce(timeout time.Duration, ready []rmw.Ready) ([]rmw.Ready, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.excluders > 0 {
		c.left.Wait()
	}
	if c.closed {
		return ready, rmw.ErrClosed
	}
	c.arrange()
	if next, polling := c.matchPoll.next(time.Now()); polling && (timeout < 0 || next < timeout) {
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
	return c.checkMatches(c.collect(ready)), nil
}

// arrange updates the entries of the wait set when they have changed.
func (c *context) arrange() {
	if !c.stale {
		return
	}
	c.stale = false
	e, t := append(c.entries[:0], entry(C.vnd_guard, unsafe.Pointer(c.guard))), append(c.targets[:0], target{})
	if n := c.graphSource(); n != nil {
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

// collect appends what is ready, and takes the events. All entities still exist: exclude lets
// none end before rcl_wait has returned.
func (c *context) collect(ready []rmw.Ready) []rmw.Ready {
	for i := range c.entries {
		if c.entries[i].ready == 0 {
			continue
		}
		switch t := &c.targets[i]; {
		case c.entries[i].kind == C.vnd_graph:
			c.matchPoll.begin(time.Now())
			ready = append(ready, rmw.Ready{Event: true})
		case t.event != nil:
			if t.topicEnd.onEvent(t.event) && t.topicEnd.owner != nil {
				ready = append(ready, rmw.Ready{Owner: t.topicEnd.owner, Event: true})
			}
		case t.owner != nil:
			ready = append(ready, rmw.Ready{Owner: t.owner, Data: true})
		}
	}
	return ready
}

// checkMatches appends owners whose matches changed, for a while after the graph has changed.
func (c *context) checkMatches(ready []rmw.Ready) []rmw.Ready {
	if !c.matchPoll.due(time.Now()) {
		return ready
	}
	for _, n := range c.nodes {
		for _, e := range n.entities {
			if p, ok := e.(endpoint); ok {
				if owner := p.checkMatches(); owner != nil {
					ready = append(ready, rmw.Ready{Owner: owner, Event: true})
				}
			}
		}
	}
	return ready
}

// matchPoll schedules the looks at the matches. rcl of Humble reports changes of the graph, but
// not matches, which come with such a change or soon after it.
type matchPoll struct {
	at   time.Time     // of the next look; zero when there is none
	step time.Duration // to the one after it
}

// The first look comes at once, the others after steps that double.
const (
	firstStep = time.Millisecond
	lastStep  = 512 * time.Millisecond
)

func (s *matchPoll) begin(now time.Time) { s.at, s.step = now, firstStep }

// next is the time until the next look.
func (s *matchPoll) next(now time.Time) (wait time.Duration, polling bool) {
	if s.at.IsZero() {
		return 0, false
	}
	return max(s.at.Sub(now), 0), true
}

// due says whether a look is due, and schedules the next one.
func (s *matchPoll) due(now time.Time) bool {
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
