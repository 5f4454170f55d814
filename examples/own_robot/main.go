// Command own_robot fits, trains and judges for a robot that is no quadrotor: a pendulum of a hidden mass that keeps an
// angle. A robot of your own is a package like pkg/robot/pendulum, its Robot, System, Task and Row. Of these files,
// the variables of main and all of fly.go are of the pendulum, and so are the units that are printed; the rest stays.
//
//	go run ./examples/own_robot build/pendulum.vnd
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"slices"

	"vnd/pkg/core/param"
	"vnd/pkg/learning/fit"
	"vnd/pkg/learning/gate"
	"vnd/pkg/learning/train"
	"vnd/pkg/robot"
	"vnd/pkg/robot/pendulum"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// prior is what is known of the robot: its mass is a guess. task is what it is to do, and goal its name in bundles.
var (
	prior = pendulum.Robot{Dt: 0.05, Mass: 1, Drag: 0.2}
	task  = &pendulum.Hold[float32]{Angles: 1, Spread: 0.5, Rate: 0.02, Change: 0.0005, Actions: 1,
		Bounds: robot.Bounds{Radius: 3, Collision: 10}}
	goal         = "hold"
	rest, torque = []float32{0}, []float32{30} // middle and half range of each action: N·m, either way
	vehicle      = gate.TaskVehicle[pendulum.Robot]{Robot: pendulum.Reader, Task: task}
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: own_robot BUNDLE")
	}
	if err := run(context.Background(), os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, out string) error {
	base, err := improve(ctx, &train.Prior[float32]{Nominal: prior.System()}, nil) // trained on the guess
	if err != nil {
		return err
	}
	var recordings []fit.Recording
	for i, mass := range slices.Repeat(flown, 3) {
		rows, err := record(base, mass, uint64(i))
		if err != nil {
			return err
		}
		measured, actions := prior.Flatten(rows)
		recordings = append(recordings, fit.Recording{Name: fmt.Sprintf("%g kg", mass), Measured: measured,
			Actions: actions, Weight: slices.Repeat([]float32{1}, len(rows))})
	}
	var cfg fit.Config
	param.Default(&cfg)
	cfg.Model.Latent, cfg.Model.EncoderDense, cfg.Model.EncoderHidden, cfg.Model.Hidden = latent, 16, 16, 32
	cfg.Loss.Steps, cfg.Train.Batch, cfg.Train.Rate, cfg.Train.Updates, cfg.Train.Passes = 20, 64, 0.01, 600, 1000
	f, err := fit.Run(ctx, cfg, fit.KnownRobot(prior, recordings), fit.Options{Seed: 1})
	if err != nil {
		return err
	}
	p, err := improve(ctx, &train.Learned[float32]{Model: f.Model, Through: true}, base)
	if err != nil {
		return err
	}
	candidate, err := vnd.Pack(f.Model, prior, p, goal)
	if err != nil {
		return err
	}
	if err := judge(ctx, candidate, base); err != nil {
		return err
	}
	return bundle.Write(out, candidate)
}
