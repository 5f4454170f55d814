package ros

import "time"

// schedule is when a timer is due, on the grid start + k·period. A late call does not move
// later ones. Periods that have passed entirely are skipped.
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

// advance goes on to the call after now, and returns when the present one was due.
func (s *schedule) advance(now Time) Time {
	expected := s.next
	late := max(now.Sub(expected), 0)
	skipped := late / s.period
	s.missed += uint64(skipped)
	s.next = expected.Add((skipped + 1) * s.period)
	return expected
}

// jump adapts the schedule to a jump of its clock. When the clock is replaced, the rest of
// the period remains. The first time of a simulation starts a new period. So does a clock
// that is set back by more than the rest of the period.
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
