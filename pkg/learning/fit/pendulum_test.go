package fit_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/learning/fit"
	"vnd/pkg/learning/openloop"
	"vnd/pkg/robot/pendulum"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// nominal is the pendulum that a prior knows of. The recorded ones have other masses.
var nominal = pendulum.Robot{Dt: 0.05, Mass: 1, Drag: 0.2}

// swing records a pendulum of a mass, kg, under a smooth random torque.
func swing(mass float64, rows int, rng *rand.Rand) []pendulum.Row {
	truth := nominal
	truth.Mass = mass
	sys, s := pendulum.New[float64](truth), []float64{rng.NormFloat64(), rng.NormFloat64()}
	torque, out := 0., make([]pendulum.Row, rows)
	for k := range out {
		torque += 0.4*rng.NormFloat64() - 0.1*torque
		out[k] = pendulum.Row{T: float64(k) * truth.Dt, State: pendulum.State{Angle: s[0], Rate: s[1]}, Torque: torque}
		sys.Step(1, s, []float64{torque}, []float64{0, 0}, s)
	}
	return out
}

// recordings of pendulums of masses, kg, as a fit and as scoring take them.
func recordings(masses []float64, rng *rand.Rand) (flat []fit.Recording, flights []openloop.Recording[pendulum.Row]) {
	const rows = 200
	for _, mass := range masses {
		name, seg := fmt.Sprintf("%g kg", mass), swing(mass, rows, rng)
		measured, actions := nominal.Flatten(seg)
		flat = append(flat, fit.Recording{Name: name, Measured: measured, Actions: actions,
			Weight: slices.Repeat([]float32{1}, rows)})
		flights = append(flights, openloop.Recording[pendulum.Row]{Name: name, Segments: [][]pendulum.Row{seg}})
	}
	return flat, flights
}

// entry is a model of the pendulum as a predictor.
func entry(name string, m *vnd.Model[float32]) openloop.EntryOf[pendulum.Row, float64, pendulum.State] {
	return openloop.EntryOf[pendulum.Row, float64, pendulum.State]{Name: name, Predictor: vnd.NewPredictor(m, nominal)}
}

// swinging is a configuration that learns the pendulum's mass in seconds.
func swinging() (c fit.Config) {
	param.Default(&c)
	c.Model.Latent, c.Model.EncoderDense, c.Model.EncoderHidden, c.Model.Hidden = 2, 16, 16, 32
	c.Model.Blocks, c.Model.DecoderHidden = 1, 16
	c.Loss.Steps, c.Loss.MMD, c.Train.Batch, c.Train.Rate = 20, .02, 64, .01
	c.Train.Updates, c.Train.Passes, c.Train.Average, c.Train.Workers = 600, 1000, .98, 2
	return c
}

// TestSecondRobotIsFittedAndScored: the code that fits and scores quadrotors learns a pendulum of a hidden mass from
// recordings, and predicts those of masses that it has not seen far better than the prior. Its bundle brings it back.
func TestSecondRobotIsFittedAndScored(t *testing.T) {
	if testing.Short() {
		t.Skip("learns for long")
	}
	rng := rand.New(rand.NewPCG(1, 2))
	learned, _ := recordings([]float64{.4, .5, .6, .7, .8, 1, 1.2, 1.4, 1.7, 2, 2.3, 2.6}, rng)
	_, unseen := recordings([]float64{.45, .65, 1.55, 2.15}, rng)
	fitted, err := fit.Run(t.Context(), swinging(), fit.KnownRobot(nominal, learned), fit.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "pendulum.vnd")
	b, err := vnd.Bundle(fitted.Model, fitted.Robot, swinging(), fitted.Metrics)
	if err == nil {
		err = bundle.Write(path, b)
	}
	if err != nil {
		t.Fatal(err)
	}
	b, err = bundle.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	back, who, err := vnd.FromBundle(b, pendulum.Reader)
	if err != nil || who != nominal {
		t.Fatalf("%+v came back with the error %v", who, err)
	}
	prior := *fitted.Model
	prior.Output, prior.BiasShare = make([]float32, 2), make([]float32, 2)
	o := openloop.Options{Dt: nominal.Dt, Stride: 3, Steps: []int{1, 10, 20}}
	report, err := openloop.ScoreOf(nominal, unseen, []openloop.EntryOf[pendulum.Row, float64, pendulum.State]{
		entry("prior", &prior), entry("fitted", fitted.Model), entry("read back", back)}, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range o.Steps {
		prior, of, again := report.Total[0][step-1], report.Total[1][step-1], report.Total[2][step-1]
		rate, angle := of.Velocity/prior.Velocity, of.Attitude/prior.Attitude
		t.Logf("after %d steps the error is %.3f of the prior's for the rate and %.3f for the angle", step, rate, angle)
		if step >= 10 && !(max(rate, angle) < 0.2) {
			t.Errorf("after %d steps %.3f and %.3f of the prior's error, expected a fifth at most", step, rate, angle)
		}
		if again != of {
			t.Errorf("read back, its error after %d steps is %+v, not %+v", step, again, of)
		}
	}
	if len(fitted.Metrics.ValidationFlights) != 1 || math.IsNaN(fitted.Metrics.Losses.Total) {
		t.Errorf("metrics %+v", fitted.Metrics)
	}
}

// TestFitRefusesRecordings: what is not of the robot, or asks for what it has not, is refused in words.
func TestFitRefusesRecordings(t *testing.T) {
	whole, _ := recordings([]float64{1}, rand.New(rand.NewPCG(1, 2)))
	short := whole[0]
	short.Actions = short.Actions[1:]
	bare := swinging()
	bare.Prior.Enabled = false
	for name, c := range map[string]struct {
		cfg  fit.Config
		data []fit.Recording
		want string
	}{
		"an action too few": {swinging(), []fit.Recording{short}, "400 measured numbers and 199 of actions"},
		"no prior":          {bare, whole, "prior.enabled"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := fit.Run(t.Context(), c.cfg, fit.KnownRobot(nominal, c.data), fit.Options{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}
