package guard

import (
	"math"

	"vnd/pkg/core/quad"
)

// repetition is how often something came again, under stamps of its own.
type repetition struct {
	since  float64 // stamp of the first, s
	until  float64 // stamp of the last one like it, s
	times  int     // beside the first
	stuck  bool    // too often
	usual  float64 // for how long it comes again of a source that is coarse, s
	lively int     // times that it did not of a robot that stands
}

const (
	frozenFor     = 0.055 // s without any change
	frozenRepeats = 4
	coarseTimes   = 3    // times as long as usual
	maxUsual      = 0.15 // s
	mostUsual     = 0.03 // s for which heights of a source come again that has no steps
	livelyProof   = 250  // times that prove a source to have noise
	leastNoise    = 1e-6 // m

	tinyStep = 1e-9 // m; less is rounding
	fineStep = 1e-5 // m, of a source that has no steps: its noise repeats no height
)

// known is what is known of a source whose samples follow no others.
func (r *repetition) known() repetition { return repetition{usual: r.usual, lively: r.lively} }

// add takes in whether a sample is like the one before.
func (r *repetition) add(same bool, stamp float64) {
	if same && stamp >= r.since {
		r.times++
		r.until = stamp
		return
	}
	if r.times > 0 {
		r.lively = 0
		if !r.stuck {
			r.usual = min(max(r.usual, r.until-r.since), maxUsual)
		}
	}
	r.since, r.times, r.stuck = stamp, 0, false
}

// stands takes in that the newest sample was of a robot that stands.
func (r *repetition) stands() {
	if r.times > 0 {
		return
	}
	if r.lively++; r.noisy() {
		r.usual = 0
	}
}

// noisy reports whether it does not come again even of a robot that stands.
func (r *repetition) noisy() bool { return r.lively >= livelyProof }

// frozen reports whether it came again for too long. It never does of a robot in the air, unless the source is coarse:
// then it did so before, if only of a robot that stood.
func (r *repetition) frozen(now float64) bool {
	return r.times >= frozenRepeats && now-r.since >= max(frozenFor, coarseTimes*r.usual)
}

// compare looks whether a pose, or its height alone, came before.
func (d *detector) compare(s *quad.State, stamp float64) {
	for i := 0; i < d.n && !d.fine; i++ {
		step := math.Abs(s.P.Z - d.at(i).p.Z)
		d.fine = step > tinyStep && step < fineStep
	}
	d.pose.add(s.P == d.same.P && s.Q == d.same.Q, stamp)
	if d.attitude.add(s.Q == d.same.Q, stamp); d.attitude.times == 0 {
		d.attitude.lively++
	}
	d.height.add(math.Abs(s.P.Z-d.same.P.Z) < tinyStep, stamp)
	d.step = s.P.Sub(d.same.P).Norm()
	d.same = *s
}

// stands takes in that the newest sample was of a robot that stands. One that trembles in a simulator shows no noise.
func (d *detector) stands() {
	if d.step < leastNoise {
		return
	}
	d.pose.stands()
	d.height.stands()
}

// frozen reports whether the source repeats itself, or its height or attitude alone, and since when.
func (d *detector) frozen(now float64) (since float64, found bool) {
	if d.repeatsHeight() && d.height.frozen(now) {
		return d.height.since, true
	}
	if d.attitude.usual < mostUsual && d.attitude.noisy() && d.attitude.frozen(now) {
		return d.attitude.since, true
	}
	return d.pose.since, d.pose.frozen(now)
}

// repeatsHeight reports whether a height came again that does not of a sound source.
func (d *detector) repeatsHeight() bool {
	return d.height.times > 0 && d.fine && d.height.usual < mostUsual
}
