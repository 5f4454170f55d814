package sim

import (
	"fmt"
	"math"
	"slices"
)

// Schedule says when which condition sets in. Both lists have one element per entry; a condition may come again.
type Schedule struct {
	Condition []string  `param:"condition" default:"" doc:"names of conditions, in order; none stays in the first of conditions.name"`
	Start     []float64 `param:"start" default:"" min:"0" max:"1e6" unit:"s" doc:"times at which they set in, the first 0"`
	Period    float64   `param:"period" default:"0" min:"0" max:"1e6" unit:"s" doc:"time after which the schedule begins again; 0 stays in the last"`
}

// shortest is the least time for which a condition lasts, s.
const shortest = 0.01

// Switch is the beginning of a condition.
type Switch struct {
	Start     float64 // s
	Condition string
}

func (w *World) checkSchedule() error {
	p := &w.Schedule
	if n := len(p.Condition); len(p.Start) != n {
		return &fault{[]string{"schedule.start", "schedule.condition"},
			fmt.Sprintf("schedule.start has %d elements, expected one for each of the %d of schedule.condition",
				len(p.Start), n)}
	}
	names := w.Names()
	for i, c := range p.Condition {
		switch {
		case !slices.Contains(names, c):
			return faulty("schedule.condition", "element %d: no condition %q, expected one of %q", i, c, names)
		case i == 0 && p.Start[0] != 0:
			return faulty("schedule.start", "begins at %v s, expected 0.0: something is always in force", p.Start[0])
		case i > 0 && p.Start[i] < p.Start[i-1]+shortest:
			return faulty("schedule.start", "element %d at %v s overlaps element %d at %v s, expected at least %v "+
				"s after it", i, p.Start[i], i-1, p.Start[i-1], shortest)
		}
	}
	if n := len(p.Start); p.Period > 0 && (n == 0 || p.Period < p.Start[n-1]+shortest) {
		return faulty("schedule.period", "%v s overlaps the schedule, expected at least %v s after its last start",
			p.Period, shortest)
	}
	return nil
}

// Names returns the names of the world's conditions, at least one.
func (w *World) Names() []string {
	if len(w.Conditions.Name) == 0 {
		return []string{"default"}
	}
	return slices.Clone(w.Conditions.Name)
}

// Only returns the world without its schedule and for ever in one of its conditions.
func (w World) Only(condition string) (World, error) {
	return w.Scheduled([]Switch{{0, condition}}, 0)
}

// Scheduled returns the world with another schedule, which begins again after a period in s unless that is 0. It
// refuses what Check refuses.
func (w World) Scheduled(switches []Switch, period float64) (World, error) {
	w.Schedule = Schedule{Period: period}
	for _, s := range switches {
		w.Schedule.Condition = append(w.Schedule.Condition, s.Condition)
		w.Schedule.Start = append(w.Schedule.Start, s.Start)
	}
	return w, w.Check()
}

// schedule walks through the entries.
type schedule struct {
	conditions []condition
	order      []int // indices into conditions
	start      []float64
	period     float64
	entry      int     // in force
	round      float64 // periods gone
	nextAt     float64 // s, +Inf when nothing comes
}

func newSchedule(w *World) schedule {
	s := schedule{conditions: w.Conditions.rows(), start: w.Schedule.Start, period: w.Schedule.Period}
	names := w.Names()
	for _, c := range w.Schedule.Condition {
		s.order = append(s.order, slices.Index(names, c))
	}
	if len(s.order) == 0 {
		s.order, s.start = []int{0}, []float64{0}
	}
	return s
}

// begin returns the first condition.
func (s *schedule) begin() int {
	s.entry, s.round = 0, 0
	s.plan()
	return s.order[0]
}

// due returns the condition that sets in by t, if one does.
func (s *schedule) due(t float64) (condition int, ok bool) {
	const rounding = 1e-9 // s
	for s.nextAt <= t+rounding {
		condition, ok = s.advance(), true
	}
	return condition, ok
}

// advance moves on to the next entry and returns its condition.
func (s *schedule) advance() int {
	if s.entry++; s.entry == len(s.order) {
		s.entry = 0
		s.round++
	}
	s.plan()
	return s.order[s.entry]
}

// plan finds when the entry in force ends.
func (s *schedule) plan() {
	switch {
	case s.entry+1 < len(s.order):
		s.nextAt = s.round*s.period + s.start[s.entry+1]
	case s.period > 0:
		s.nextAt = (s.round + 1) * s.period
	default:
		s.nextAt = math.Inf(1)
	}
}
