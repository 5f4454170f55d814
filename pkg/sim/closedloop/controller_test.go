package closedloop

import (
	"math"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/reference"
	"vnd/pkg/sim"
)

// listener hovers, and keeps what it was told.
type listener struct {
	states []quad.State
	winds  []so3.Vec3
}

func (l *listener) Command(_ float64, s *quad.State) quad.Command {
	l.states = append(l.states, *s)
	return quad.Command{Thrust: quad.Gravity}
}
func (l *listener) Reset()                            {}
func (l *listener) Inform(_ sim.Truth, wind so3.Vec3) { l.winds = append(l.winds, wind) }

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

// TestInformedGetsTheWind: a controller that is told the wind gets it with its direction.
func TestInformedGetsTheWind(t *testing.T) {
	w := sim.Default()
	w.Conditions = sim.Conditions{Name: []string{"wind"}, WindX: []float64{2}, WindY: []float64{-1}}
	w, err := w.Scheduled([]sim.Switch{{Start: 0, Condition: "wind"}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	s, _ := setup(t, new(reference.Hover), w, 0.5)
	c := &listener{}
	if _, err := Fly(s, c); err != nil {
		t.Fatal(err)
	}
	for i, wind := range c.winds {
		if off := wind.Sub(so3.Vec3{X: 2, Y: -1}).Norm(); !(off < 1e-9) {
			t.Fatalf("tick %d of %d: told of a wind of %v", i, len(c.winds), wind)
		}
	}
	if len(c.winds) == 0 {
		t.Error("nothing was told")
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
