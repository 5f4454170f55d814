// Command fit_bag fits a model of a quadrotor's dynamics to a bag and writes it as a bundle. The sizes are small,
// so that it takes seconds; `vnd fit` has those for use.
//
//	go run ./examples/fit_bag BAG model.vnd
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"vnd/pkg/bridge/flightlog"
	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/learning/dataset"
	"vnd/pkg/learning/fit"
	"vnd/pkg/learning/fit/quadfit"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: fit_bag BAG BUNDLE")
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

func run(bag, out string) error {
	flight, warnings, err := flightlog.ReadBag(bag, flightlog.DefaultOptions())
	if err != nil {
		return err
	}
	for _, w := range warnings {
		log.Println("warning:", w)
	}
	var cfg fit.Config
	param.Default(&cfg)
	cfg.Model.Hidden, cfg.Model.EncoderHidden, cfg.Model.Latent = 32, 16, 4
	cfg.Loss.Steps, cfg.Train.Updates, cfg.Train.Batch, cfg.Train.Validation = 10, 100, 32, 0
	cfg.Train.Horizon = []float64{1} // rollouts of all steps from the start, so that losses compare
	segments := dataset.FromFlights([]quad.Flight{flight})
	first := 0.
	options := fit.Options{Seed: 1, Progress: func(p fit.Progress) {
		if first == 0 {
			first = p.Losses.Dynamics
		}
	}}
	f, err := quadfit.Run(context.Background(), cfg, 0.02, segments, options)
	if err != nil {
		return err
	}
	b, err := vnd.Bundle(f.Model, f.Robot, cfg, f.Metrics)
	if err != nil {
		return err
	}
	if err := bundle.Write(out, b); err != nil {
		return err
	}
	fmt.Printf("%s: fitted to %d segments; the loss fell from %.3f to %.3f; wrote %s\n",
		flight.Name, len(segments), first, f.Metrics.Losses.Dynamics, out)
	return nil
}
