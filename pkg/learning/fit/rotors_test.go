package fit_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/learning/fit"
	"vnd/pkg/learning/openloop"
	"vnd/pkg/robot"
	"vnd/pkg/robot/rotors"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// motored is the default airframe as four rotors drive it.
func motored(t *testing.T) rotors.Robot {
	t.Helper()
	var a rotors.Airframe
	param.Default(&a)
	m, err := a.Model(.02, .03)
	if err != nil {
		t.Fatal(err)
	}
	return rotors.Robot{Model: m}
}

// driven records a quadrotor that is levelled roughly by its motors, with noise, in a wind of its own, m/s², and with
// rotors that give less than the prior knows.
func driven(r rotors.Robot, rows int, rng *rand.Rand) []rotors.Row {
	sys := rotors.NewSystem[float64](r.Model).Vary(.9, 1, 1)
	d, out := sys.Dims(), make([]rotors.Row, rows)
	s, x, a := robot.Settled(sys), make([]float64, d.Inputs), make([]float64, d.Action)
	wind, push := make([]float64, d.Tangent), make([]float64, d.Tangent)
	for j := range 3 {
		wind[3+j] = 2 * rng.NormFloat64() * r.Period()
	}
	sys.Rest(make([]float64, d.Measured), a)
	hover := a[0]
	for k := range out {
		sys.Inputs(1, s, a, x)
		up, rates := x[3:6], x[6:9]
		pull := [4]float64{-.1 * s[9], -.05*up[1] - .01*rates[0], .05*up[0] - .01*rates[1], -.05 * rates[2]}
		for j := range pull {
			pull[j] += .01 * rng.NormFloat64()
		}
		clear(a)
		rotors.CollectiveVJP(1, 1, pull[:], a)
		row := &out[k]
		for j := range a {
			a[j] = hover * (1 + a[j])
			row.Motors[j] = a[j]
		}
		state := make([]float32, len(s))
		for j, v := range s {
			state[j] = float32(v)
		}
		row.T, row.State = float64(k)*r.Period(), r.State(state)
		clear(push)
		sys.ToBody(1, s, wind, push)
		sys.Step(1, s, a, push, s)
	}
	return out
}

// motorFlights are flights of rows, the first of them to learn from.
func motorFlights(r rotors.Robot, rows int) (flat []fit.Recording, unseen []openloop.Recording[rotors.Row]) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 12 {
		seg, name := driven(r, rows, rng), string(rune('a'+i))
		measured, actions := r.Flatten(seg)
		if i < 9 {
			flat = append(flat, fit.Recording{Name: name, Measured: measured, Actions: actions,
				Weight: slices.Repeat([]float32{1}, rows)})
		} else {
			unseen = append(unseen, openloop.Recording[rotors.Row]{Name: name, Segments: [][]rotors.Row{seg}})
		}
	}
	return flat, unseen
}

// TestRotorsAreFittedAndScored: the code that fits other robots learns the wind and the weak rotors of a quadrotor from
// its motors, and predicts flights that it has not seen better than the prior. Its bundle brings it back.
func TestRotorsAreFittedAndScored(t *testing.T) {
	if testing.Short() {
		t.Skip("learns for long")
	}
	r := motored(t)
	flat, unseen := motorFlights(r, 80)
	c := swinging()
	c.Train.GainJitter = 0
	c.Model.Context, c.Loss.Steps, c.Train.Batch, c.Train.Updates, c.Train.Average = 8, 8, 32, 100, .95
	fitted, err := fit.Run(t.Context(), c, fit.KnownRobot(r, flat), fit.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	b, err := vnd.Bundle(fitted.Model, fitted.Robot, c, fitted.Metrics)
	if err != nil {
		t.Fatal(err)
	}
	data, err := b.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if b, err = bundle.Decode("b", data); err != nil {
		t.Fatal(err)
	}
	back, who, err := vnd.FromBundle(b, rotors.Reader)
	if err != nil {
		t.Fatal(err)
	}
	prior := *back
	prior.Output, prior.BiasShare = make([]float32, len(back.Output)), make([]float32, len(back.BiasShare))
	report, err := openloop.ScoreOf(r, unseen, []openloop.EntryOf[rotors.Row, [4]float64, rotors.State]{
		{Name: "prior", Predictor: vnd.NewPredictor(&prior, r)}, {Name: "back", Predictor: vnd.NewPredictor(back, who)},
	}, openloop.Options{Dt: r.Period(), Stride: 3, Steps: []int{10}})
	if err != nil {
		t.Fatal(err)
	}
	was, is := report.Total[0][9], report.Total[1][9]
	t.Logf("after 10 steps: prior %+v, fitted %+v", was, is) // attitude in degrees
	if !(is.Velocity < .7*was.Velocity) {
		t.Errorf("velocity errs by %.3f m/s after 10 steps, the prior by %.3f", is.Velocity, was.Velocity)
	}
}
