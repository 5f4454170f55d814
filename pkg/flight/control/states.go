package control

import (
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/estimator"
	"vnd/pkg/flight/inertial"
)

// states is the robot's state, made of samples, on the loop's clock.
type states struct {
	estimator   *estimator.Estimator
	origin      int64 // ns; times below count from here
	originKnown bool
	state       quad.State // newest whole one
	stamp       int64      // of state, ns
	ready       bool       // there was one
	moved       quad.State // newest one whose pose did not come before
	movedAt     int64      // its stamp, ns
	pose        quad.State // newest pose as measured
	before      int        // samples in a row from before it
	ticked      int64      // time of the last tick, ns; 0 before the first
	came        int64      // by when samples have come, ns; 0: not known
	setBack     int64      // what the clock read when it had been set back, ns; 0: never
	clock       stampClock
	commonStep  commonStep
	leap        leap
	track       track
	turnClock   turnClock
	validity    Validity                   // about the newest sample
	filter      *inertial.CommandEstimator // of the state that the policy sees; nil: none
}

// AddSample takes a sample and reports whether the state is now that of its stamp. An invalid sample is dropped.
func (l *Loop) AddSample(m *Sample) bool {
	l.SetOrigin(m.Stamp)
	shifted, shift := *m, l.clock.shift
	if by := l.commonStep.match(m.Stamp); by != 0 {
		l.setForward(by)
	}
	shifted.Stamp = l.clock.correct(m.Stamp, l.ticked)
	if m = &shifted; l.clock.shift != shift {
		l.restart()
		l.commonStep.by = 0
		if l.clock.shift < shift { // stamps run on: to the guard the time seems to have passed
			l.guard.Redate()
		}
	}
	if l.validity = l.config.validity(m, l.seq > 0, l.pose.P.Z); l.validity != Valid {
		return false
	}
	if l.early(m.Stamp) || l.leap.alone(m.Stamp, l.came) {
		l.validity = Early
		return false
	}
	s := m.State
	if l.config.Source == FromOdometry {
		if l.late(m.Stamp) {
			return false
		}
		if l.track.turns.add(s.Q, m.Stamp) {
			l.validity = OffTrack
			return false
		}
	} else {
		switch l.track.add(&s, m.Stamp) {
		case leftOut:
			l.validity = OffTrack
			return false
		case again:
			return false
		case jumped:
			l.estimator.Restart()
		}
		l.filtered(&s, m.Stamp)
		var outcome estimator.Outcome
		s, outcome = l.estimator.Add(estimator.Pose{T: seconds(m.Stamp, l.origin), P: s.P, Q: s.Q})
		if outcome != estimator.Ready {
			return false
		}
	}
	if l.rotors != nil {
		l.rotors.turned(&s, m.Stamp)
	}
	l.followTurns(s.Q, m.Stamp)
	l.state, l.stamp, l.ready = s, m.Stamp, true
	if m.State.P != l.pose.P || m.State.Q != l.pose.Q {
		l.pose, l.moved, l.movedAt = m.State, s, m.Stamp
	}
	return true
}

// followTurns compares turns with the body rates commanded, of a robot that flies by them.
func (l *Loop) followTurns(q so3.Quat, stamp int64) {
	switch {
	case l.predictor != nil || l.rotors != nil:
	case l.notOffboard || !l.config.Guard.Flying(&l.state):
		l.turnClock = turnClock{}
	default:
		l.turnClock.add(seconds(stamp, l.origin), q, l.guard.Turning)
	}
}

// filtered hands the filter a pose of a robot that flies by what was commanded.
func (l *Loop) filtered(s *quad.State, stamp int64) {
	switch {
	case l.filter == nil:
	case l.notOffboard || !l.config.Guard.Flying(s):
		l.filter.Restart()
	default:
		l.filter.AddPose(inertial.Pose{T: seconds(stamp, l.origin), P: s.P, Q: s.Q},
			seconds(max(l.came, l.ticked, stamp), l.origin))
	}
}

// late reports whether a sample is of the past, but not of a clock that was set back: that shows in many in a row.
func (l *Loop) late(stamp int64) bool {
	const second, run = 1e9, 5
	if !l.ready || stamp > l.stamp {
		l.before = 0
		return false
	}
	l.before++
	return l.stamp-stamp < second && l.before < run
}

// SamplesCame says by when (ns) the samples have come that are added next, by the loop's clock and by one that nobody
// sets. Who has been waiting takes several at once, the newest of them long after the last tick: they are not of the
// future.
func (l *Loop) SamplesCame(now, steady int64) {
	l.reads(now)
	l.came = now
	l.commonStep.look(now, steady, int64(l.config.Guard.MaxGap*1e9))
}

// early reports whether a sample is from the future, or was under way when the clock was set back.
func (l *Loop) early(stamp int64) bool {
	now := max(l.ticked, l.came)
	if l.setBack != 0 && now-l.setBack < underWay && stamp-now > l.clock.usual+leastLeap {
		return true
	}
	return l.ticked != 0 && stamp-now > maxEarly
}

// underWay is how long after a step of the clock samples may come from before it, ns. Where the stamps' own clock was
// not set, stampClock has found the step by then.
const underWay = int64(300e6)

// reads looks at what the clock reads. Where it was set back, the newest state gets the age that samples usually have:
// by its own stamp it would be of the future, and what comes after it of the past.
func (l *Loop) reads(now int64) {
	last := max(l.ticked, l.came)
	if now >= last-leastLeap {
		return
	}
	l.setBack, l.ticked = now, now
	if l.came != 0 {
		l.came = now
	}
	if by := l.stamp - now - min(l.clock.usual, 0); by > 0 {
		l.stamp, l.movedAt = l.stamp-by, l.movedAt-by
	}
	l.restart()
}

// setForward has the state's and the guard's times follow a clock that was set forward by so many ns, with that of the
// stamps. The task goes by the clock.
func (l *Loop) setForward(by int64) {
	l.stamp, l.movedAt, l.lastStamp, l.seenAt = l.stamp+by, l.movedAt+by, l.lastStamp+by, l.seenAt+by
	l.restart()
	if l.rotors != nil {
		l.rotors.wasAt += by
	}
	step, now := seconds(by, 0), seconds(l.came, l.origin)
	l.guard.ShiftTimes(step, now)
	if l.predictor != nil {
		l.predictor.ShiftTimes(step, now)
	}
}

// restart has what is made of several samples begin anew.
func (l *Loop) restart() {
	l.estimator.Restart()
	l.track, l.leap = track{}, leap{}
	if l.filter != nil {
		l.filter.Restart()
	}
}

// SetOrigin has a loop without samples count its times from the second of an instant, ns: that of the first sample,
// where the sample itself is not at hand.
func (l *Loop) SetOrigin(ns int64) {
	if !l.originKnown {
		const second = 1e9
		l.origin, l.originKnown = ns-ns%second, true
	}
}

// Counts of the estimator.
func (l *Loop) Counts() estimator.Counts { return l.estimator.Counts() }

// Validity is that of the sample that AddSample took last.
func (l *Loop) Validity() Validity { return l.validity }
