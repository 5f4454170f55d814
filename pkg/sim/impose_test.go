package sim

import (
	"strings"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// An imposed condition acts at once and stays, whatever the schedule says, until a reset.
func TestImpose(t *testing.T) {
	w := Default()
	w.Conditions = Conditions{Name: []string{"calm", "storm", "end"}, WindX: []float64{0, 5, 9}}
	w, err := w.Scheduled([]Switch{{0, "calm"}, {0.5, "end"}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(w, 1)
	if err != nil {
		t.Fatal(err)
	}
	hover := quad.Command{Thrust: quad.Gravity}
	if err := s.Impose("storm"); err != nil {
		t.Fatal(err)
	}
	s.Step(hover, 1)
	if wind, _ := s.Wind(); s.Condition() != "storm" || wind != (so3.Vec3{X: 5}) || s.State().V.X < 1 {
		t.Errorf("%s, wind %v, %v", s.Condition(), wind, s.State().V)
	}
	if err := s.Impose("hail"); err == nil ||
		!strings.Contains(err.Error(), `no condition "hail" in this world, expected one of ["calm" "storm" "end"]`) {
		t.Error(err)
	}
	if s.Condition() != "storm" {
		t.Errorf("a refused condition changed it to %s", s.Condition())
	}
	s.Reset(s.State(), 1)
	s.Step(hover, 1)
	if s.Condition() != "end" {
		t.Errorf("after a reset the schedule ends in %s", s.Condition())
	}
}
