package experiment

import (
	"testing"

	"vnd/pkg/flight/airframe"
	"vnd/pkg/learning/task"
	"vnd/pkg/sim"
)

// TestEvaluationCountsLandingsApart: those of the policy are not those of the law, which lands where an untrained
// policy does not.
func TestEvaluationCountsLandingsApart(t *testing.T) {
	frame, err := airframe.Load("")
	if err != nil {
		t.Fatal(err)
	}
	e := &Evaluation{Task: task.Land, Bundle: idle(t, landing(t)), Airframe: &frame, Flights: 2, Seconds: 9, Seed: 1}
	row, first, err := e.Fly(Scenario{World: sim.Default(), Name: "calm"})
	if err != nil {
		t.Fatal(err)
	}
	if row.Landed == nil || *row.Landed != 0 || row.Landings.Landed != 0 || len(row.Landings.Missed) != 2 ||
		*row.LawLanded != 2 || first == nil || row.Mean == row.Law {
		t.Errorf("%+v, %+v", row, row.Landings)
	}
}
