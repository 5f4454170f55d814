package quadfit

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/learning/dataset"
	"vnd/pkg/learning/fit"
	"vnd/pkg/nn/nets"
	"vnd/pkg/robot"
	"vnd/pkg/robot/pendulum"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd"
)

// quick is a configuration that learns the simulated flights within a second.
func quick() fit.Config {
	var c fit.Config
	param.Default(&c)
	c.Model = fit.Model{Context: 20, Latent: 3, Encoder: "gru", EncoderDense: 8, EncoderHidden: 12, Hidden: 24,
		Blocks: 1, Film: true, DecoderHidden: 3, Members: 1}
	c.Loss.Steps, c.Loss.MMD, c.Loss.Reconstruction = 20, .02, .02
	c.Train.Updates, c.Train.Batch, c.Train.Workers, c.Train.Rate = 250, 32, 2, .01
	c.Train.Average, c.Train.Passes, c.Train.Settle, c.Train.Patience, c.Train.GainJitter = .95, 1000, 0, 1, 0
	return c
}

// errorsOf returns the RMS velocity errors after steps rows of the model, the prior and the recent mean.
func errorsOf(t *testing.T, m *vnd.Model[float32], vehicle quadrotor.Robot, rows []quad.Step, steps int) (model, prior,
	mean float64) {
	t.Helper()
	bare := func(known float32) *vnd.Model[float32] {
		b, err := vnd.New(vehicle.System(), m.Net.Config)
		if err != nil {
			t.Fatal(err)
		}
		clear(b.Output)
		for j := range b.BiasShare {
			b.BiasShare[j] = 1
		}
		b.Known = known
		return b
	}
	rms := func(m *vnd.Model[float32]) float64 {
		p, sum, n := vnd.NewPredictor(m, vehicle), 0., 0.
		for k := 20; k+steps < len(rows); k += 7 {
			future, out := make([]quad.Command, steps), make([]quad.State, steps)
			for h := range future {
				future[h] = rows[k+h].Command
			}
			if err := p.Predict([][]quad.Step{rows[k-20 : k+1]}, [][]quad.Command{future},
				[][]quad.State{out}); err != nil {
				t.Fatal(err)
			}
			e := out[steps-1].V.Sub(rows[k+steps].State.V).Norm()
			sum, n = sum+e*e, n+1
		}
		return math.Sqrt(sum / n)
	}
	return rms(m), rms(bare(0)), rms(bare(1))
}

// A fit predicts a flight under a wind of the training better than the prior and than the recent mean.
func TestFitLearns(t *testing.T) {
	flights := recorded(10, 220)
	fitted, err := Run(context.Background(), quick(), .02, flights[:9], fit.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	model, prior, mean := errorsOf(t, fitted.Model, Robot(fitted), flights[9].Steps(), 20)
	if model > .6*mean || model > .3*prior {
		t.Errorf("velocity error of the model %.4f m/s, of the recent mean %.4f, of the prior %.4f", model, mean, prior)
	}
	if m := fitted.Metrics; len(m.ValidationFlights) != 1 || m.Updates != 250 || m.Compressed {
		t.Errorf("metrics %+v", m)
	}
}

// TestActuatorIsIdentifiedOrKept: a first fit identifies the actuator, one that goes on keeps it, and its data are
// around the first position.
func TestActuatorIsIdentifiedOrKept(t *testing.T) {
	cfg, data := quick(), recorded(6, 220)
	cfg.Train.Updates = 5
	for _, s := range data {
		for k := range s.Rows {
			s.Rows[k].State.P.X += 1e6
		}
	}
	first, err := Run(context.Background(), cfg, .02, data[:3], fit.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	q := Robot(first)
	want, err := quadrotor.Identify(context.Background(), .02, [][]quad.Step{data[0].Steps(), data[1].Steps(),
		data[2].Steps()})
	if err != nil || q.Actuator != want || want == quadrotor.NominalActuator() {
		t.Errorf("the actuator is %+v, that of the flights %+v, %v", q.Actuator, want, err)
	}
	if q.Origin != data[0].Rows[0].State.P || first.Data != dataset.Digest(data[:3]) {
		t.Errorf("the origin is %v, the digest %x", q.Origin, first.Data)
	}
	second, err := Run(context.Background(), cfg, .02, data, fit.Options{Seed: 2, From: first})
	if err != nil {
		t.Fatal(err)
	}
	if Robot(second).Actuator != q.Actuator || !slices.Equal(second.Model.Inputs.Scale, first.Model.Inputs.Scale) {
		t.Error("a warm start changes the actuator or the normalisers")
	}
	cfg.Prior.Identify = false
	ideal, err := Run(context.Background(), cfg, .02, data, fit.Options{Seed: 2})
	if err != nil || Robot(ideal).Actuator != quadrotor.NominalActuator() {
		t.Errorf("%+v identified though that is off, %v", ideal, err)
	}
}

// TestOnlyAQuadrotorOfTheSamePriorGoesOn: a fit does not go on from a model of something else.
func TestOnlyAQuadrotorOfTheSamePriorGoesOn(t *testing.T) {
	act := quadrotor.NominalActuator()
	for name, c := range map[string]struct {
		from robot.Robot
		want string
	}{
		"another kind":  {pendulum.Robot{Dt: .02, Mass: 1}, "is of a pendulum, expected a quadrotor"},
		"another prior": {quadrotor.Robot{Dt: .02, Actuator: act}, "has prior.enabled false"},
		"another Δt":    {quadrotor.Robot{Dt: .01, Actuator: act, Prior: true}, "at steps of 0.01 s"},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := vnd.New(c.from.System(), nets.Config{Context: 20, Encoder: nets.EncoderGRU, EncoderDense: 1,
				EncoderHidden: 1, Hidden: 1, Members: 1})
			if err != nil {
				t.Fatal(err)
			}
			_, err = Run(context.Background(), quick(), .02, recorded(1, 100),
				fit.Options{From: &fit.Fit{Model: m, Robot: c.from}})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}
