package experiment

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/learning/dataset"
	"vnd/pkg/learning/fit"
	"vnd/pkg/learning/fit/quadfit"
	"vnd/pkg/learning/openloop"
	"vnd/pkg/learning/smooth"
	"vnd/pkg/vnd"
)

// TestCoverage measures how often intervals of 90 % hold that simulated flights calibrate: in 17 winds, with a payload,
// a tired battery and a weak rotor. Held out are others there, in clean state. VND_COVERAGE names the states that are
// learned from, as VND_IMPERFECT does, VND_SEEDS how often.
func TestCoverage(t *testing.T) {
	faults := strings.Fields(os.Getenv("VND_COVERAGE"))
	if len(faults) == 0 {
		t.Skip("takes minutes: VND_COVERAGE=\"clean noise holes all\"")
	}
	c := hovering(t, 1)
	base, err := c.BasePolicy(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	fly := func(fault string, seed uint64) (all []quad.Flight) {
		for i, f := range in(changing(t), fault) {
			_, flight, err := c.Record(base, f, c.Tasks[0], seed<<8+uint64(i), 30)
			if err != nil {
				t.Fatal(err)
			}
			flight.Name = fmt.Sprint(flight.Name, " ", i)
			all = append(all, flight)
		}
		return all
	}
	for seed := range uint64(number("VND_SEEDS", 1)) {
		others := fly("clean", 2*seed+2)
		for _, fault := range faults {
			r, in := coverage(t, fly(fault, 2*seed+3), others)
			for _, step := range r.Options.Steps {
				x := r.Inside[0][step-1]
				t.Logf("%s, seed %d, %.1f s: %.1f %% of positions, first within %.0f mm, %.1f %% of velocities, "+
					"%.1f %% of attitudes", fault, seed+1, 0.02*float64(step), 100*x.Position,
					1000*in.Position[step-1], 100*x.Velocity, 100*x.Attitude)
			}
		}
	}
}

// coverage fits a model to flights, has those of them that were held out calibrate its interval, and scores others.
func coverage(t *testing.T, flights, others []quad.Flight) (*openloop.Report, *openloop.Interval) {
	const dt = 0.02
	var cfg fit.Config
	param.Default(&cfg)
	cfg.Train.Updates, cfg.Train.Minutes, cfg.Train.Validation = 500, 1e5, 0.3
	segments := dataset.Join(dt, dataset.FromFlights(flights))
	f, err := quadfit.Run(t.Context(), cfg, dt, segments, fit.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	e := openloop.Entry{Name: "vnd", Predictor: vnd.NewPredictor(f.Model, quadfit.Robot(f))}
	in, err := openloop.Calibrate(smooth.Flights(segments, f.Metrics.ValidationFlights), &e, 0.9, 50, 5)
	if err != nil {
		t.Fatal(err)
	}
	o := openloop.Options{Dt: dt, Stride: 5, Steps: []int{10, 25, 50},
		Intervals: map[string]*openloop.Interval{e.Name: in}}
	r, err := openloop.Score(others, []openloop.Entry{e}, o)
	if err != nil {
		t.Fatal(err)
	}
	return r, in
}
