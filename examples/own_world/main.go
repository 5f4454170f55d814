// Command own_world flies a figure-eight in each condition of a world of one's own, and draws the flights.
//
//	go run ./examples/own_world examples/own_world/world.yaml build/world.png
package main

import (
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"vnd/pkg/core/atomicfile"
	"vnd/pkg/core/param"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
	"vnd/pkg/flight/reference"
	"vnd/pkg/sim"
	"vnd/pkg/sim/closedloop"
	"vnd/pkg/viz/plot"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: own_world WORLD.yaml PICTURE.png")
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

func run(file, picture string) error {
	world, err := sim.Load(file)
	if err != nil {
		return err
	}
	path, err := reference.Parse("path", []byte(`{"kind": "figure_eight"}`))
	if err != nil {
		return err
	}
	var flights []plot.Flown
	for _, condition := range world.Names() {
		trace, err := fly(world, condition, path)
		if err != nil {
			return err
		}
		f := trace.Measure(4) // from 4 s on
		fmt.Printf("%-15s error %.3f m, at most %.3f m %s\n", condition, f.Mean, f.Max, f.Crash)
		one := plot.Flown{Name: condition}
		for _, r := range trace.Rows {
			one.T, one.P, one.Error = append(one.T, r.T), append(one.P, r.Truth.P), append(one.Error, r.Error())
		}
		flights = append(flights, one)
	}
	var eight []so3.Vec3
	for t := 0.; t < path.Horizon(); t += 0.02 {
		eight = append(eight, path.At(t).P)
	}
	return atomicfile.WriteFile(picture, func(w io.Writer) error {
		return plot.Flights(w, "A figure-eight in "+filepath.Base(file), eight, flights, nil)
	})
}

// fly flies the guard's control law. A policy flies with policy.NewClosedLoopRunner in its place.
func fly(world sim.World, condition string, path reference.Reference) (*closedloop.Trace, error) {
	only, err := world.Only(condition)
	if err != nil {
		return nil, err
	}
	setup := &closedloop.Setup{World: only, Seed: 1, Path: path, Seconds: 12, Tick: 0.02}
	param.Default(&setup.Limits)
	param.Default(&setup.Estimate)
	law, err := guard.NewPathFollower(setup.Limits, path)
	if err != nil {
		return nil, err
	}
	return closedloop.Fly(setup, law)
}
