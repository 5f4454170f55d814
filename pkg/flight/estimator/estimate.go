// Package estimator turns stamped poses of motion capture into states, causally: at the stamp of a pose nothing later
// is known, in training as in flight.
//
// Velocity is the slope at the newest pose of a polynomial fitted by least squares to the positions of a short window
// (Savitzky and Golay 1964 at the window's end, for stamps of any spacing). Position and attitude are the measured
// ones.
package estimator

import (
	"fmt"
	"math"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// Params of an Estimator. The defaults were chosen on real 50 Hz flights of two vehicles against a smoothed velocity.
// There, order 2 erred by 122, 123, 118 mm/s rms with 5, 6, 8 poses on one vehicle and by 100, 88, 73 mm/s on another,
// while the bias under a jerk j grows as 0.1·j·window². Order 1 was worse from 6 poses on, order 3 throughout.
type Params struct {
	Window   float64 `param:"window" default:"0.11" min:"0.01" max:"1" unit:"s" doc:"poses up to this old enter the fit: six at 50 Hz with room for jitter; at 100 Hz and more 0.08 is quicker and still quiet"`
	Order    int     `param:"order" default:"2" min:"1" max:"3" doc:"degree of the fitted polynomial"`
	MaxSpeed float64 `param:"max_speed" default:"30" min:"0.1" max:"1000" unit:"m/s" doc:"two poses further apart than this speed allows are a jump of the tracking: the fit starts anew"`
}

// DefaultParams returns the defaults that the tags of Params declare.
func DefaultParams() (p Params) {
	param.Default(&p)
	return p
}

const (
	maxOrder    = 3
	capacity    = 256  // poses kept; beyond capacity/Window (2.3 kHz by default) the window gets shorter
	minInterval = 0.01 // s; closer poses are judged for jumps as if this far apart, since stamps jitter
	lateRun     = 5    // so many poses in a row from the past mean that the clock was set back
)

// Pose is one sample of motion capture.
type Pose struct {
	T float64  // stamp, s; far from zero (an epoch) it resolves 0.2 µs, which is enough
	P so3.Vec3 // p_W, m
	Q so3.Quat // q_WB, norm 1 ± 0.01
}

// Outcome says what became of a pose.
type Outcome uint8

const (
	Dropped Outcome = iota // late, repeated or not a pose: no state
	Warming                // position and attitude are good; the velocity rests on too few poses to fly or learn by
	Ready                  // all of the state is good
)

// Counts of what was dropped and of why the fit started anew, since New.
type Counts struct {
	Invalid     int // dropped: NaN, infinite or off unit norm
	Duplicates  int // dropped: the stamp of the pose before
	Late        int // dropped: a stamp before that of the pose before
	Gaps        int // anew: no pose for longer than the window
	Jumps       int // anew: further from the pose before than MaxSpeed allows
	ClockResets int // anew: five poses in a row from the past
}

// Restarts is the number of times that the fit started anew; a state before and one after belong to different segments.
func (c Counts) Restarts() int { return c.Gaps + c.Jumps + c.ClockResets }

// Estimator turns poses into states one at a time. It allocates nothing after New and is not safe for concurrent use.
type Estimator struct {
	params Params
	ring   [capacity]Pose // the newest at ring[(first+n-1)%capacity]
	first  int
	n      int
	late   int // poses in a row with a stamp from the past
	counts Counts
	fit    fit
}

// New refuses parameters out of range.
func New(p Params) (*Estimator, error) {
	switch {
	case !(p.Window >= 0.01 && p.Window <= 1):
		return nil, fmt.Errorf("estimate: parameter window is %g s, expected 0.01 to 1", p.Window)
	case p.Order < 1 || p.Order > maxOrder:
		return nil, fmt.Errorf("estimate: parameter order is %d, expected 1 to %d", p.Order, maxOrder)
	case !(p.MaxSpeed >= 0.1 && p.MaxSpeed <= 1000):
		return nil, fmt.Errorf("estimate: parameter max_speed is %g m/s, expected 0.1 to 1000", p.MaxSpeed)
	}
	return &Estimator{params: p}, nil
}

// Counts so far.
func (e *Estimator) Counts() Counts { return e.counts }

// Add takes the next pose. Unless it is Dropped, the state is that at the pose's stamp: the measured position, the
// measured attitude with unit norm and the sign nearest to the attitude before, and the fitted velocity.
func (e *Estimator) Add(pose Pose) (quad.State, Outcome) {
	if !valid(pose) {
		e.counts.Invalid++
		return quad.State{}, Dropped
	}
	pose.Q = pose.Q.Normalize()
	if e.n > 0 && !e.follows(&pose) {
		return quad.State{}, Dropped
	}
	e.late = 0
	e.push(pose)
	e.refit()
	outcome := Warming
	oldest := e.at(0)
	if e.fit.degree == e.params.Order && pose.T-oldest.T >= e.params.Window/2 {
		outcome = Ready
	}
	return quad.State{P: pose.P, Q: pose.Q, V: e.VelocityAt(pose.T)}, outcome
}

// Restart forgets the poses: what comes next is of another track.
func (e *Estimator) Restart() { e.n = 0 }

// VelocityAt returns the slope of the present fit at t, which lies in the window of the newest pose: a non-causal look
// back, for the poses that were Warming when they came.
func (e *Estimator) VelocityAt(t float64) so3.Vec3 {
	if e.n == 0 {
		return so3.Vec3{}
	}
	return e.fit.slope((t - e.at(e.n-1).T) / e.params.Window).Scale(1 / e.params.Window)
}

// follows judges pose against the newest one: false drops it; a gap, a jump or a clock set back empties the window.
// It gives pose the sign of the attitude before.
func (e *Estimator) follows(pose *Pose) bool {
	last := e.at(e.n - 1)
	if dot(last.Q, pose.Q) < 0 {
		pose.Q = so3.Quat{W: -pose.Q.W, X: -pose.Q.X, Y: -pose.Q.Y, Z: -pose.Q.Z}
	}
	dt := pose.T - last.T
	switch {
	case dt == 0:
		e.counts.Duplicates++
		return false
	case dt < 0:
		e.late++
		if e.late < lateRun {
			e.counts.Late++
			return false
		}
		e.counts.ClockResets++
		e.n = 0
	case dt > e.params.Window:
		e.counts.Gaps++
		e.n = 0
	case pose.P.Sub(last.P).Norm() > e.params.MaxSpeed*max(dt, minInterval):
		e.counts.Jumps++
		e.n = 0
	}
	return true
}

// push appends pose and forgets those that left the window.
func (e *Estimator) push(pose Pose) {
	for e.n > 0 && (e.n == capacity || pose.T-e.at(0).T > e.params.Window) {
		e.first = (e.first + 1) % capacity
		e.n--
	}
	e.ring[(e.first+e.n)%capacity] = pose
	e.n++
}

// at returns the i-th pose of the window, 0 the oldest.
func (e *Estimator) at(i int) *Pose { return &e.ring[(e.first+i)%capacity] }

func valid(p Pose) bool {
	sum := p.T + p.P.X + p.P.Y + p.P.Z
	return !math.IsNaN(sum) && !math.IsInf(sum, 0) && math.Abs(p.Q.Norm()-1) <= quad.NormSlack
}

func dot(a, b so3.Quat) float64 { return a.W*b.W + a.X*b.X + a.Y*b.Y + a.Z*b.Z }
