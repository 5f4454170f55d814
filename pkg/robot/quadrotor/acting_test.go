package quadrotor

import (
	"math"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// TestActingIsDelayedAndLagged: a step of the thrust comes out after its delay, along the lag, times the gain.
func TestActingIsDelayedAndLagged(t *testing.T) {
	a := Actuator{ThrustGain: 1.1, ThrustDelay: 2, ThrustLag: .05, RateGain: .9, RateDelay: 1}
	rows := make([]quad.Row, 40)
	for k := range rows {
		rows[k].State.Q, rows[k].Command.Thrust = so3.Identity(), 10
		if k >= 20 {
			rows[k].Command = quad.Command{Thrust: 12, Rates: so3.Vec3{Y: 1}}
		}
	}
	acting := Acting(a, .02, rows)
	if len(acting) != len(rows)-1 {
		t.Fatalf("%d commands act between %d rows", len(acting), len(rows))
	}
	for k, c := range acting[5:] {
		k += 5
		want := 11.0
		if k >= 22 {
			want += 2.2 * (1 - math.Exp(-.02*float64(k-21)/.05))
		}
		rate := 0.
		if k >= 21 {
			rate = .9
		}
		if math.Abs(c.Thrust-want) > 1e-9 || math.Abs(c.Rates.Y-rate) > 1e-9 {
			t.Errorf("row %d: thrust %.4f and rate %.4f, expected %.4f and %.4f", k, c.Thrust, c.Rates.Y, want, rate)
		}
	}
	if Acting(a, .02, rows[:1]) != nil {
		t.Error("one row has no step")
	}
}
