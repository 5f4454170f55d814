package openloop

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/vnd/bundle"
)

// pushed are flights that a wind pushes, another one in each, as the prior predicts them without it.
func pushed(n int, seed uint64) (out []quad.Flight) {
	rng := rand.New(rand.NewPCG(seed, 1))
	for i := range n {
		wind, s := so3.Vec3{X: rng.NormFloat64(), Y: rng.NormFloat64()}, quad.State{Q: so3.Identity()}
		var rows []quad.Row
		for k := range 300 {
			row := quad.Row{T: 0.02 * float64(k), State: s, Command: quad.Command{Thrust: quad.Gravity}}
			rows = append(rows, row)
			s = push(rigidStep(s, row.Command, 0.02), wind.Scale(0.02), 0.02)
		}
		out = append(out, quad.Flight{Name: fmt.Sprint(i), Segments: [][]quad.Row{rows}})
	}
	return out
}

// TestIntervalsHoldOnOtherFlights: of flights like those that calibrate them, 90 % of predictions are inside. Where
// errors of a flight are all alike, somewhat more are, since misses teach faster than hits.
func TestIntervalsHoldOnOtherFlights(t *testing.T) {
	e := Entry{Name: NamePrior, Predictor: Prior{0.02}}
	in, err := Calibrate(pushed(200, 1), &e, 0.9, 25, 40)
	if err != nil || in.Flights != 200 || in.Windows != 200*7 || len(in.Position) != 25 {
		t.Fatalf("%+v, %v", in, err)
	}
	// Of two axes of N(0, 1): the 90 % quantile of the wind is 2.15 m/s².
	if want := 2.15 * 0.5; math.Abs(in.Velocity[24]/want-1) > 0.15 {
		t.Errorf("velocities after 0.5 s are within %.3f m/s, expected %.3f", in.Velocity[24], want)
	}
	o := Options{Dt: 0.02, Stride: 40, Steps: []int{10, 25}, Intervals: map[string]*Interval{NamePrior: in}}
	r, err := Score(pushed(300, 2), []Entry{e, {Name: NameRecentMean, Predictor: RecentMean{0.02}}}, o)
	if err != nil {
		t.Fatal(err)
	}
	if share := r.Inside[0][24].Position; math.Abs(share-0.93) > 0.04 || r.Inside[1] != nil {
		t.Errorf("%.3f of the positions are inside, expected 0.9; without an interval %v", share, r.Inside[1])
	}
	var text bytes.Buffer
	if err := r.WriteIntervals(&text); err != nil || strings.Count(text.String(), "within") != 4 ||
		!strings.Contains(text.String(), "\n  0.5 s: 95 % of the positions are within 267 mm at first, ") {
		t.Errorf("%q, %v", text.String(), err)
	}
	if b, err := r.MarshalJSON(); err != nil || !strings.Contains(string(b), `"inside":{"prior":{"position_m":[0.`) {
		t.Errorf("%s, %v", b, err)
	}
	if in, err := Calibrate(nil, &e, 0.9, 25, 40); in != nil || err != nil {
		t.Errorf("of nothing: %+v, %v", in, err)
	}
}

// TestIntervalsFollowTheFlight: where errors are twice what they were in flights that calibrated it, or half, an
// interval is soon right. Nothing is known of a prediction before its time has come.
func TestIntervalsFollowTheFlight(t *testing.T) {
	const steps, stride = 25, 5
	in := &Interval{Level: 0.9, Position: slices.Repeat([]float64{1.645}, steps),
		Velocity: slices.Repeat([]float64{1.645}, steps), Attitude: slices.Repeat([]float64{1.645}, steps)}
	for _, scale := range []float64{0.5, 1, 2} {
		rng := rand.New(rand.NewPCG(1, 1))
		along, share := in.follow(steps, stride), 0.
		for i := range 400 {
			one := make(Curve, steps)
			for h := range one {
				one[h] = Error{math.Abs(scale * rng.NormFloat64()), 0, 9}
			}
			now := along.add(one)
			if i >= 100 {
				share += now[steps-1].Position / 300
			}
			if early := i < steps/stride; along.grown[steps-1].Attitude > 0 == early {
				t.Fatalf("prediction %d: the radius has grown by %.2f", i, along.grown[steps-1].Attitude)
			}
		}
		if math.Abs(share-0.9) > 0.04 {
			t.Errorf("errors times %g: %.3f are inside, expected 0.9", scale, share)
		}
	}
}

// TestQuantile: of n draws and the one to come.
func TestQuantile(t *testing.T) {
	for _, c := range []struct {
		n    int
		want float64
	}{{1, 1}, {8, 8}, {9, 9}, {10, 10}, {19, 18}, {99, 90}} {
		var x []float64
		for i := range c.n {
			x = append(x, float64(c.n-i))
		}
		if got := quantile(x, 0.9); got != c.want {
			t.Errorf("of 1 to %d: %g, expected %g", c.n, got, c.want)
		}
	}
}

// TestIntervalOfABundle: what SetMetrics puts there comes back, and what is none is refused.
func TestIntervalOfABundle(t *testing.T) {
	var b bundle.Bundle
	if in, err := intervalOf(&b); in != nil || err != nil {
		t.Errorf("of an empty bundle: %+v, %v", in, err)
	}
	for _, c := range []struct {
		section any
		want    string // in the error; empty: none
	}{
		{Interval{Level: 0.9, Position: []float64{1}, Velocity: []float64{2}, Attitude: []float64{3}}, ""},
		{Interval{Level: 0.9, Position: []float64{1}}, "radii of 1, 0 and 0 steps"},
		{"wide", "metrics, interval: "},
	} {
		if err := b.SetMetrics(IntervalMetrics, c.section); err != nil {
			t.Fatal(err)
		}
		in, err := intervalOf(&b)
		if c.want == "" && (err != nil || in.Velocity[0] != 2) || c.want != "" && (err == nil ||
			!strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v: %+v, %v", c.section, in, err)
		}
	}
}
