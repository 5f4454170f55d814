package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"

	"vnd/pkg/core/atomicfile"
	"vnd/pkg/sim/gatestudy"
)

type gateCommand struct {
	Robots  int    `default:"40" help:"Robots to draw: lag, gain, delay, drag and mass."`
	Flights int    `default:"32" help:"Flights of each policy on the true robot, to know how it flies."`
	Seed    uint64 `default:"1" help:"Seed of all randomness."`
	Out     string `placeholder:"F.json" help:"File of verdicts; a study cut short goes on."`
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
	o := gatestudy.Options{Robots: k.Robots, Flights: k.Flights, Seed: k.Seed, Workers: k.Workers, Blind: k.Blind,
		Build: version()}
	var err error
	if o.Known, err = k.known(&o); err != nil {
		return err
	}
	if err := k.write(gatestudy.NewReport(&o, o.Known)); err != nil {
		return err
	}
	bar := c.newBar("gate")
	var unwritten error
	o.Done = func(r *gatestudy.Report) {
		bar.at(float64(len(r.Flown))/float64(k.Robots), "")
		unwritten = cmp.Or(unwritten, k.write(r))
	}
	flown, err := gatestudy.Run(c.ctx, o)
	bar.done()
	if err := cmp.Or(err, unwritten); err != nil {
		return err
	}
	return c.show(gatestudy.NewReport(&o, flown))
}

// known are the robots that this very program has judged for the same study, as far as the file holds it. A file that
// holds anything else stays as it is.
func (k *gateCommand) known(o *gatestudy.Options) ([]gatestudy.Flown, error) {
	if k.Out == "" {
		return nil, nil
	}
	text, err := os.ReadFile(k.Out)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("--out: %w", err)
	}
	var r gatestudy.Report
	unclear := o.Build == "(devel)" || strings.Contains(o.Build, "dirty") // it may have changed since
	if json.Unmarshal(text, &r) != nil || unclear || !r.Continues(o) {
		return nil, fmt.Errorf("--out %s: expected no file, or this study by this very program (%s), of %d robots or "+
			"less: move it away", k.Out, o.Build, k.Robots)
	}
	return r.Flown, nil
}

// write has the file hold what was judged so far.
func (k *gateCommand) write(r *gatestudy.Report) error {
	if k.Out == "" {
		return nil
	}
	return atomicfile.WriteFile(k.Out, func(w io.Writer) error { return json.NewEncoder(w).Encode(r) })
}
