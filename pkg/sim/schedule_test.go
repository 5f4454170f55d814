package sim

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"vnd/pkg/core/quad"
)

// TestSchedule: the flight changes condition when its schedule says, to the step, and over the end of the period.
func TestSchedule(t *testing.T) {
	w := shipped(t, "recurring")
	w, err := w.Scheduled([]Switch{{0, "none"}, {.5, "east"}, {.8, "none"}, {1.3, "west"}}, 2)
	if err != nil {
		t.Fatal(err)
	}
	want := []Switch{{0, "none"}, {.5, "east"}, {.8, "none"}, {1.3, "west"}, {2, "none"}, {2.5, "east"}, {2.8, "none"},
		{3.3, "west"}, {4, "none"}}
	s := mustNew(t, w)
	for run := range 2 {
		now := want[0].Condition
		next := want[1:]
		for s.Time() < 4.2 {
			// The step from here on is flown in the condition that is in force here.
			if len(next) > 0 && next[0].Start <= s.Time()+1e-9 {
				now, next = next[0].Condition, next[1:]
			}
			s.Step(quad.Command{Thrust: gravity}, .001)
			if s.Condition() != now {
				t.Fatalf("run %d at %v s: %s, expected %s", run, s.Time(), s.Condition(), now)
			}
			if acceleration, _ := s.Wind(); acceleration.X != map[string]float64{"none": 0, "east": 3,
				"west": -3}[now] {
				t.Fatalf("wind %v in %s", acceleration, now)
			}
		}
		if len(next) != 0 {
			t.Fatalf("run %d: %v are missing", run, next)
		}
		s.Reset(s.State(), 2)
	}
}

func TestOnly(t *testing.T) {
	w := shipped(t, "recurring")
	only, err := w.Only("west")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Schedule{Condition: []string{"west"}, Start: []float64{0}}, only.Schedule); diff != "" {
		t.Error(diff)
	}
	if len(w.Schedule.Start) != 8 {
		t.Error("Only changes the world that it is called on")
	}
	if _, err := w.Only("up"); err == nil {
		t.Error("an unknown condition is taken")
	}
}
