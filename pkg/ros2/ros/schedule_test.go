package ros

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Calls are on the grid, never early, and at most one in a period. Calls and missed periods
// add up to all periods that passed.
func TestScheduleKeepsToItsGrid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		period := time.Duration(rapid.Int64Range(1, 1e9).Draw(t, "period"))
		start := Time(rapid.Int64Range(0, 1e18).Draw(t, "start"))
		s := newSchedule(start, period)
		now, calls := start, uint64(0)
		for _, step := range rapid.SliceOf(rapid.Int64Range(0, 5e9)).Draw(t, "steps") {
			now = now.Add(time.Duration(step))
			passed := uint64(now.Sub(start) / period)
			if due := s.due(now); due != (passed > calls+s.missed) {
				t.Fatalf("due %v after %d periods, %d calls, %d missed", due, passed, calls, s.missed)
			}
			if !s.due(now) {
				continue
			}
			expected := s.advance(now)
			calls++
			if expected > now || expected.Sub(start)%period != 0 {
				t.Fatalf("a call at %d was expected at %d", now, expected)
			}
			if calls+s.missed != passed || s.next <= now {
				t.Fatalf("%d calls and %d missed of %d periods, next at %d, now %d", calls, s.missed, passed, s.next,
					now)
			}
		}
	})
}

func TestScheduleJumps(t *testing.T) {
	for name, c := range map[string]struct {
		next Time
		jump Jump
		want Time
	}{
		"the rest of the period remains": {1010, Jump{SimulationOn, 1004, 0}, 6},
		"what is due is due":             {1010, Jump{SimulationOff, 1020, 5000}, 5000},
		"no longer than a period":        {1010, Jump{SimulationOn, 100, 5000}, 5010},
		"the first time starts it":       {10, Jump{FirstTime, 0, 5000}, 5010},
		"set back far":                   {1010, Jump{Backward, 1004, 200}, 210},
		"set back a little":              {1010, Jump{Backward, 1009, 1001}, 1010},
	} {
		t.Run(name, func(t *testing.T) {
			s := schedule{period: 10, next: c.next}
			s.jump(c.jump)
			if s.next != c.want {
				t.Errorf("%s: next at %d, want %d", name, s.next, c.want)
			}
		})
	}
}

func TestFifo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q fifo[int]
		var model []int
		next := 0
		t.Repeat(map[string]func(*rapid.T){
			"push": func(*rapid.T) { q.push(next); model = append(model, next); next++ },
			"pop": func(t *rapid.T) {
				v, ok := q.pop()
				if ok != (len(model) > 0) || ok && v != model[0] {
					t.Fatalf("%d, %v of %v", v, ok, model)
				}
				if ok {
					model = model[1:]
				}
			},
			"": func(t *rapid.T) {
				if q.len() != len(model) {
					t.Fatalf("%d items, want %d", q.len(), len(model))
				}
			},
		})
	})
}
