package cli

import (
	"encoding/json"
	"errors"
	"io"
	"runtime"

	"vnd/pkg/core/atomicfile"
	"vnd/pkg/sim/gatestudy"
)

type gateCommand struct {
	Robots  int    `default:"40" help:"Robots to draw: lag, gain, delay, drag and mass."`
	Flights int    `default:"32" help:"Flights of each policy on the true robot, to know how it flies."`
	Seed    uint64 `default:"1" help:"Seed of all randomness."`
	Out     string `placeholder:"F.json" help:"File for robots, policies and verdicts."`
	Blind   bool   `help:"Have the judge fly the default robot, whatever was identified."`
	Workers int    `default:"0" help:"Robots at a time; 0 takes all processors."`
}

// Run implements `vnd gate`.
func (k *gateCommand) Run(c *console) error {
	if k.Robots < 1 || k.Flights < 4 || k.Workers < 0 {
		return errors.New("--robots, --flights, --workers: expected a robot, four flights, and no negative number")
	}
	if k.Workers == 0 {
		k.Workers = runtime.GOMAXPROCS(0)
	}
	bar := c.newBar("gate")
	o := gatestudy.Options{Robots: k.Robots, Flights: k.Flights, Seed: k.Seed, Workers: k.Workers, Blind: k.Blind,
		Done: func(done int) { bar.at(float64(done)/float64(k.Robots), "") }}
	flown, err := gatestudy.Run(c.ctx, o)
	bar.done()
	if err != nil {
		return err
	}
	report := gatestudy.NewReport(&o, flown)
	if k.Out != "" {
		err := atomicfile.WriteFile(k.Out, func(w io.Writer) error { return json.NewEncoder(w).Encode(report) })
		if err != nil {
			return err
		}
	}
	return c.show(report)
}
