package cli

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"

	"vnd/pkg/node/demo"
)

// arm is the demo of an arm: it moves and learns.
func (d *demoCommand) arm(c *console) error {
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
			d.Params = []string{filepath.Join(top, "params", "demo", "arm.yaml")}
		}
	}
	c.log.Info().Msgf("an arm follows a circle for %.0f s, each node a process of its own; Ctrl-C ends them all",
		d.Seconds)
	f, err := demo.RunArm(c.ctx, demo.Options{Programs: d.Programs, Params: d.Params, Seconds: d.Seconds, Seed: d.Seed,
		Out: filepath.Join(d.Out, "arm"), Lockstep: d.Lockstep,
		Say: func(line string) { fmt.Fprintln(c.stderr, line) }})
	if err != nil {
		return err
	}
	if c.json {
		return c.show(&demoResult{Arm: f, Files: []string{f.Report, f.Bag}})
	}
	return f.WriteText(c.stdout)
}
