package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"vnd/pkg/core/atomicfile"
	"vnd/pkg/learning/rotorfit"
	"vnd/pkg/robot/rotors"
)

type rotorsCommand struct {
	Fit     rotorsFit     `cmd:"" help:"Fit a model of four rotors to recorded flights."`
	Predict rotorsPredict `cmd:"" help:"Predict flights open loop, from their true states with their recorded motors."`
}

type rotorsFit struct {
	Out      string   `required:"" placeholder:"M.json" help:"File to write the model to."`
	History  int      `default:"0" help:"Rows before a start that the model may use."`
	Latent   int      `default:"0" help:"Hidden states that features drive."`
	Steps    int      `default:"50" help:"Steps of the longest rollout."`
	Updates  int      `default:"800" help:"Updates of the parameters."`
	Correct  int      `default:"0" help:"Numbers of p, v, R, w (of 12) that a linear correction takes; 0: none."`
	Position float64  `default:"1" help:"Weight of the position beside velocity, attitude and rates."`
	Even     float64  `default:"1" help:"Power of a flight's own loss that its weight falls with."`
	Members  int      `default:"1" help:"Models that predict together."`
	Seed     uint64   `default:"1" help:"Seed of all randomness."`
	Threads  int      `default:"0" help:"Threads; 0 takes all processors. The result does not depend on it."`
	Inputs   []string `arg:"" name:"input" help:"CSV files of flights with columns m1…m4, or folders of them."`
}

// rotorsFitResult is what a fit came to.
type rotorsFitResult struct {
	Out     string        `json:"out"`
	Flights int           `json:"flights"`
	Rows    int           `json:"rows"`
	Config  rotors.Config `json:"config"`
	Numbers int           `json:"parameters"`
	Members int           `json:"members"`
	Loss    float64       `json:"loss"`
}

// Run implements `vnd rotors fit`.
func (r *rotorsFit) Run(c *console) error {
	if err := r.check(); err != nil {
		return err
	}
	flights, err := rotorfit.ReadAll(r.Inputs)
	if err != nil {
		return err
	}
	if err := cmp.Or(atomicfile.Writable(r.Out), spare(r.Out, filesOf(flights)), sound(flights)); err != nil {
		return err
	}
	observed := 0
	if r.History > 0 {
		observed = rotorfit.Filters
	}
	config, err := rotorfit.Typical(flights, r.History, r.Latent, observed)
	if err != nil {
		return err
	}
	if config.Input == rotors.Speeds && likePulses(flights) {
		c.warn(flights[0].File + ": m1…m4 are taken for rad/s; pulses of 1000 to 2000 µs take a mapping: vnd import")
	}
	result := &rotorsFitResult{Out: r.Out, Flights: len(flights), Config: config, Members: r.Members}
	for _, f := range flights {
		result.Rows += len(f.Time)
	}
	o := rotorfit.Options{Steps: r.Steps, Updates: r.Updates, Blocks: rotorfit.Blocks, Rate: rotorfit.Rate,
		Weights: [4]float64{r.Position, 1, 1, 1}, Even: r.Even, Threads: threadsOf(r.Threads)}
	b := c.newBar("fit")
	defer b.done()
	made := &rotorfit.Predictor{Steps: r.Steps}
	for member := range r.Members {
		m, err := rotors.New(config)
		if err != nil {
			return err
		}
		o.Seed = r.Seed*1000 + uint64(member)
		o.Report = func(p rotorfit.Progress) { result.Loss = p.Loss; b.showRotors(p, member, r.Members) }
		if err := rotorfit.Run(c.ctx, m, flights, o); err != nil {
			return err
		}
		made.Models, result.Numbers = append(made.Models, m), len(m.Theta)
	}
	if r.Correct > 0 {
		if made.Correction, err = r.correction(c.ctx, made.Models, flights); err != nil {
			return err
		}
	}
	if err := rotorfit.Save(r.Out, made); err != nil {
		return err
	}
	return c.show(result)
}

// check refuses numbers that no fit can have.
func (r *rotorsFit) check() error {
	switch {
	case r.Members < 1 || r.Steps < 1 || r.Updates < 1:
		return errors.New("--members, --steps and --updates: expected at least 1")
	case r.Correct < 0 || r.Correct > 12:
		return fmt.Errorf("--correct %d, expected 0 to 12", r.Correct)
	case !(r.Position >= 0 && r.Position <= 1e6) || !(r.Even >= 0 && r.Even <= 10):
		return fmt.Errorf("--position %g and --even %g, expected 0 to 1e6 and 0 to 10", r.Position, r.Even)
	}
	return nil
}

// filesOf are the files that flights were read from.
func filesOf(flights []*rotors.Flight) (files []string) {
	for _, f := range flights {
		files = append(files, f.File)
	}
	return files
}

// spare refuses to write over a file that is read.
func spare(out string, inputs []string) error {
	target, err := os.Stat(out)
	if err != nil {
		return nil // there is nothing to write over
	}
	for _, path := range inputs {
		if info, err := os.Stat(path); err == nil && os.SameFile(target, info) {
			return fmt.Errorf("write %s: it is an input, expected another --out", out)
		}
	}
	return nil
}

// correction fits what is added to the models' mean, with as much history as they have.
func (r *rotorsFit) correction(ctx context.Context, models []*rotors.Model,
	flights []*rotors.Flight) (*rotorfit.Correction, error) {
	return rotorfit.Correct(ctx, models, flights, r.Steps, rotorfit.CorrectionStride, r.Correct,
		rotorfit.LagsOf(r.History), rotorfit.CorrectionRidge)
}

// threadsOf takes 0 for all processors.
func threadsOf(n int) int {
	if n > 0 {
		return n
	}
	return runtime.GOMAXPROCS(0)
}

// showRotors moves the bar of a fit of rotors.
func (b bar) showRotors(p rotorfit.Progress, member, members int) {
	share := (float64(member) + float64(p.Update)/float64(p.Updates)) / float64(members)
	b.at(share, fmt.Sprintf("fit: loss %.4g", p.Loss))
}

// WriteText implements result.
func (r *rotorsFitResult) WriteText(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%d flights, %d rows of %s every %g s\nwrote %s: %d parameters, %d members, loss %.4g\n",
		r.Flights, r.Rows, r.Config.Input, r.Config.Period, r.Out, r.Numbers, r.Members, r.Loss)
	return err
}

type rotorsPredict struct {
	Model  string   `required:"" placeholder:"M.json" help:"Fitted model."`
	Out    string   `required:"" placeholder:"DIR" help:"Folder to write NAME.csv of each flight to."`
	Steps  int      `default:"50" help:"Steps to predict from each start."`
	Stride int      `default:"1" help:"Rows from one start to the next."`
	First  int      `default:"0" help:"Row of each stretch's first start; at least the model's history."`
	Inputs []string `arg:"" name:"input" help:"CSV files of flights, or folders of them."`
}

// rotorsPredictResult is what was predicted.
type rotorsPredictResult struct {
	Out    string   `json:"out"`
	Files  []string `json:"files"`
	Starts int      `json:"starts"`
	Steps  int      `json:"steps"`
}

// Run implements `vnd rotors predict`.
func (r *rotorsPredict) Run(c *console) error {
	if r.Steps < 1 || r.Stride < 1 || r.First < 0 {
		return errors.New("--steps and --stride: expected at least 1, --first at least 0")
	}
	with, err := rotorfit.Load(r.Model)
	if err != nil {
		return err
	}
	flights, err := rotorfit.ReadAll(r.Inputs)
	if err != nil {
		return err
	}
	if err := r.check(with, flights); err != nil {
		return err
	}
	if with.Steps > 0 && r.Steps > with.Steps {
		c.warn(fmt.Sprintf("--steps %d: %s was fitted over %d steps, what follows them is extrapolated", r.Steps,
			r.Model, with.Steps))
	}
	result := &rotorsPredictResult{Out: r.Out, Steps: r.Steps}
	for _, f := range flights {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		starts := r.starts(with, f)
		if len(starts) == 0 {
			c.warn(fmt.Sprintf("%s: no stretch of %d rows without a gap: not predicted", f.File, r.least(with)))
			continue
		}
		file, err := writeRotorPredictions(r.Out, with.Predict(f, starts, r.Steps))
		if err != nil {
			return err
		}
		result.Files, result.Starts = append(result.Files, file), result.Starts+len(starts)
	}
	return c.show(result)
}

// starts are the rows that a flight is predicted from.
func (r *rotorsPredict) starts(with *rotorfit.Predictor, f *rotors.Flight) []rotors.Start {
	return f.Starts(max(r.First, with.History()), r.Stride, r.Steps)
}

// least is how many rows a stretch must have.
func (r *rotorsPredict) least(with *rotorfit.Predictor) int {
	return max(r.First, with.History()) + r.Steps + 1
}

// check refuses flights that cannot be predicted, or whose predictions would overwrite one another or a flight, before
// anything is written.
func (r *rotorsPredict) check(with *rotorfit.Predictor, flights []*rotors.Flight) error {
	some, of := false, map[string]string{}
	for _, f := range flights {
		out := predictionsOf(r.Out, f)
		if err := cmp.Or(rotorfit.Fits(with.Config(), f), spare(out, filesOf(flights))); err != nil {
			return err
		}
		if before, ok := of[f.Name]; ok {
			return fmt.Errorf("%s and %s: both would be predicted in %s, expected different names", before, f.File, out)
		}
		of[f.Name] = f.File
		some = some || len(r.starts(with, f)) > 0
	}
	if !some {
		return fmt.Errorf("%s: no stretch of %d rows without a gap, nor in any other flight", flights[0].File,
			r.least(with))
	}
	return sound(flights)
}

// predictionsOf is the file that a flight's predictions go to.
func predictionsOf(dir string, f *rotors.Flight) string { return filepath.Join(dir, f.Name+".csv") }

// writeRotorPredictions writes the predictions of one flight and returns the file's name.
func writeRotorPredictions(dir string, p *rotorfit.Predictions) (string, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	path := predictionsOf(dir, p.Flight)
	return path, atomicfile.WriteFile(path, p.Write)
}

// WriteText implements result.
func (r *rotorsPredictResult) WriteText(w io.Writer) error {
	_, err := fmt.Fprintf(w, "wrote %d files in %s: %d predictions of %d steps\n", len(r.Files), r.Out, r.Starts,
		r.Steps)
	return err
}
