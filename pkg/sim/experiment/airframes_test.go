package experiment

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"vnd/pkg/flight/airframe"
)

// airframes are the vehicles of others in params.
func airframes(t *testing.T) []string {
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "params", "airframes", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no airframes: %v", err)
	}
	return files
}

// vehicle reads the scenarios and the airframe of a file.
func vehicle(t *testing.T, file string) ([]Scenario, airframe.Airframe) {
	t.Helper()
	scenarios, err := Scenarios(file)
	if err != nil {
		t.Fatal(err)
	}
	frame, err := airframe.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	return scenarios, frame
}

// TestAirframesAgree: a file's world and its airframe are of one vehicle, which lifts what its policies may ask for.
func TestAirframesAgree(t *testing.T) {
	for _, file := range airframes(t) {
		scenarios, frame := vehicle(t, file)
		w, r := &scenarios[0].World, &frame.Rotors
		if w.Airframe.Mass != r.Mass || w.Motor.Thrust != r.Thrust || w.Airframe.ArmX != r.ArmX ||
			w.Motor.Torque != r.Torque || [3]float64(w.Airframe.Inertia) != [3]float64(r.Inertia) {
			t.Errorf("%s: the world flies %+v with %+v, the airframe says %+v", file, w.Airframe, w.Motor, *r)
		}
		if most := 4 * r.Thrust / r.Mass; frame.Limits.MaxThrust > most {
			t.Errorf("%s: max_thrust %g, the motors give %.1f m/s²", file, frame.Limits.MaxThrust, most)
		}
	}
}

// TestSweepRAPTOR prints how RAPTOR flies airframes of others, by the thrust of its greatest action over the robot's
// weight. It flies on board, as its authors have it: its commands are not late.
// VND_TUNE=1 go test -run TestSweepRAPTOR -v ./pkg/sim/experiment.
func TestSweepRAPTOR(t *testing.T) {
	if os.Getenv("VND_TUNE") == "" {
		t.Skip("VND_TUNE is not set")
	}
	if _, err := bothTasks(t, 11).RAPTOR(); errors.Is(err, errLeftOut) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	for _, file := range airframes(t) {
		scenarios, frame := vehicle(t, file)
		c := bothTasks(t, 11)
		c.Limits, c.Rotors = frame.Limits, frame.Rotors
		for i := range scenarios {
			scenarios[i].Link.Delay = 0
		}
		for _, lift := range []float64{1.4, 1.615, 2, 2.5, 3.2, 5, math.Inf(1)} {
			if most := 4 * frame.Rotors.Thrust / (frame.Rotors.Mass * 9.81); lift > most && !math.IsInf(lift, 1) {
				continue
			}
			cfg := raptorConfig
			cfg.Lift = lift
			m := c.raptor(cfg, searchedRAPTOR)
			hover, track := c.over(t, m, scenarios, 0), c.over(t, m, scenarios, 1)
			t.Logf("%-20s lift %5.2f: hover %.4f m, figure-eight %.4f m", filepath.Base(file), lift, hover, track)
		}
	}
}

// over is the mean error of a method along a task, over scenarios: infinite where a flight crashes.
func (c *Campaign) over(t *testing.T, m Method, scenarios []Scenario, task int) (e float64) {
	t.Helper()
	for _, s := range scenarios {
		trace, err := c.Fly(m, s, c.Tasks[task], c.Seed, 12)
		if err != nil {
			t.Fatal(err)
		}
		f := trace.Measure(4)
		if f.Crash != "" {
			return math.Inf(1)
		}
		e += f.Mean / float64(len(scenarios))
	}
	return e
}
