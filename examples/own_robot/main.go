// Command own_robot fits the dynamics of a robot that is no quadrotor: a pendulum of a hidden mass. A robot of your own
// is a package like pkg/robot/pendulum; what follows here stays.
//
//	go run ./examples/own_robot build/pendulum.vnd
package main

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"slices"

	"vnd/pkg/core/param"
	"vnd/pkg/learning/fit"
	"vnd/pkg/learning/openloop"
	"vnd/pkg/robot/pendulum"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// prior is what is known of the robot: its mass is a guess.
var prior = pendulum.Robot{Dt: 0.05, Mass: 1, Drag: 0.2}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: own_robot BUNDLE")
	}
	if err := run(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func run(out string) error {
	var cfg fit.Config
	param.Default(&cfg)
	cfg.Model.Latent, cfg.Model.EncoderDense, cfg.Model.EncoderHidden, cfg.Model.Hidden = 2, 16, 16, 32
	cfg.Loss.Steps, cfg.Train.Batch, cfg.Train.Rate, cfg.Train.Updates, cfg.Train.Passes = 20, 64, 0.01, 600, 1000
	var learned []fit.Recording
	for _, mass := range []float64{0.4, 0.6, 0.8, 1, 1.3, 1.7, 2.1, 2.6} {
		rows := record(mass)
		measured, actions := prior.Flatten(rows)
		learned = append(learned, fit.Recording{Name: fmt.Sprintf("%g kg", mass), Measured: measured, Actions: actions,
			Weight: slices.Repeat([]float32{1}, len(rows))})
	}
	f, err := fit.Run(context.Background(), cfg, fit.Known(prior, learned), fit.Options{Seed: 1})
	if err != nil {
		return err
	}
	guess := *f.Model // the prior alone
	guess.Output, guess.BiasShare = make([]float32, 2), make([]float32, 2)
	unseen := []openloop.Recording[pendulum.Row]{{Name: "0.5 kg", Segments: [][]pendulum.Row{record(0.5)}}}
	report, err := openloop.ScoreOf(prior, unseen, []openloop.EntryOf[pendulum.Row, float64, pendulum.State]{
		{Name: "fitted", Predictor: vnd.NewPredictor(f.Model, prior)},
		{Name: "prior", Predictor: vnd.NewPredictor(&guess, prior)}}, openloop.DefaultOptions())
	if err != nil {
		return err
	}
	fitted, guessed := report.Total[0][9], report.Total[1][9]
	fmt.Printf("0.5 kg, not learned: off by %.2f° after 0.5 s, the prior by %.2f°\n", fitted.Attitude, guessed.Attitude)
	b, err := vnd.Bundle(f.Model, f.Robot, cfg, f.Metrics)
	if err != nil {
		return err
	}
	return bundle.Write(out, b)
}

// record swings a pendulum of a mass, kg, for ten seconds under a random torque.
func record(mass float64) []pendulum.Row {
	rng, rows := rand.New(rand.NewPCG(1, uint64(100*mass))), make([]pendulum.Row, 200)
	truth := pendulum.New[float64](pendulum.Robot{Dt: prior.Dt, Mass: mass, Drag: prior.Drag})
	s, u := []float64{1, 0}, []float64{0}
	for k := range rows {
		u[0] += 0.4*rng.NormFloat64() - 0.1*u[0]
		rows[k] = pendulum.Row{T: float64(k) * prior.Dt, State: pendulum.State{Angle: s[0], Rate: s[1]}, Torque: u[0]}
		truth.Step(1, s, u, []float64{0, 0}, s)
	}
	return rows
}
