package closedloop

import (
	"math"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// TestRecoveries: an error that jumps to 0.5 m at each switch and falls by 1 m/s
// to its steady 0.1 m is back within the envelope after 0.4 s, and within 2 cm
// more after 0.38 s.
func TestRecoveries(t *testing.T) {
	trace := &Trace{}
	for k := range 3000 {
		since := float64(k%1000) / 100
		e := 0.1
		if k >= 1000 {
			e = max(0.1, 0.5-since)
		}
		trace.Rows = append(trace.Rows, TraceRow{T: float64(k) / 100, Condition: []string{"calm", "east",
			"calm"}[k/1000],
			Truth: quad.State{P: so3.Vec3{X: e}}})
	}
	rec := trace.Recoveries(4)
	if len(rec) != 2 {
		t.Fatalf("%d switches, want 2", len(rec))
	}
	for _, r := range rec {
		if math.Abs(r.Envelope-0.1) > 1e-9 || math.Abs(r.Peak-0.5) > 1e-9 || math.Abs(r.Literal-0.4) > 0.011 ||
			math.Abs(r.Wide-0.38) > 0.011 {
			t.Errorf("%+v", r)
		}
	}
	if rec[0].From != "calm" || rec[0].To != "east" || rec[0].Time != 10 {
		t.Errorf("%+v", rec[0])
	}
	trace.Rows[1999].Truth.P.X = 9 // at the end of the wind: the envelope takes it in
	if rec := trace.Recoveries(4); rec[0].Envelope != 9 || rec[0].Literal != 0 {
		t.Errorf("%+v", rec[0])
	}
}

// TestWithinWantsTheErrorsToStay: an error that leaves the bound again counts from its return, one at the end never.
func TestWithinWantsTheErrorsToStay(t *testing.T) {
	for _, c := range []struct {
		name   string
		errors []float64
		want   float64
	}{
		{"always", []float64{0.1, 0.1, 0.1}, 0},
		{"from the second on", []float64{0.5, 0.1, 0.1}, 1},
		{"left again", []float64{0.1, 0.5, 0.1}, 2},
		{"never", []float64{0.1, 0.1, 0.5}, math.MaxFloat64},
	} {
		t.Run(c.name, func(t *testing.T) {
			trace := &Trace{Rows: make([]TraceRow, len(c.errors))}
			for i := range trace.Rows {
				trace.Rows[i].T = float64(i)
			}
			if got := trace.within(0, c.errors, 0.2); got != c.want {
				t.Errorf("within the bound after %g s, want %g", got, c.want)
			}
		})
	}
}
