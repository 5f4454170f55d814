package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"vnd/pkg/core/dist"
	"vnd/pkg/core/param"
	"vnd/pkg/learning/fit"
	"vnd/pkg/learning/openloop"
	"vnd/pkg/learning/task"
	"vnd/pkg/node/demo"
)

type demoCommand struct {
	Robot     string   `default:"quadrotor" enum:"quadrotor,arm,pusher" help:"What moves: ${enum} (a pushed box)."`
	Part      string   `default:"all" enum:"all,fit,flight" help:"all, or one part: fit (a model of recorded flights) or flight (learning in flight)."`
	Flights   string   `placeholder:"DIR" help:"Folder with the flights in train and test (default params/demo/flights of the checkout)."`
	Out       string   `placeholder:"DIR" help:"Folder for what it writes (default build/demo; installed: vnd_demo)."`
	Seed      uint64   `default:"1" help:"Seed of all randomness."`
	Minutes   float64  `default:"1" help:"The training of the fit ends by then."`
	World     string   `placeholder:"W.yaml" help:"World of the flight (default params/worlds/arena.yaml of the checkout)."`
	Bundle    string   `placeholder:"B.vnd" help:"Bundle to begin with (default a package's; else it trains one)."`
	Task      string   `default:"track" enum:"hover,track,features" help:"Task of the flight: ${enum}."`
	Seconds   float64  `default:"184" help:"Length of the flight."`
	Params    []string `sep:"none" placeholder:"F.yaml" help:"Parameter file of the nodes, may be repeated (default params/lab.yaml and params/demo/flight.yaml of the checkout)."`
	Programs  string   `placeholder:"DIR" help:"Folder of the nodes' programs (default: beside this one)."`
	Simulator string   `enum:",mujoco" default:"" help:"mujoco: an arm of that simulator learns."`
	Lockstep  bool     `help:"In flight, time waits for each command, on /clock: for machines that are busy with other things."`
}

// demoResult is what the demo came to.
type demoResult struct {
	Fit    *fitResult       `json:"fit,omitempty"`
	Score  *scoreResult     `json:"score,omitempty"`
	Flight *demo.Result     `json:"flight,omitempty"`
	Arm    *demo.ArmResult  `json:"arm,omitempty"`
	Pusher *demo.PushResult `json:"pusher,omitempty"`
	Files  []string         `json:"files"`
}

// Run implements `vnd demo`.
func (d *demoCommand) Run(c *console) error {
	if d.Simulator != "" && d.Robot != robotArm {
		return errors.New("--simulator: expected with --robot arm alone")
	}
	if d.Robot != "quadrotor" {
		return d.learns(c)
	}
	if err := d.fill(); err != nil {
		return err
	}
	if d.Part == "all" { // a wrong name is told of before the minute of the fit
		for _, f := range append(slices.Clone(d.Params), d.World) {
			if _, err := os.Stat(f); err != nil {
				return err
			}
		}
	}
	r := &demoResult{}
	for _, part := range []struct {
		name, title string
		run         func(*console, *demoResult) error
		write       func(io.Writer) error
	}{
		{"fit", "A model of recorded flights", d.fit, func(w io.Writer) error { return r.writeFit(w) }},
		{"flight", "Learning in flight", d.fly, func(w io.Writer) error { return r.Flight.WriteText(w) }},
	} {
		if d.Part != "all" && d.Part != part.name {
			continue
		}
		if !c.json {
			fmt.Fprintf(c.stdout, "\n%s\n%s\n\n", part.title, strings.Repeat("=", len(part.title)))
		}
		if err := part.run(c, r); err != nil {
			return err
		}
		if c.json {
			continue
		}
		if err := part.write(c.stdout); err != nil {
			return err
		}
	}
	if c.json {
		return c.show(r)
	}
	return nil
}

// fit fits, then scores, as the commands of these names do.
func (d *demoCommand) fit(c *console, r *demoResult) error {
	train, test := filepath.Join(d.Flights, "train"), filepath.Join(d.Flights, "test")
	for _, dir := range []string{train, test} {
		if _, err := os.Stat(dir); err != nil {
			return fmt.Errorf("the demo's flights: %w", err)
		}
	}
	if err := os.MkdirAll(d.Out, 0o777); err != nil {
		return err
	}
	var cfg fit.Config
	param.Default(&cfg)
	if err := param.Set(&cfg, "train.minutes", literal(d.Minutes)); err != nil {
		return fmt.Errorf("--minutes: %w", err)
	}
	bundle := filepath.Join(d.Out, "model.safetensors")
	c.log.Info().Msgf("fitting to the flights in %s", train)
	var err error
	r.Fit, err = c.fit(dist.Solo{}, fitting{cfg: cfg, seed: d.Seed, out: bundle,
		inputs: []string{train}}) // no checkpoint: it takes a minute
	if err != nil {
		return err
	}
	c.log.Info().Msgf("scoring on the flights in %s, beside baselines fitted to the same", test)
	r.Score, err = c.score(scoring{bundles: []string{bundle}, dev: []string{train}, inputs: []string{test},
		steps: openloop.DefaultOptions().Steps[1:], stride: openloop.DefaultOptions().Stride, plots: d.Out})
	if err != nil {
		return err
	}
	r.Files = append(r.Files, bundle)
	for _, name := range []string{"score.png", "residual.png", "latent.png"} {
		r.Files = append(r.Files, filepath.Join(d.Out, name))
	}
	return nil
}

func (r *demoResult) writeFit(w io.Writer) error {
	if err := r.Fit.WriteText(w); err != nil {
		return err
	}
	fmt.Fprintln(w)
	if err := r.Score.WriteText(w); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for _, f := range r.Files[1:] {
		if _, err := fmt.Fprintln(w, "wrote", f); err != nil {
			return err
		}
	}
	return nil
}

// fly flies with the real nodes, which learn meanwhile.
func (d *demoCommand) fly(c *console, r *demoResult) error {
	c.log.Info().Msgf("flying %.0f s in %s, each node a process of its own; Ctrl-C ends them all", d.Seconds, d.World)
	f, err := demo.Run(c.ctx, demo.Options{Programs: d.Programs, Params: d.Params, World: d.World, Task: d.Task,
		Bundle: d.Bundle, Seconds: d.Seconds, Seed: d.Seed,
		Out: filepath.Join(d.Out, "flight"), Lockstep: d.Lockstep,
		Say: func(line string) { fmt.Fprintln(c.stderr, line) }})
	if err != nil {
		return err
	}
	r.Flight = f
	r.Files = append(r.Files, f.Report, f.Bag)
	return nil
}

// WriteText implements result: the parts have been written, each as it ended.
func (r *demoResult) WriteText(io.Writer) error { return nil }

// fill finds the folders and files that were not given.
func (d *demoCommand) fill() error {
	if err := d.beside(); err != nil {
		return err
	}
	fits, flies := d.Part != "flight", d.Part != "fit"
	if d.Out != "" && (!fits || d.Flights != "") && (!flies || d.World != "" && len(d.Params) > 0) {
		return nil
	}
	top, out, err := demo.Checkout()
	if err != nil {
		return err
	}
	d.Flights = cmp.Or(d.Flights, filepath.Join(top, demo.Flights))
	d.World = cmp.Or(d.World, filepath.Join(top, "params", "worlds", "arena.yaml"))
	d.Out = cmp.Or(d.Out, out)
	base := filepath.Join(top, "params", "demo", "base.vnd") // which packages have
	if _, err := os.Stat(base); err == nil && d.Task != task.Features {
		d.Bundle = cmp.Or(d.Bundle, base)
	}
	if len(d.Params) == 0 {
		d.Params = []string{filepath.Join(top, "params", "lab.yaml"),
			filepath.Join(top, "params", "demo", "flight.yaml")}
	}
	return nil
}

// beside finds the nodes' programs beside this one, unless it is said where they are.
func (d *demoCommand) beside() error {
	if d.Programs != "" {
		return nil
	}
	exe, err := os.Executable()
	d.Programs = filepath.Dir(exe)
	return err
}
