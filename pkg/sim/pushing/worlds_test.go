package pushing

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"vnd/pkg/robot/pusher"
	"vnd/pkg/sim/mujoco"
)

// newWorlds makes worlds, or skips the test where MuJoCo is not there.
func newWorlds(t testing.TB, n int) *Worlds {
	t.Helper()
	w, err := NewWorlds(n, 1)
	if errors.Is(err, mujoco.ErrMissing) || err != nil && strings.Contains(err.Error(), "without C") {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

// push pushes boxes in the middle of a side for two seconds at 0.3 m/s, each under its own condition, and returns where
// that leads, and the mean speed of the tool in the last second.
func push(t *testing.T, conditions []Condition) (out []pusher.State, speeds []float64) {
	t.Helper()
	w := newWorlds(t, len(conditions))
	out, speeds = make([]pusher.State, len(conditions)), make([]float64, len(conditions))
	commands := make([]pusher.Command, len(conditions))
	for i, c := range conditions {
		begin := pusher.State{Tool: [2]float64{-pusher.Side/2 - pusher.ToolRadius - 0.002, 0}}
		if err := w.Begin(i, c, &begin); err != nil {
			t.Fatal(err)
		}
		commands[i] = pusher.Command{0.3, 0}
	}
	for k := range 100 {
		if err := w.Step(commands); err != nil {
			t.Fatal(err)
		}
		for i := range out {
			before := out[i].Tool[0]
			if w.State(i, &out[i]); k >= 50 {
				speeds[i] += out[i].Tool[0] - before
			}
		}
	}
	return out, speeds
}

// TestToolLagsByTheForceThatPushes: the box asks µ m g, and the tool's servo gives 100 N for each m/s that it lags.
// A tilted table adds its share of the weight.
func TestToolLagsByTheForceThatPushes(t *testing.T) {
	conditions := []Condition{{Mass: 0.2, Friction: 0.2}, {Mass: 1, Friction: 0.5}, {Mass: 2, Friction: 0.9},
		{Mass: 2, Friction: 0.5, Tilt: [2]float64{0.03, 0}}, {Mass: 2, Friction: 0.5, Tilt: [2]float64{-0.03, 0}}}
	states, speeds := push(t, conditions)
	for i, s := range states {
		c := conditions[i]
		want := 0.3 - c.Mass*9.81*(c.Friction+math.Sin(c.Tilt[0]))/100
		if got := speeds[i]; math.Abs(got-want) > 0.015 {
			t.Errorf("%+v: pushes at %.4f m/s, want %.4f m/s", c, got, want)
		}
		if off := s.Tool[0] - s.Box[0] + pusher.Side/2 + pusher.ToolRadius; math.Abs(off) > 0.003 {
			t.Errorf("%+v: tool is %.4f m off the side that it pushes", c, off)
		}
	}
	if uphill, downhill := speeds[3], speeds[4]; !(downhill > uphill+0.005) {
		t.Errorf("pushes uphill at %.4f m/s and downhill at %.4f m/s", uphill, downhill)
	}
}

func TestBoxTurnsAboutItsCentreOfMass(t *testing.T) {
	all, _ := push(t, []Condition{{Mass: 1, Friction: 0.5, Centre: [2]float64{0, 0.02}},
		{Mass: 1, Friction: 0.5, Centre: [2]float64{0, -0.02}}})
	if left, right := all[0].Box[2], all[1].Box[2]; !(left > 0.1) || !(right < -0.1) {
		t.Errorf("headings %.3f and %.3f with the centre of mass to the left and to the right, want more than 0.1 rad "+
			"towards it", left, right)
	}
}

func TestBoxStaysWhereNobodyPushes(t *testing.T) {
	w := newWorlds(t, 1)
	begin := pusher.State{Box: [3]float64{0.1, -0.2, 2.5}, Tool: [2]float64{0.4, 0.4}}
	if err := w.Begin(0, Condition{Mass: 2, Friction: 0.2, Tilt: [2]float64{0.03, 0.03}}, &begin); err != nil {
		t.Fatal(err)
	}
	var s pusher.State
	for range 50 {
		if err := w.Step(make([]pusher.Command, 1)); err != nil {
			t.Fatal(err)
		}
	}
	w.State(0, &s)
	for k := range s.Box {
		if math.Abs(s.Box[k]-begin.Box[k]) > 0.002 {
			t.Errorf("box is at %.4f, was at %.4f", s.Box, begin.Box)
		}
	}
}

func TestConditionsWithinBounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		if c := Draw(rng); c.Check() != nil {
			t.Fatal(c.Check())
		}
	}
	for _, c := range []struct {
		condition Condition
		want      string
	}{
		{Condition{Mass: 3, Friction: 0.5}, "mass of the box is 3, expected 0.2 to 2"},
		{Condition{Mass: 1, Friction: 0.1}, "friction of the box is 0.1, expected 0.2 to 1.2"},
		{Condition{Mass: 1, Friction: math.NaN()}, "friction of the box is NaN, expected 0.2 to 1.2"},
		{Condition{Mass: 1, Friction: 1, Centre: [2]float64{0, 0.1}},
			"centre of mass along y is 0.1, expected -0.02 to 0.02"},
		{Condition{Mass: 1, Friction: 1, Tilt: [2]float64{0.5, 0}},
			"tilt of the table along x is 0.5, expected -0.03 to 0.03"},
	} {
		if err := c.condition.Check(); err == nil || err.Error() != c.want {
			t.Errorf("error %q, want %q", err, c.want)
		}
	}
}
