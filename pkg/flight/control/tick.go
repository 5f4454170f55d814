package control

import (
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
)

// TickRecord is what one tick saw and did.
type TickRecord struct {
	Seq         uint64 // from 0
	Stamp       int64  // of State, ns
	State       quad.State
	Filtered    bool             // State is that of the filter of poses
	Command     quad.Command     // what the policy asked for
	Sent        quad.Command     // what went out after the guard
	Actuator    quad.Command     // the lagged command that the model believes in, before this one
	Reference   []quad.Reference // one for each of the policy's look-aheads
	Latent      []float32        // z[Z] that the policy was given
	LatentStamp int64            // of the newest state behind it, ns; 0: it is the prior mean
	Bundle      string
	Stage       guard.Stage
	Cause       guard.Cause // of a guard that has tripped
	TurnsLate   float64     // s by which the robot turns later than guard.response and the stamps tell; 0: not known
	Confidence  float32     // 1 − novelty; 0 under the prior mean
	Hidden      float32     // of what moves of push and latent, so much the policy was not given
	Task        string
	Target      so3.Vec3 // where the task has the robot, m in the world
}

// FinishTick advances the actuator's state by the command that was sent, and records the tick in t. It is called once a
// tick, after the command has gone out.
func (l *Loop) FinishTick(t *TickRecord) {
	l.RecordRequest(t)
	l.Complete(t, &l.decision)
}

// RecordRequest records what the policy's side did in the last tick.
func (l *Loop) RecordRequest(t *TickRecord) {
	t.Seq, t.Stamp, t.State, t.Filtered = l.seq-1, l.seenAt, l.seen, l.byFilter
	t.Command = l.commanded
	o := &l.policy.policy.Observation
	t.Reference = t.Reference[:0]
	for k := range o.PreviewPoints {
		t.Reference = append(t.Reference, l.task.at(seconds(l.seenAt, l.origin)+o.Look(k)))
	}
	t.Latent, t.LatentStamp, t.Confidence = t.Latent[:0], 0, 0
	if l.latentUsed != nil {
		t.Latent = append(t.Latent, l.latentUsed...)
		t.LatentStamp, t.Confidence = l.latent.Stamp, 1-min(max(l.latent.Novelty, 0), 1)
	} else {
		for range l.policy.Latent() {
			t.Latent = append(t.Latent, 0)
		}
	}
	t.Bundle, t.Task = l.policy.ID, l.task.Task
	t.Target, t.Hidden = l.request.Target, float32(l.runner.Hidden())
}

// Complete records the decision on a request, and advances the actuator's state by what was sent.
func (l *Loop) Complete(t *TickRecord, d *Decision) {
	t.Sent, t.Actuator = d.Sent, l.actuator.e
	t.Stage, t.Cause, t.TurnsLate = d.Stage, d.Cause, l.turnClock.late()
	l.advanceActuator(d.Sent)
}

// advanceActuator advances the actuator's state by one tick.
func (l *Loop) advanceActuator(sent quad.Command) {
	if l.notOffboard {
		l.actuator.hover()
	} else {
		l.actuator.step(sent)
	}
}

// maxPreviewPoints is how many points of a reference a policy may see.
const maxPreviewPoints = 50

// NewTickRecord is a record with capacity for whatever is flown.
func NewTickRecord() TickRecord {
	return TickRecord{Reference: make([]quad.Reference, 0, maxPreviewPoints), Latent: make([]float32, 0, maxLatent)}
}
