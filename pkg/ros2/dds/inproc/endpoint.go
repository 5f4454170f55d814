package inproc

import (
	"slices"
	"time"

	"vnd/pkg/ros2/dds"
)

// endpoint is the common part of writers and readers. The domain's mutex guards
// its variable fields.
type endpoint struct {
	participant *participant
	self        entity
	guid        dds.GUID
	kind        dds.Kind
	topic       dds.Topic
	qos         dds.QoS
	owner       any

	status   dds.Status
	event    bool // Wait has not reported status yet
	closed   bool
	deadline alarm
}

func (e *endpoint) GUID() dds.GUID { return e.guid }

func (e *endpoint) domain() *Domain { return e.participant.domain }

func (e *endpoint) Status() dds.Status {
	e.domain().mu.Lock()
	defer e.domain().mu.Unlock()
	e.event = false
	return e.status
}

func (e *endpoint) Close() error {
	e.domain().mu.Lock()
	defer e.domain().mu.Unlock()
	e.participant.remove(e)
	return nil
}

// matched calls f for the GUIDs of an endpoint's peers.
func matched[E interface{ GUID() dds.GUID }](d *Domain, peers *[]E, f func(dds.GUID)) {
	d.mu.Lock()
	all := slices.Clone(*peers)
	d.mu.Unlock()
	for _, p := range all {
		f(p.GUID())
	}
}

// notify makes Wait report that status has changed.
func (e *endpoint) notify() {
	e.event = true
	e.participant.signal()
}

func (e *endpoint) change(alive bool) dds.Change {
	c := dds.Change{Kind: e.kind, Alive: alive, GUID: e.guid, Participant: e.participant.guid}
	if alive {
		c.Topic, c.QoS = e.topic, e.qos
		c.QoS.UserData = slices.Clone(e.qos.UserData)
		c.UserData = c.QoS.UserData
	}
	return c
}

// watchDeadline restarts the deadline at every sample. The first sample creates the
// topic's only instance (DDS 1.4, 2.2.3.7).
func (e *endpoint) watchDeadline() {
	if e.qos.Deadline != 0 {
		e.deadline.set(e.qos.Deadline, e.missDeadline)
	}
}

// missDeadline counts a missed deadline and starts the next one.
func (e *endpoint) missDeadline() {
	e.domain().mu.Lock()
	defer e.domain().mu.Unlock()
	if e.closed || !e.deadline.due() {
		return
	}
	e.status.DeadlineMissed++
	e.notify()
	e.watchDeadline()
}

// alarm calls a function later, unless it is set again before.
type alarm struct {
	timer *time.Timer
	at    time.Time
}

func (a *alarm) set(after time.Duration, ring func()) {
	a.at = time.Now().Add(after)
	if a.timer == nil {
		a.timer = time.AfterFunc(after, ring)
	} else {
		a.timer.Reset(after)
	}
}

// due is false when the alarm was set again while its function started.
func (a *alarm) due() bool { return !time.Now().Before(a.at) }

func (a *alarm) stop() {
	if a.timer != nil {
		a.timer.Stop()
	}
}
