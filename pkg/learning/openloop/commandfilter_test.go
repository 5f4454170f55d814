package openloop

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// jump commands a on the first rows and b from row k on.
func jump(n, k int, a, b quad.Command) []quad.Row {
	rows := make([]quad.Row, n)
	for i := range rows {
		if rows[i].Command = a; i >= k {
			rows[i].Command = b
		}
	}
	return rows
}

// TestFilterJump compares the answer to a jump with its closed form: 1 − exp(−t/τ), delayed.
func TestFilterJump(t *testing.T) {
	a := quad.Command{Thrust: 2, Rates: so3.Vec3{X: -1}}
	b := quad.Command{Thrust: 4, Rates: so3.Vec3{X: 3}}
	act := CommandFilter{ThrustGain: 0.5, RateGain: 2, RateDelay: 2.25, ThrustLag: 0.1, RateLag: 0.05, Dt: dt}
	for i, row := range act.Filter(jump(40, 10, a, b)) {
		n := float64(i - 10 + 1) // steps of the new command so far
		thrust := 1.0
		if n > 0 {
			thrust = 2 - math.Exp(-n*dt/0.1)
		}
		rate := -2.0
		lagged := func(n float64) float64 { return 1 - math.Exp(-math.Max(0, n)*dt/0.05) }
		rate += 8 * (0.75*lagged(n-2) + 0.25*lagged(n-3))
		if math.Abs(row.Command.Thrust-thrust) > 1e-12 || math.Abs(row.Command.Rates.X-rate) > 1e-12 {
			t.Errorf("row %d: %g, %g, want %g, %g", i, row.Command.Thrust, row.Command.Rates.X, thrust, rate)
		}
	}
}

// TestFilterCausal: what comes later changes nothing before, and states pass untouched.
func TestFilterCausal(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		act := CommandFilter{
			ThrustGain: rapid.Float64Range(0.5, 2).Draw(rt, "gT"), RateGain: rapid.Float64Range(0.5, 2).Draw(rt, "gw"),
			RateDelay: rapid.Float64Range(0, 5).Draw(rt, "dw"), ThrustLag: rapid.Float64Range(0, 0.3).Draw(rt, "tT"),
			RateLag: rapid.Float64Range(0, 0.3).Draw(rt, "tw"), Dt: dt,
		}
		rows := flown(30, 0, weaving, so3.Vec3{})
		k := rapid.IntRange(1, 29).Draw(rt, "k")
		before := act.Filter(rows)
		for i := k; i < len(rows); i++ {
			rows[i].Command = quad.Command{Thrust: 99, Rates: so3.Vec3{X: 99}}
		}
		for i, row := range act.Filter(rows) {
			if i < k && row != before[i] {
				rt.Fatalf("row %d changed with the commands from row %d on", i, k)
			}
			if row.State != rows[i].State || row.T != rows[i].T {
				rt.Fatalf("row %d: the state changed", i)
			}
		}
	})
}

// The filter of a made-up world is found, and exactly.
func TestFitCommandFilterFindsTheActuator(t *testing.T) {
	truth := CommandFilter{ThrustGain: 0.92, RateGain: 1.1, RateDelay: 1, ThrustLag: 0.1, RateLag: 0.02, Dt: dt}
	var flights []quad.Flight
	for i := range 3 {
		command := func(k int) quad.Command { return weaving(37*i + 2*k) }
		rows := make([]quad.Row, 300)
		for k := range rows {
			rows[k].Command = command(k)
		}
		arrived := truth.Filter(rows)
		world := flown(300, 0, func(k int) quad.Command { return arrived[k].Command }, so3.Vec3{})
		for k := range world {
			world[k].Command = command(k)
		}
		flights = append(flights, quad.Flight{Name: "f", Segments: [][]quad.Row{world}})
	}
	got, err := FitCommandFilter(dt, flights)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(got.ThrustGain-truth.ThrustGain) > .02 || math.Abs(got.RateGain-truth.RateGain) > .02 ||
		math.Abs(got.ThrustLag-truth.ThrustLag) > .02 {
		t.Errorf("got %+v, want %+v", got, truth)
	}
	// Delay and lag of the rates can stand in for each other; together they are how late the rates come.
	late := func(a CommandFilter) float64 { return a.RateDelay*dt + a.RateLag }
	if math.Abs(late(got)-late(truth)) > .01 {
		t.Errorf("rates %g s late, want %g s", late(got), late(truth))
	}
	nominal := CommandFilter{ThrustGain: 1, RateGain: 1, Dt: dt}
	if got, was := priorCost(flights, got), priorCost(flights, nominal); got > 0.01*was {
		t.Errorf("cost %g, nominal %g: want it a hundred times lower", got, was)
	}
}
