package ros

import "time"

// schedule is when a timer is due, on the grid start + k·period: a call that
// comes late does not move those after it, and periods that have passed whole
// are skipped.
type schedule struct {
	period time.Duration
	next   Time
	missed uint64
}

// newSchedule is first due one period after now.
func newSchedule(now Time, period time.Duration) schedule {
	return schedule{period: period, next: now.Add(period)}
}

func (s *schedule) due(now Time) bool { return now >= s.next }

// advance takes the call that is due at now and returns when it should have
// been.
func (s *schedule) advance(now Time) Time {
	expected := s.next
	late := max(now.Sub(expected), 0)
	skipped := late / s.period
	s.missed += uint64(skipped)
	s.next = expected.Add((skipped + 1) * s.period)
	return expected
}

// jump keeps the schedule sensible over a jump of its clock: what remained of
// the period remains when the clock is exchanged, a clock set back by more than
// that starts a period anew, and so does the first time of a simulation, before
// which there was none.
func (s *schedule) jump(j Jump) {
	switch j.Kind {
	case SimulationOn, SimulationOff:
		s.next = j.After.Add(min(max(s.next.Sub(j.Before), 0), s.period))
	case FirstTime:
		s.next = j.After.Add(s.period)
	case Backward:
		if s.next.Sub(j.After) > s.period {
			s.next = j.After.Add(s.period)
		}
	}
}
