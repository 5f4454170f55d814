package control

import (
	"math"

	"vnd/pkg/core/so3"
)

// turnLeap finds attitudes that leap as no robot turns, and stay there: a tracker takes one marker for another, say.
// The guard sees attitudes from tick to tick, and a policy that turns quickly hides a leap of 0.15 rad there. From
// sample to sample nothing hides it. A source of less than 67 Hz, or one that is as noisy, tells nothing. The zero
// value has seen nothing.
type turnLeap struct {
	q     so3.Quat // of the newest sample, filtered
	w     so3.Vec3 // body rates there, rad/s in the body
	stamp int64    // of that sample, ns
	seen  int      // samples in a row
	usual float64  // mean square of what attitudes err by where they do not leap, rad²
	by    so3.Vec3 // rotation by which they have leapt, rad in the body; zero: they have not
	since int64    // stamp of the last sample before that, ns
}

const (
	turnAlpha     = 0.7
	turnBeta      = 0.3
	leastTurnLeap = 0.05        // rad
	turnLeapRate  = 5.0         // rad/s by which the body rates may err
	turnLeapUsual = 6.0         // times the root of usual
	usualMemory   = 200         // samples
	usualSeen     = 20          // samples, before which nothing is usual
	turnSpacing   = int64(15e6) // ns between two samples, at most
	leapBelieved  = int64(6e8)  // ns after which an attitude that stays is the guard's to believe
)

// add takes the attitude of a sample, and reports whether to leave it out: it may be a reflection.
func (k *turnLeap) add(q so3.Quat, stamp int64) bool {
	before := k.stamp
	k.stamp = stamp
	if k.seen == 0 || !(stamp > before && stamp-before <= turnSpacing) {
		k.q, k.w, k.seen = q, so3.Vec3{}, 1
		return k.young(stamp)
	}
	k.seen++
	dt := seconds(stamp, before)
	expected := k.q.Mul(so3.Exp(k.w.Scale(dt)))
	off := so3.Log(expected.Conj().Mul(q))
	n := off.Norm()
	if k.seen > usualSeen && n > max(leastTurnLeap+turnLeapRate*dt, turnLeapUsual*math.Sqrt(k.usual)) {
		k.q = q
		k.leapt(off, before, dt)
		return k.young(stamp)
	}
	k.usual += (n*n - k.usual) / float64(min(k.seen, usualMemory))
	k.q = expected.Mul(so3.Exp(off.Scale(turnAlpha)))
	k.w = k.w.Add(off.Scale(turnBeta / dt))
	return k.young(stamp)
}

// leapt takes a leap in, dt seconds after the sample before: one back, another one, or a robot that was hit, and turns.
func (k *turnLeap) leapt(off so3.Vec3, since int64, dt float64) {
	n := k.by.Norm()
	switch {
	case n > 0 && k.by.Add(off).Norm() < n/2:
		k.by = so3.Vec3{}
	case n > 0 && k.young(since):
		k.by, k.w, k.seen = so3.Vec3{}, off.Scale(1/dt), 1
	default:
		k.by, k.since = off, since
	}
}

// young reports whether attitudes have leapt so shortly before that they may soon be back.
func (k *turnLeap) young(stamp int64) bool {
	return k.by != (so3.Vec3{}) && stamp-k.since < longestSkip
}

// found reports whether attitudes have leapt and stay there. In the end the guard has to believe them.
func (k *turnLeap) found(stamp int64) bool {
	return k.by != (so3.Vec3{}) && !k.young(stamp) && stamp-k.since < leapBelieved
}
