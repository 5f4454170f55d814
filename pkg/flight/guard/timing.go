package guard

import (
	"math"

	"vnd/pkg/core/so3"
)

// timing is by how much sooner the robot turns than the response says, learned by recursive least squares: turns that
// come sooner differ from those expected by as much as body rates change meanwhile. At the moment that states end, the
// attitude is off by that time, times the body rates; nothing shows it any more, and it pulls until the floor.
type timing struct {
	changed float64 // information, 1/s²
	off     float64 // 1/s
}

// What is known of it before, and its bounds: slower robots are the delay's to find.
const (
	timingMemory = 3.0   // time constant, s
	timingSpread = 0.02  // s, standard deviation
	mostSooner   = 0.05  // s
	mostLater    = 0.015 // s
)

// learn takes in what an exhibit turned beside what was expected, rad, and what commanded rates changed by, rad/s.
func (t *timing) learn(off, changed so3.Vec3, dt float64) {
	keep := math.Exp(-dt / timingMemory)
	t.changed = keep*t.changed + changed.Dot(changed)/(turnNoise*turnNoise)
	t.off = keep*t.off + changed.Dot(off)/(turnNoise*turnNoise)
}

// lead is the time, s.
func (t *timing) lead() float64 {
	return min(max(t.off/(t.changed+1/(timingSpread*timingSpread)), -mostLater), mostSooner)
}

// turnSooner has body rates follow sooner by a time, s: less of the delay is left, then less of the lag.
func (r *Response) turnSooner(by float64) {
	r.RateDelay -= by
	if r.RateDelay < 0 {
		r.RateLag, r.RateDelay = max(r.RateLag+r.RateDelay, 0), 0
	}
}
