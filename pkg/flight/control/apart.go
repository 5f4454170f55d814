package control

import (
	"time"

	"vnd/pkg/core/quad"
	"vnd/pkg/flight/guard"
	"vnd/pkg/flight/inertial"
)

// What follows is for the two sides in two processes, of robots that are commanded thrust and body rates. Nodes refuse
// motors there: what these lead to, rotorSide.turning, is known where they are mixed alone.

// DecideElsewhere makes a loop one whose guard runs in another process: what that sent is what moves the robot.
func (l *Loop) DecideElsewhere() {
	p := guard.NewPredictor(&l.config.Guard)
	l.predictor, l.ahead = &p, p.Ahead
	if l.filter != nil {
		l.filter = inertial.NewCommandEstimator(p.Moves)
	}
	l.notOffboard = true // until the guard says so
}

// Lost says that nothing comes from the guard, so that who flies is not known. When the guard is back, the task goes
// on from where the robot is.
func (l *Loop) Lost() {
	l.notOffboard, l.tripped = false, true
	l.decision = Decision{Stage: guard.Hold, Cause: guard.Unheard}
}

// TakeRemote is Take for a decision of another process.
func (l *Loop) TakeRemote(d *Decision) {
	l.notOffboard = !d.Offboard
	l.Take(d)
	if !d.Silent {
		l.predictor.Send(seconds(d.Now, l.origin), d.Sent, d.Wind)
	}
}

// Unanswered advances the actuator's state by a decision that answers no request.
func (l *Loop) Unanswered(d *Decision) { l.advanceActuator(d.Sent) }

// Refusal is why a request is not flown.
type Refusal uint8

// Refusals; of several the first of this order.
const (
	Accepted    Refusal = iota
	Reordered           // it came after a later one
	Outdated            // the state that it answers is too old, or from the future
	OtherBundle         // it is of another bundle than the controller announced
	Refusals            // how many there are
)

var refusals = [Refusals]string{"accepted", "came after a later one", "answers a state that is too old",
	"is of a bundle that was not announced"}

// String says in words what is wrong with the request.
func (r Refusal) String() string { return refusals[min(r, Refusals-1)] }

// SetRequester has requests of another sender count, from the first on.
func (l *Loop) SetRequester() { l.request.Seq = 0 }

// SetRequested says whose commands count: those of the bundle of an id.
func (l *Loop) SetRequested(bundle string) { l.bundle = bundle }

// Accept takes a request that came at now (ns), unless it is not to be flown.
func (l *Loop) Accept(now int64, q *Request) Refusal {
	switch {
	case q.Seq <= l.request.Seq:
		return Reordered
	case abs(now-q.Stamp+l.clock.shift) > int64(l.config.Guard.MaxAge*1e9):
		return Outdated
	case q.Bundle != l.bundle:
		return OtherBundle
	}
	l.request, l.requestedAt, l.asked = *q, now, true
	return Accepted
}

// Decide has the guard decide at now (ns), by the newest request where that came within patience; false before there is
// a fresh state and a first request.
func (l *Loop) Decide(now int64, patience time.Duration, d *Decision) bool {
	if !l.ready || !l.asked {
		return false
	}
	l.reads(now)
	if l.seq == 0 && abs(now-l.stamp) > int64(l.config.Guard.MaxAge*1e9) { // the guard would know of no robot
		return false
	}
	l.ticked = now
	l.clock.tick(now)
	l.lastStamp = l.stamp
	l.seq++
	q := &l.request
	if age := now - l.requestedAt; age < 0 || age > int64(patience) {
		q = nil
	}
	l.decide(now, q, l.request.Target, d)
	l.decision = *d
	return true
}

// RecordDecision records a tick of the guard's side.
func (l *Loop) RecordDecision(t *TickRecord, d *Decision) {
	t.Seq, t.Stamp, t.State = l.seq-1, l.lastStamp, l.state
	t.Command, t.Sent = quad.Command{}, d.Sent
	if d.Seq != 0 {
		t.Command = l.request.Command
	}
	t.Stage, t.Cause = d.Stage, d.Cause
	t.Bundle, t.Task, t.Target = l.request.Bundle, l.request.Task, l.request.Target
}
