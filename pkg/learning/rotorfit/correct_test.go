package rotorfit

import (
	"math"
	"path/filepath"
	"reflect"
	"testing"

	"vnd/pkg/robot/rotors"
)

// TestCorrectionTakesAwayWhatIsLinear: models that miss a lot of a simulated robot miss less with a correction, on
// flights that it was not fitted to, and in any heading.
func TestCorrectionTakesAwayWhatIsLinear(t *testing.T) {
	const rows, steps = 40, 8
	flights := simulated(t, rows)
	m, _ := rotors.New(speeds)
	models := []*rotors.Model{m}
	for name, lags := range map[string][]int{"no history": nil, "history": {5, 10}} {
		t.Run(name, func(t *testing.T) {
			c, err := Correct(t.Context(), models, flights[:28], steps, 1, 12, lags, 1e-4)
			if err != nil {
				t.Fatal(err)
			}
			p, plain := &Predictor{Models: models, Correction: c}, &Predictor{Models: models}
			var with, without, turned [Channels]float64
			for _, f := range flights[28:] {
				add(&with, p, f, steps)
				add(&without, plain, f, steps)
				add(&turned, p, turnedWorld(f), steps)
			}
			for c, name := range Names {
				if with[c] > .7*without[c] || math.Abs(turned[c]-with[c]) > 1e-6*with[c] {
					t.Errorf("%s: %.5f, corrected %.5f, in another heading %.5f", name, without[c], with[c], turned[c])
				}
			}
			path := filepath.Join(t.TempDir(), "m.json")
			if err := Save(path, p); err != nil {
				t.Fatal(err)
			}
			if kept, err := Load(path); err != nil || !reflect.DeepEqual(kept.Correction, c) {
				t.Errorf("the correction is not kept: %v", err)
			}
		})
	}
}

// add adds the errors after the last step.
func add(sum *[Channels]float64, p *Predictor, f *rotors.Flight, steps int) {
	made := p.Predict(f, f.Starts(10, 5, steps), steps)
	for i, row := range made.Starts {
		for c, e := range Errors(&made.States[i][steps-1], &f.State[row+steps]) {
			sum[c] += e
		}
	}
}

// turnedWorld returns the flight with the world turned by a right angle about z.
func turnedWorld(f *rotors.Flight) *rotors.Flight {
	out := *f
	out.State = append([][rotors.Measured]float64{}, f.State...)
	h := math.Sqrt(.5)
	for k := range out.State {
		x := &out.State[k]
		x[0], x[1], x[7], x[8] = -x[1], x[0], -x[8], x[7]
		w, i, j, z := x[3], x[4], x[5], x[6]
		x[3], x[4], x[5], x[6] = h*(w-z), h*(i-j), h*(j+i), h*(z+w)
	}
	return &out
}
