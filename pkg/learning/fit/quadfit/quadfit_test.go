package quadfit

import (
	"context"
	"slices"
	"strings"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/learning/dataset"
	"vnd/pkg/learning/fit"
	"vnd/pkg/learning/openloop"
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

// errorsOf returns the RMS velocity errors after steps rows of the fitted model, the prior and the recent mean.
func errorsOf(t *testing.T, fitted *fit.Fit, flight *dataset.Segment, steps int) (model, prior, mean float64) {
	t.Helper()
	entry := func(name string, m *vnd.Model[float32]) openloop.Entry {
		return openloop.Entry{Name: name, Predictor: vnd.NewPredictor(m, Robot(fitted))}
	}
	bare := func(known float32) *vnd.Model[float32] {
		m := *fitted.Model
		off := make([]float32, len(m.Output))
		m.Known, m.Output, m.ResidualScale, m.BiasShare = known, off, off, slices.Repeat([]float32{1}, len(off))
		return &m
	}
	r, err := openloop.Score([]quad.Flight{{Name: flight.Flight, Segments: [][]quad.Row{flight.QuadRows()}}},
		[]openloop.Entry{entry("model", fitted.Model), entry("prior", bare(0)), entry("mean", bare(1))},
		openloop.Options{Dt: Robot(fitted).Dt, Stride: 7, Steps: []int{steps}})
	if err != nil {
		t.Fatal(err)
	}
	return r.Total[0][steps-1].Velocity, r.Total[1][steps-1].Velocity, r.Total[2][steps-1].Velocity
}

// A fit predicts a flight under a wind of the training better than the prior and than the recent mean.
func TestFitLearns(t *testing.T) {
	flights := recorded(10, 220)
	fitted, err := Run(context.Background(), quick(), .02, flights[:9], fit.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	model, prior, mean := errorsOf(t, fitted, &flights[9], 20)
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
	want, err := quadrotor.Identify(context.Background(), .02, [][]quad.Row{data[0].QuadRows(), data[1].QuadRows(),
		data[2].QuadRows()})
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

// TestSegmentsBecomeRecordings: rows keep their order, names and confidences; positions are around the first one.
func TestSegmentsBecomeRecordings(t *testing.T) {
	cfg, data := quick(), recorded(2, 30)
	cfg.Prior.Identify = false
	data[0].Rows[0].State.P.X, data[1].Rows[7].State.P.X, data[1].Rows[7].Confidence = 1000, 1002, .25
	r, err := flights{.02, data}.read(t.Context(), &cfg, nil)
	if err != nil || len(r.Recordings) != 2 {
		t.Fatalf("%+v, %v", r, err)
	}
	dim, second, row := r.Robot.System().Dims(), r.Recordings[1], &data[1].Rows[7]
	if second.Name != data[1].Flight || second.Weight[7] != .25 || second.Weight[6] != 1 {
		t.Errorf("%q has the weights %v", second.Name, second.Weight)
	}
	x, thrust := second.Measured[7*dim.Measured], second.Actions[7*dim.Action]
	if x != 2 || thrust != float32(row.Command.Thrust) {
		t.Errorf("x is %g, 2 m from the origin, under a thrust of %g", x, thrust)
	}
}
