package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"vnd/pkg/node/demo"
)

// learns is the demo of an arm or a pushed box: it moves and learns.
func (d *demoCommand) learns(c *console) error {
	if d.Part == "fit" || d.Flights != "" || d.World != "" || d.Bundle != "" || d.Task != "track" {
		return errors.New("--part fit, --flights, --world, --bundle and --task: expected with --robot quadrotor alone")
	}
	if err := d.beside(); err != nil {
		return err
	}
	if d.Out == "" || len(d.Params) == 0 {
		top, out, err := demo.Checkout()
		if err != nil {
			return err
		}
		d.Out = cmp.Or(d.Out, out)
		if len(d.Params) == 0 {
			d.Params = []string{filepath.Join(top, "params", "demo", d.Robot+".yaml")}
		}
	}
	c.log.Info().Msgf("%s for %.0f s, each node a process of its own; Ctrl-C ends them all", moving[d.Robot], d.Seconds)
	o := demo.Options{Programs: d.Programs, Params: d.Params, Seconds: d.Seconds, Seed: d.Seed,
		Out: filepath.Join(d.Out, d.Robot), Lockstep: d.Lockstep, Simulator: d.Simulator,
		Say: func(line string) { fmt.Fprintln(c.stderr, line) }}
	r, shown, err := d.run(c, o)
	switch {
	case err != nil:
		return err
	case c.json:
		return c.show(r)
	}
	return shown(c.stdout)
}

// moving says what robots do.
var moving = map[string]string{robotArm: "an arm follows a circle", robotPusher: "boxes are pushed"}

// run runs it, and returns its result, and what writes that.
func (d *demoCommand) run(c *console, o demo.Options) (r *demoResult, shown func(io.Writer) error, err error) {
	if d.Robot == robotPusher {
		f, err := demo.RunPush(c.ctx, o)
		if err != nil {
			return nil, nil, err
		}
		return &demoResult{Pusher: f, Files: []string{f.Report, f.Bag}}, f.WriteText, nil
	}
	f, err := demo.RunArm(c.ctx, o)
	if err != nil {
		return nil, nil, err
	}
	return &demoResult{Arm: f, Files: []string{f.Report, f.Bag}}, f.WriteText, nil
}
