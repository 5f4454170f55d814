package flightlog

import (
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/estimator"
)

// sample is a state at the stamp of its pose.
type sample struct {
	index    int     // which pose it was, counted from 0
	t        float64 // s, as the estimator has it
	at       int64   // ns, the same on the clock of the stamps
	received int64   // ns
	state    quad.State
	cut      bool // a run begins here: what came before is of another segment
}

// maxWaiting bounds the samples that wait for a velocity.
const maxWaiting = 1024

// tracker turns poses into samples with velocity: the measured one, or that of an Estimator. Samples before the
// estimator's first full fit wait for it and then look back at them from there, which is within its window and thus
// long past before a prediction starts.
type tracker struct {
	estimator *estimator.Estimator
	window    float64 // s
	maxGap    float64 // s
	next      int     // index of the next pose
	last      float64 // time of the newest sample, s
	begun     bool
	waiting   []sample
	cut       bool // the sample that began a run was lost, the next one does
	gaps      int
	lost      int // samples that never had a velocity
}

func newTracker(p estimator.Params, maxGap float64) (*tracker, error) {
	e, err := estimator.New(p)
	if err != nil {
		return nil, err
	}
	return &tracker{estimator: e, window: p.Window, maxGap: maxGap}, nil
}

// add appends to out the samples that are complete once this pose is known. velocity, v_W, is nil where the pose has
// none; s has the times, the rest is filled here.
func (t *tracker) add(p so3.Vec3, q so3.Quat, velocity *so3.Vec3, s sample, out []sample) []sample {
	s.index = t.next
	t.next++
	restarts := t.estimator.Counts().Restarts()
	state, outcome := t.estimator.Add(estimator.Pose{T: s.t, P: p, Q: q})
	if outcome == estimator.Dropped {
		return out
	}
	gap := t.begun && s.t-t.last > t.maxGap
	restarted := t.estimator.Counts().Restarts() > restarts
	if gap {
		t.gaps++
	}
	t.last, t.begun = s.t, true
	s.state, s.cut = state, gap || restarted
	switch {
	case velocity != nil:
		s.state.V = *velocity
		t.forsake(len(t.waiting))
	case outcome == estimator.Warming:
		if restarted {
			t.forsake(len(t.waiting))
		} else if len(t.waiting) == maxWaiting {
			t.forsake(1)
		}
		t.waiting = append(t.waiting, s)
		return out
	default:
		out = t.lookBack(s.t, out)
	}
	return t.emit(s, out)
}

// lookBack gives the waiting samples the slope of the fit that is now full; those older than its window are lost.
func (t *tracker) lookBack(now float64, out []sample) []sample {
	old := 0
	for old < len(t.waiting) && t.waiting[old].t < now-t.window {
		old++
	}
	t.forsake(old)
	for _, s := range t.waiting {
		s.state.V = t.estimator.VelocityAt(s.t)
		out = t.emit(s, out)
	}
	t.waiting = t.waiting[:0]
	return out
}

func (t *tracker) emit(s sample, out []sample) []sample {
	s.cut = s.cut || t.cut
	t.cut = false
	return append(out, s)
}

// forsake loses the first n samples that wait.
func (t *tracker) forsake(n int) {
	for _, s := range t.waiting[:n] {
		t.cut = t.cut || s.cut
	}
	t.lost += n
	t.waiting = append(t.waiting[:0], t.waiting[n:]...)
}

// finish loses what still waits.
func (t *tracker) finish() { t.forsake(len(t.waiting)) }
