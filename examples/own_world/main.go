// Command own_world flies the geometric law through every condition of a world file.
//
//	go run ./examples/own_world examples/own_world/world.yaml
package main

import (
	"fmt"
	"log"
	"os"

	"vnd/pkg/core/param"
	"vnd/pkg/flight/guard"
	"vnd/pkg/flight/reference"
	"vnd/pkg/sim"
	"vnd/pkg/sim/closedloop"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: own_world WORLD.yaml")
	}
	if err := run(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func run(file string) error {
	world, err := sim.Load(file)
	if err != nil {
		return err
	}
	spec := new(reference.FigureEight)
	param.Default(spec)
	path, err := reference.New(spec)
	if err != nil {
		return err
	}
	for _, condition := range world.Names() {
		one, err := world.Only(condition)
		if err != nil {
			return err
		}
		setup := &closedloop.Setup{World: one, Seed: 1, Path: path, Seconds: 15, Tick: 0.02}
		param.Default(&setup.Estimate)
		param.Default(&setup.Limits)
		var gains guard.Gains
		param.Default(&gains)
		law, err := guard.NewLaw(gains, setup.Limits)
		if err != nil {
			return err
		}
		trace, err := closedloop.Fly(setup, guard.Follower{Law: law, Path: path})
		if err != nil {
			return err
		}
		f := trace.Measure(5)
		fmt.Printf("%s: off by %.3f m on average, at most %.3f m, crash %q\n", condition, f.Mean, f.Max, f.Crash)
	}
	return nil
}
