package closedloop

import (
	"math"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/flight/reference"
	"vnd/pkg/sim"
)

// listener hovers, and keeps what it was told.
type listener struct {
	states []quad.State
	truths []sim.Truth
}

func (l *listener) Command(_ float64, s *quad.State) quad.Command {
	l.states = append(l.states, *s)
	return quad.Command{Thrust: quad.Gravity}
}
func (l *listener) Reset()             {}
func (l *listener) Inform(t sim.Truth) { l.truths = append(l.truths, t) }

// TestControllerGetsTheEstimate: the state that a controller is given comes from the motion capture, with its noise and
// latency, and is not the true one.
func TestControllerGetsTheEstimate(t *testing.T) {
	s, _ := setup(t, new(reference.Hover), sim.Default(), 1)
	c := &listener{}
	trace, err := Fly(s, c)
	if err != nil {
		t.Fatal(err)
	}
	ready := trace.Rows[len(trace.Rows)-len(c.states):]
	if len(ready) < 40 {
		t.Fatalf("%d of %d ticks have a state", len(ready), len(trace.Rows))
	}
	for i, row := range ready {
		if c.states[i] != row.Estimate || c.states[i] == row.Truth {
			t.Fatalf("tick %d: the controller was given %+v, the estimate is %+v, the truth %+v",
				i, c.states[i], row.Estimate, row.Truth)
		}
	}
}

// TestInformedGetsTheTruth: a controller that is told the truth gets that of each tick.
func TestInformedGetsTheTruth(t *testing.T) {
	s, _ := setup(t, new(reference.Hover), sim.Default(), 0.5)
	c := &listener{}
	trace, err := Fly(s, c)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(trace.Rows); n == 0 || len(c.truths) != n {
		t.Fatalf("told %d times in %d ticks", len(c.truths), n)
	}
	for i, row := range trace.Rows {
		if got := c.truths[i]; got.State != row.Truth || got.Time != row.T {
			t.Fatalf("tick %d: told of %+v, the truth is %+v", i, got, row.Truth)
		}
	}
}

// moments returns mean and standard deviation.
func moments(x []float64) (mean, sigma float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		sigma += (v - mean) * (v - mean) / float64(len(x))
	}
	return mean, math.Sqrt(sigma)
}
