package control

import (
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// track follows the poses of a source, their positions by an α-β filter (Benedict, Bordner 1962). It finds samples that
// are not on it: reflections, or those of a second source. One is left out while others come; where none do, the source
// has jumped, and the track goes on from there.
type track struct {
	stamp    int64    // of the newest sample on it, ns; 0 before the first
	p, v     so3.Vec3 // there, filtered; m, m/s
	q        so3.Quat // as measured there
	newest   so3.Vec3 // as measured, of the newest sample, on the track or not
	newestAt int64    // stamp of the first sample there, ns
	young    bool     // the track has one sample
	mixed    mixture
	turns    turnLeap
}

const (
	trackAlpha  = 0.7
	trackBeta   = 0.3
	offTrack    = 0.012       // m
	offSpeed    = 0.5         // m/s by which the speed may err
	offForce    = 20.0        // m/s²
	offTurn     = 0.06        // rad
	offRate     = 8.0         // rad/s
	longestSkip = int64(25e6) // ns without a sample on the track after which it jumps
	longestSame = int64(20e6) // ns for which a place that comes again says nothing
	trackGap    = int64(5e8)  // ns without a sample after which it begins anew
)

// outcome of a sample.
type outcome uint8

const (
	onTrack outcome = iota
	leftOut
	again  // left out, too, but nothing is wrong with it
	jumped // positions before say nothing of it
)

// add takes a sample in, and says whether it is on the track.
func (k *track) add(s *quad.State, stamp int64) outcome {
	before, from := k.newest, k.newestAt
	since, repeated := stamp-k.stamp, s.P == before
	if !repeated {
		k.newest, k.newestAt = s.P, stamp
	}
	if k.stamp == 0 || since <= 0 || since > trackGap || stamp <= from {
		k.newest, k.newestAt = s.P, stamp
		k.stamp, k.p, k.v, k.q, k.young = stamp, s.P, so3.Vec3{}, s.Q, true
		return onTrack
	}
	// A speed made of a pose that comes again is none, and would have the policy answer it. Rounded positions come
	// again, too, but attitudes beside them do not.
	if repeated && s.Q == k.q && stamp-from < longestSame {
		return again
	}
	dt, slope := seconds(stamp, k.stamp), s.P.Sub(before).Scale(1/seconds(stamp, from))
	if k.young {
		k.v, k.young = slope, false
	}
	expected := k.p.Add(k.v.Scale(dt))
	off := s.P.Sub(expected)
	far := off.Norm() > offTrack+offSpeed*dt+offForce*dt*dt
	turned := k.turns.add(s.Q, stamp) || so3.Log(k.q.Conj().Mul(s.Q)).Norm() > offTurn+offRate*dt
	skip := (far || turned) && since < longestSkip && !repeated // one that repeats itself is the guard's to find
	k.mixed.add(stamp, skip)
	if skip {
		return leftOut
	}
	k.stamp, k.q = stamp, s.Q
	if far {
		k.p, k.v = s.P, slope
		return jumped
	}
	k.p = expected.Add(off.Scale(trackAlpha))
	k.v = k.v.Add(off.Scale(trackBeta / dt))
	return onTrack
}

// mixture sees whether two sources take turns: samples on and off the track, again and again.
type mixture struct {
	turns int   // from a sample on the track to one off it
	last  int64 // stamp of the last turn, ns
	off   bool  // the newest sample is off
}

const (
	mixedTurns = 6          // that are no accident
	turnsApart = int64(1e8) // ns; turns further apart are
)

func (m *mixture) add(stamp int64, off bool) {
	if stamp-m.last > turnsApart || stamp < m.last {
		m.turns = 0
	}
	if off && !m.off {
		m.turns++
		m.last = stamp
	}
	m.off = off
}

// found reports whether two sources take turns at a time.
func (m *mixture) found(stamp int64) bool { return m.turns >= mixedTurns && stamp-m.last <= turnsApart }
