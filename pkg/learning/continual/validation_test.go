package continual

import (
	"context"
	"math/rand/v2"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/learning/gate/quadgate"
	"vnd/pkg/robot/quadrotor"
)

// TestValidationIsTheLossOnWhatWasFlownSince: the first round has none, the next one reports the loss of the first
// round's model on the flights since.
func TestValidationIsTheLossOnWhatWasFlownSince(t *testing.T) {
	cfg := tiny()
	var seen []Status
	l, err := New(cfg, untrained(t, cfg), Options{Tasks: tasks(t), Task: "hover",
		Vehicle: quadgate.Vehicle{Robot: quadrotor.Name, Limits: limits()},
		Status:  func(s Status) { seen = append(seen, s) }})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 2 {
		rows, _ := fly(still{}, so3.Vec3{X: 0.1 * float64(n)}, 25, rand.New(rand.NewPCG(1, uint64(n))))
		l.Collect(quad.Flight{Name: "f", Segments: [][]quad.Row{rows}})
		seen = nil
		if _, err := l.Round(context.Background()); err != nil {
			t.Fatal(err)
		}
		last := seen[len(seen)-1]
		if known := last.Validation > 0; last.Phase != Idle || known != (n > 0) {
			t.Errorf("round %d ends with %+v", n+1, last)
		}
	}
}
