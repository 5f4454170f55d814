package inproc

import (
	"slices"
	"time"

	"vnd/pkg/ros2/dds"
)

// endpoint is what a writer and a reader have in common. Its changing fields
// are guarded by the domain's mutex.
type endpoint struct {
	participant *participant
	guid        dds.GUID
	kind        dds.Kind
	topic       dds.Topic
	qos         dds.QoS
	owner       any

	status   dds.Status
	event    bool // Wait has not told of status yet
	closed   bool
	deadline alarm
}

func (e *endpoint) base() *endpoint { return e }

func (e *endpoint) GUID() dds.GUID { return e.guid }

func (e *endpoint) domain() *Domain { return e.participant.domain }

func (e *endpoint) Status() dds.Status {
	e.domain().mu.Lock()
	defer e.domain().mu.Unlock()
	e.event = false
	return e.status
}

// tellEvent makes Wait tell that status has news.
func (e *endpoint) tellEvent() {
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

// watchDeadline counts from now, at every sample: the first sample is when a
// topic's only instance comes to be (DDS 1.4, 2.2.3.7).
func (e *endpoint) watchDeadline() {
	if e.qos.Deadline != 0 {
		e.deadline.set(e.qos.Deadline, e.missDeadline)
	}
}

// missDeadline counts a deadline missed and begins the next one.
func (e *endpoint) missDeadline() {
	e.domain().mu.Lock()
	defer e.domain().mu.Unlock()
	if e.closed || !e.deadline.due() {
		return
	}
	e.status.DeadlineMissed++
	e.tellEvent()
	e.watchDeadline()
}

// alarm calls a function later, unless it is set anew before.
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

// due is false when the alarm was set anew while it was going off.
func (a *alarm) due() bool { return !time.Now().Before(a.at) }

func (a *alarm) stop() {
	if a.timer != nil {
		a.timer.Stop()
	}
}
