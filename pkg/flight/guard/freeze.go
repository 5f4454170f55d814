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

	echoes      = 50 // samples that are remembered
	echoRepeats = 6  // times in a row that one of them came again

	tinyStep = 1e-9 // m; less is rounding
	fineStep = 1e-5 // m, of a source that has no steps: its noise repeats no height; of half an attitude, rad
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

// echo is how often a number came again that was measured a while before: a source may repeat its past, too.
type echo struct {
	repetition
	past [echoes]float64
	n    int
	fine bool // numbers differ by less than any step of a coarse source
}

// add takes in the newest. One that goes slowly back along its way without noise is no echo.
func (e *echo) add(x, stamp float64) {
	again := false
	for _, y := range e.past[:min(e.n, echoes)] {
		step := math.Abs(x - y)
		again, e.fine = again || step == 0, e.fine || step > tinyStep && step < fineStep
	}
	moved := e.n > 0 && math.Abs(x-e.past[(e.n-1)%echoes]) > leastNoise
	if e.repetition.add(again && moved, stamp); e.times == 0 {
		e.lively++
	}
	e.past[e.n%echoes] = x
	e.n++
}

// returns reports whether old ones come again that did not before.
func (e *echo) returns() bool { return e.fine && e.noisy() && e.times > 0 }

// frozen reports whether they do so for too long.
func (e *echo) frozen(now float64) bool {
	return e.returns() && e.times >= echoRepeats && e.repetition.frozen(now)
}

// known is what is known of a source whose samples follow no others.
func (e *echo) known() echo {
	return echo{repetition: e.repetition.known(), past: e.past, n: e.n, fine: e.fine}
}

// compare looks whether a pose, or its height or attitude alone, came before.
func (d *detector) compare(s *quad.State, stamp float64) {
	d.pose.add(s.P == d.same.P && s.Q == d.same.Q, stamp)
	if d.attitude.add(s.Q == d.same.Q, stamp); d.attitude.times == 0 {
		d.attitude.lively++
	}
	d.height.add(math.Abs(s.P.Z-d.same.P.Z) < tinyStep, stamp)
	d.heights.add(s.P.Z, stamp)
	d.attitudes.add(s.Q.X, stamp)
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

// frozen reports whether the source repeats itself or its past, or its height or attitude alone, and since when.
func (d *detector) frozen(now float64) (since float64, found bool) {
	if d.repeatsHeight() && d.height.frozen(now) {
		return d.height.since, true
	}
	if d.attitude.usual < mostUsual && d.attitude.noisy() && d.attitude.frozen(now) {
		return d.attitude.since, true
	}
	for _, e := range [...]*echo{&d.heights, &d.attitudes} {
		if e.frozen(now) {
			return e.since, true
		}
	}
	return d.pose.since, d.pose.frozen(now)
}

// repeatsHeight reports whether a height came again that does not of a sound source.
func (d *detector) repeatsHeight() bool {
	return d.height.times > 0 && d.heights.fine && d.height.usual < mostUsual
}

// comesAgain reports whether the newest pose, or its height, came before.
func (d *detector) comesAgain() bool {
	return d.pose.times > 0 || d.repeatsHeight() || d.heights.returns()
}

// stuck takes in that the source is known to repeat itself: that is not how it usually is.
func (d *detector) stuck() {
	d.pose.stuck, d.height.stuck, d.attitude.stuck = true, true, true
	d.heights.stuck, d.attitudes.stuck = true, true
}
