package armcontrol

import (
	"fmt"
	"math"

	"vnd/pkg/robot/arm"
)

// leaps is what is wrong with the time of a state after the last one; "" for nothing.
func (l *Loop) leaps(t float64) string {
	if since := t - l.last; !l.unseen && !(since >= 0 && since <= leap) {
		return fmt.Sprintf("the clock was set: joint states came %.3f s after the last, expected 0 to %g", since, leap)
	}
	return ""
}

// jumps is which joint moved further than one can since the last state that was believed; "" for none. After a clock
// was set back nobody knows.
func (l *Loop) jumps(t float64, s *arm.State) string {
	since := t - l.last
	if since < 0 {
		return ""
	}
	for j, link := range l.chain.Links {
		if d := math.Abs(s.Q[j] - l.state.Q[j]); !(d <= 2*link.Speed*since+slack) {
			return fmt.Sprintf("joint %d jumps by %.3f rad in %.3f s", j+1, d, since)
		}
	}
	return ""
}

// wrong is what is wrong with the state; "" for nothing.
func (l *Loop) wrong() string {
	for j, link := range l.chain.Links {
		v := l.state.V[j]
		q := l.state.Q[j] + v*l.dt + v*math.Abs(v)/(2*brake)
		if lo, hi := link.Min+l.config.Margin, link.Max-l.config.Margin; !(q >= lo && q <= hi) {
			return fmt.Sprintf("joint %d is to stop at %.3f rad, expected %.3f to %.3f", j+1, q, lo, hi)
		}
		if most := l.config.Speed * link.Speed; !(math.Abs(v) <= most) {
			return fmt.Sprintf("joint %d turns with %.2f rad/s, expected at most %.2f", j+1, v, most)
		}
	}
	if !(l.distance <= l.config.Error) {
		return fmt.Sprintf("the tool is %.3f m off its reference, expected at most %g", l.distance, l.config.Error)
	}
	return ""
}

// ticks on end that two joint states disagree are no matter of a single bad one.
const ticks = 3

// rates is which joint turns otherwise than it says, by its angles since the last state; "" for none. Angles are
// believed: the rates that they show take the place of those that they deny, or the law would have nothing to brake by.
func (l *Loop) rates(t float64, s *arm.State) (why string) {
	const noise, slow = 0.002, 0.3 // rad, rad/s
	since := t - l.last
	if l.unseen || !(since > 0 && since <= 3*l.dt) {
		return ""
	}
	shown := s.V
	for j := range shown {
		shown[j] = (s.Q[j] - l.state.Q[j]) / since
		if off := math.Abs(shown[j] - s.V[j]); !(off*since <= noise+since*(slow+brake*since)) && why == "" {
			why = fmt.Sprintf("joint %d turns with %.3g rad/s by its rate, with %.3g by its angles", j+1, s.V[j],
				shown[j])
		}
	}
	if l.denied++; why == "" && l.denied <= ticks {
		l.denied = 0
	}
	if l.denied < ticks {
		return ""
	}
	s.V = shown
	return why
}

// frozen is "", unless no joint moves by a digit while they are to. Something holds the arm, or what tells its angles:
// the law would push ever harder.
func (l *Loop) frozen(s *arm.State) string {
	const slow = 0.05 // rad/s
	fastest := 0.
	for _, v := range l.to.V {
		fastest = max(fastest, math.Abs(v))
	}
	if l.same++; s.Q != l.state.Q || fastest < slow {
		l.same = 0
	}
	if l.same < ticks {
		return ""
	}
	return "joint states stay the same while the arm is to move"
}
