package tool

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"vnd/pkg/openloop"
	"vnd/pkg/param"
	"vnd/pkg/vnd"
)

// demoFlights is where the checkout keeps the flights of the demo, in the folders train and test.
var demoFlights = filepath.Join("params", "demo", "flights")

type demoCommand struct {
	Flights string  `placeholder:"DIR" help:"Folder with the flights in train and test (default params/demo/flights of the checkout)."`
	Out     string  `placeholder:"DIR" help:"Folder for the bundle and the pictures (default build/demo of the checkout)."`
	Seed    uint64  `default:"1" help:"Seed of all randomness."`
	Minutes float64 `default:"1" help:"The training ends by then."`
}

// demoed is what the demo came to.
type demoed struct {
	Fit   *fitted  `json:"fit"`
	Score *scored  `json:"score"`
	Files []string `json:"files"`
}

// Run implements `vnd demo`: fit, then score, as the commands of these names do.
func (d *demoCommand) Run(c *console) error {
	if err := d.fill(); err != nil {
		return err
	}
	train, test := filepath.Join(d.Flights, "train"), filepath.Join(d.Flights, "test")
	for _, dir := range []string{train, test} {
		if _, err := os.Stat(dir); err != nil {
			return fmt.Errorf("the demo's flights: %w", err)
		}
	}
	if err := os.MkdirAll(d.Out, 0o777); err != nil {
		return err
	}
	var cfg vnd.Config
	param.Default(&cfg)
	if err := param.Set(&cfg, "train.minutes", literal(d.Minutes)); err != nil {
		return fmt.Errorf("--minutes: %w", err)
	}
	bundle := filepath.Join(d.Out, "model.safetensors")
	c.log.Info().Msgf("fitting to the flights in %s", train)
	fit, err := c.fit(fitting{cfg: cfg, seed: d.Seed, out: bundle, inputs: []string{train}}) // no checkpoint: it takes a minute
	if err != nil {
		return err
	}
	c.log.Info().Msgf("scoring on the flights in %s, beside peers fitted to the same", test)
	score, err := c.score(scoring{bundles: []string{bundle}, dev: []string{train}, inputs: []string{test},
		steps: openloop.DefaultOptions().Steps[1:], stride: openloop.DefaultOptions().Stride, plots: d.Out})
	if err != nil {
		return err
	}
	r := &demoed{Fit: fit, Score: score, Files: []string{bundle}}
	for _, name := range []string{"score.png", "residual.png", "latent.png"} {
		r.Files = append(r.Files, filepath.Join(d.Out, name))
	}
	return c.show(r)
}

// WriteText implements result.
func (d *demoed) WriteText(w io.Writer) error {
	if err := d.Fit.WriteText(w); err != nil {
		return err
	}
	fmt.Fprintln(w)
	if err := d.Score.WriteText(w); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for _, f := range d.Files[1:] {
		if _, err := fmt.Fprintln(w, "wrote", f); err != nil {
			return err
		}
	}
	return nil
}

// fill finds the folders that were not given.
func (d *demoCommand) fill() error {
	if d.Flights != "" && d.Out != "" {
		return nil
	}
	top, err := checkout()
	if d.Flights == "" {
		if err != nil {
			return err
		}
		d.Flights = filepath.Join(top, demoFlights)
	}
	if d.Out == "" {
		d.Out = filepath.Join(top, "build", "demo")
	}
	return nil
}

// checkout looks for the folder with the demo's flights from the current directory upwards, then from the program's.
// The path is relative to the current directory where that is short.
func checkout() (string, error) {
	starts := []string{"."}
	if exe, err := os.Executable(); err == nil {
		starts = append(starts, filepath.Dir(exe))
	}
	for _, start := range starts {
		abs, err := filepath.Abs(start)
		if err != nil {
			continue
		}
		for dir, last := start, ""; abs != last; dir, abs, last = filepath.Join(dir, ".."), filepath.Dir(abs), abs {
			if info, err := os.Stat(filepath.Join(dir, demoFlights)); err == nil && info.IsDir() {
				return dir, nil
			}
		}
	}
	return "", errors.New("no " + demoFlights + " in the current directory, above it, or above the program: run it in the checkout, or give --flights DIR")
}
