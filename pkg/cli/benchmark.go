package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"

	"vnd/pkg/core/atomicfile"
	"vnd/pkg/learning/publictable"
	"vnd/pkg/learning/rotorfit"
	"vnd/pkg/robot/rotors"
	"vnd/pkg/viz/plot"
)

type benchmarkCommand struct {
	Idsia     benchmarkIDSIA     `cmd:"" help:"The nano-drone benchmark of IDSIA: rotor speeds in, 0.5 s out."`
	Nanobench benchmarkNanoBench `cmd:"" help:"NanoBench: motor commands in, 1 s out, a shape held out."`
}

// benchmarkFlags are those of every public table.
type benchmarkFlags struct {
	Dir     string `arg:"" placeholder:"DIR" help:"Folder of the benchmark: flights are below DIR/flights."`
	Out     string `default:"benchmark" placeholder:"DIR" help:"Folder for predictions, models and picture."`
	Seeds   int    `default:"3" help:"Fits, from seed 1 on; the median is reported."`
	Train   string `placeholder:"GLOB" help:"Fit to these files instead of the protocol's."`
	Test    string `placeholder:"DIR" help:"Predict the flights of this folder; then nothing below DIR is held out."`
	Model   string `placeholder:"M.json" help:"Predict with this model of an earlier run instead of fitting."`
	Updates int    `default:"0" help:"Updates of the parameters; 0 is the protocol's."`
	Threads int    `default:"0" help:"Threads; 0 takes all processors. The result does not depend on it."`
}

type benchmarkIDSIA struct {
	benchmarkFlags
	History bool   `help:"Use 0.4 s before the start, and score within flights."`
	From    string `placeholder:"DIR" help:"Folder of a run without history: only the observer is fitted."`
}

// Run implements `vnd benchmark idsia`.
func (b *benchmarkIDSIA) Run(c *console) error {
	if b.From != "" && !b.History {
		return errors.New("--from: expected --history too: without one there is no observer to fit")
	}
	p := publictable.IDSIA(b.History)
	p.From = b.From
	return c.benchmark(p, &b.benchmarkFlags)
}

type benchmarkNanoBench struct {
	benchmarkFlags
	Hold string `default:"helix" help:"Shape that is held out and predicted, unless --test names other flights."`
}

// Run implements `vnd benchmark nanobench`.
func (b *benchmarkNanoBench) Run(c *console) error {
	return c.benchmark(publictable.NanoBench(b.Hold), &b.benchmarkFlags)
}

// benchmarkResult is a public table with ours in it.
type benchmarkResult struct {
	Benchmark string                 `json:"benchmark"`
	Title     string                 `json:"title"`
	Fitted    int                    `json:"flights_fitted"`
	Predicted []string               `json:"flights_predicted"`
	Seeds     []*publictable.Figures `json:"seeds"`
	Median    publictable.Row        `json:"median"`
	Baselines []publictable.Row      `json:"baselines"`
	Published []publictable.Row      `json:"published"`
	Picture   string                 `json:"picture"`
	Steps     int                    `json:"steps"`
}

// benchmark does a protocol from fit to table.
func (c *console) benchmark(p *publictable.Protocol, o *benchmarkFlags) error {
	if o.Seeds < 1 {
		return errors.New("--seeds: expected at least 1")
	}
	p.Set(o.Updates, threadsOf(o.Threads))
	fitted, flights, err := c.benchmarkFlights(p, o)
	if err != nil {
		return err
	}
	r := &benchmarkResult{Benchmark: p.Name, Title: p.Title, Fitted: len(fitted), Published: p.PublishedRows(),
		Steps: p.Steps}
	for _, f := range flights {
		r.Predicted = append(r.Predicted, f.Name)
	}
	seeds := o.Seeds
	if o.Model != "" {
		seeds = 1
	}
	for seed := range seeds {
		made, err := c.benchmarkModel(p, o, fitted, seed+1)
		if err != nil {
			return err
		}
		figures, err := writeAndScore(p, made, flights, filepath.Join(o.Out, fmt.Sprintf("seed%d", seed+1)))
		if err != nil {
			return err
		}
		r.Seeds = append(r.Seeds, figures)
	}
	naive, steady := p.Score(p.Naive(flights, false)), p.Score(p.Naive(flights, true))
	r.Baselines = []publictable.Row{naive.Row("naive (here)"), steady.Row("constant velocity (here)")}
	r.Median = publictable.Median("vnd", r.Seeds)
	r.Picture = filepath.Join(o.Out, pictureName)
	if err := drawBenchmark(r, naive, steady, rotorfit.Period(flights[0])); err != nil {
		return err
	}
	return c.show(r)
}

// benchmarkFlights reads the flights to fit to and those to predict, and makes sure that results can be written.
func (c *console) benchmarkFlights(p *publictable.Protocol, o *benchmarkFlags) (fitted, flights []*rotors.Flight,
	err error) {
	if fitted, flights, err = p.Flights(o.Dir, o.Train, o.Test); err != nil {
		return nil, nil, err
	}
	if err := cmp.Or(sound(fitted), sound(flights)); err != nil {
		return nil, nil, err
	}
	flights, warnings, err := p.Review(fitted, flights)
	for _, w := range warnings {
		c.warn(w)
	}
	if err != nil {
		return nil, nil, err
	}
	if err := os.MkdirAll(o.Out, 0o777); err != nil {
		return nil, nil, err
	}
	return fitted, flights, atomicfile.Writable(filepath.Join(o.Out, pictureName))
}

// pictureName is the file of the errors over the horizon.
const pictureName = "error.png"

// benchmarkModel fits the predictor of a seed, or reads one.
func (c *console) benchmarkModel(p *publictable.Protocol, o *benchmarkFlags, fitted []*rotors.Flight,
	seed int) (*rotorfit.Predictor, error) {
	if o.Model != "" {
		return rotorfit.Load(o.Model)
	}
	b := c.newBar("fit")
	defer b.done()
	made, err := p.Fit(c.ctx, fitted, uint64(seed), func(q rotorfit.Progress) {
		b.at((float64(seed-1)+float64(q.Update)/float64(q.Updates))/float64(o.Seeds),
			fmt.Sprintf("fit: seed %d, loss %.4g", seed, q.Loss))
	})
	if err != nil {
		return nil, err
	}
	return made, rotorfit.Save(filepath.Join(o.Out, fmt.Sprintf("seed%d.json", seed)), made)
}

// writeAndScore predicts, writes a CSV for each flight, and counts the errors of what was written.
func writeAndScore(p *publictable.Protocol, with *rotorfit.Predictor, flights []*rotors.Flight,
	dir string) (*publictable.Figures, error) {
	predictions, err := p.Predict(with, flights)
	if err != nil {
		return nil, err
	}
	for _, q := range predictions {
		if _, err := writeRotorPredictions(dir, q); err != nil {
			return nil, err
		}
	}
	return p.Score(predictions), nil
}

// drawBenchmark plots the errors within flights over the horizon.
func drawBenchmark(r *benchmarkResult, naive, steady *publictable.Figures, dt float64) error {
	curves := []plot.ErrorCurves{errorCurves("naive", naive.Within),
		errorCurves("constant velocity", steady.Within)}
	for i, f := range r.Seeds {
		curves = append(curves, errorCurves(fmt.Sprintf("vnd, seed %d", i+1), f.Within))
	}
	return atomicfile.WriteFile(r.Picture, func(w io.Writer) error {
		return plot.ErrorOverHorizon(w, r.Title+": mean error within flights", dt, curves)
	})
}

func errorCurves(name string, c publictable.Curve) plot.ErrorCurves {
	e := plot.ErrorCurves{Name: name}
	for _, x := range c {
		e.Position, e.Velocity = append(e.Position, x[0]), append(e.Velocity, x[1])
		e.Attitude = append(e.Attitude, x[2]*180/math.Pi)
	}
	return e
}

// WriteText implements result.
func (r *benchmarkResult) WriteText(w io.Writer) error {
	rows := slices.Concat(r.Published, r.Baselines)
	for i, f := range r.Seeds {
		rows = append(rows, f.Row(fmt.Sprintf("vnd, seed %d", i+1)))
	}
	rows = append(rows, r.Median)
	fmt.Fprintf(w, "%s: fitted to %d flights, predicted %d, %d starts\n", r.Title, r.Fitted, len(r.Predicted),
		r.Seeds[0].Starts)
	if err := publictable.WriteTable(w, rows, r.Steps); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "picture: %s\n", r.Picture)
	return err
}
