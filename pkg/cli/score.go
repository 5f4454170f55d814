package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"vnd/pkg/core/quad"
	"vnd/pkg/learning/dataset"
	"vnd/pkg/learning/effects"
	"vnd/pkg/learning/openloop"
)

type scoreCommand struct {
	Bundle   []string `sep:"none" placeholder:"BUNDLE" help:"Fitted model; repeat it to compare several."`
	Dev      []string `sep:"none" placeholder:"DIR|FILE" help:"Flights to fit stronger baselines to; may be repeated."`
	Steps    []int    `default:"10,25,50" help:"Steps after which errors are reported, ascending."`
	Stride   int      `default:"5" help:"Rows from one start to the next."`
	Plot     string   `placeholder:"F.png" help:"Write a plot of the errors over the horizon."`
	Plots    string   `placeholder:"DIR" help:"Write score.png, residual.png and latent.png there."`
	Config   string   `placeholder:"F.yaml" help:"Parameter file, node name \"assemble\": how bags become flights."`
	Airframe string   `placeholder:"F.yaml" help:"Parameter file, node name \"airframe\"."`
	Inputs   []string `arg:"" name:"input" help:"Flight CSV files, bags, or folders of them."`
}

// Run implements `vnd score`.
func (s *scoreCommand) Run(c *console) error {
	r, err := c.score(scoring{bundles: s.Bundle, dev: s.Dev, inputs: s.Inputs, steps: s.Steps, stride: s.Stride,
		plot: s.Plot, plots: s.Plots, config: s.Config, airframe: s.Airframe})
	if err != nil {
		return err
	}
	return c.show(r)
}

// scoring is a score to be made.
type scoring struct {
	bundles     []string
	dev, inputs []string // flights
	steps       []int
	stride      int
	plot, plots string // files; empty for none
	config      string // parameter files, or empty
	airframe    string
}

// scoreResult is what a score found.
type scoreResult struct {
	report     *openloop.Report
	references []string                   // predictors whose ratios are shown
	samples    map[string]effects.Figures // of models with a latent, by name
	warnings   []string
}

// score reads models and flights, lets models and baselines predict the same rows and draws the plots asked for.
func (c *console) score(s scoring) (*scoreResult, error) {
	if len(s.steps) == 0 {
		return nil, errors.New("--steps: expected at least one number")
	}
	for i, n := range s.steps {
		if n < 1 || i > 0 && n <= s.steps[i-1] {
			return nil, fmt.Errorf("--steps %v: expected ascending numbers from 1", s.steps)
		}
	}
	if s.stride < 1 {
		return nil, fmt.Errorf("--stride %d: expected at least 1", s.stride)
	}
	if s.byMotors() {
		return c.scoreRotors(&s)
	}
	models, names, err := loadAll(s.bundles)
	if err != nil {
		return nil, err
	}
	r := recordings{window: openloop.Context, config: s.config, airframe: s.airframe}
	if len(models) > 0 {
		r.dt = models[0].Dt
	}
	read, err := r.options()
	if err != nil {
		return nil, err
	}
	o := openloop.Options{Dt: read.Delta, Steps: s.steps, Stride: s.stride, Intervals: intervalsOf(models, names)}
	flights, err := c.read(s.inputs, read)
	if err != nil {
		return nil, err
	}
	dev, err := c.read(s.dev, read)
	if err != nil {
		return nil, err
	}
	c.warnOfOverlap(dev, flights)
	b := c.newBar("score")
	defer b.done()
	entries, err := openloop.Baselines(o.Dt, dev)
	if err != nil {
		return nil, err
	}
	for i, m := range models {
		entries = append(entries, openloop.Entry{Name: names[i], Predictor: m})
	}
	report, err := openloop.Score(flights, c.watched(b, entries, openloop.Windows(flights, slices.Max(s.steps),
		s.stride)), o)
	if err != nil {
		return nil, err
	}
	if err := s.draw(report, models, flights); err != nil {
		return nil, err
	}
	references := []string{openloop.NamePrior, openloop.NameRecentMean}
	if len(names) > 1 {
		references = append(references, names[1:]...)
	}
	return &scoreResult{report, references, s.samples(models, names, flights), c.warnings}, nil
}

// intervalsOf are those of models, by name.
func intervalsOf(models []*openloop.Model, names []string) map[string]*openloop.Interval {
	out := map[string]*openloop.Interval{}
	for i, m := range models {
		out[names[i]] = m.Interval
	}
	return out
}

// samples compares what models with a latent sample with the windows of the flights.
func (s *scoring) samples(models []*openloop.Model, names []string, flights []quad.Flight) map[string]effects.Figures {
	out := map[string]effects.Figures{}
	for i, m := range models {
		if m.Net.Latent > 0 {
			out[names[i]] = m.Samples(flights, s.stride)
		}
	}
	return out
}

// warnOfOverlap warns of flights that baselines are fitted to and scored on: their errors are no test then.
func (c *console) warnOfOverlap(dev, scored []quad.Flight) {
	content := func(f quad.Flight) [32]byte { // whatever the flight is called
		return dataset.Digest(dataset.FromFlights([]quad.Flight{{Segments: f.Segments}}))
	}
	fitted := map[[32]byte]string{}
	for _, f := range dev {
		fitted[content(f)] = f.Name
	}
	for _, f := range scored {
		if name, ok := fitted[content(f)]; ok {
			c.warn(fmt.Sprintf("flight %s is scored and, as --dev flight %s, what baselines are fitted to", f.Name,
				name))
		}
	}
}

// loadAll reads the bundles and names them: one is "vnd", of several each has its file's name, with the bundle's ID
// where that is another's or a baseline's.
func loadAll(bundles []string) (models []*openloop.Model, names []string, err error) {
	for _, path := range bundles {
		m, err := openloop.LoadModel(path)
		if err != nil {
			return nil, nil, err
		}
		if len(models) > 0 && m.Dt != models[0].Dt {
			return nil, nil, fmt.Errorf("%s: Δt is %g s, that of %s is %g s", path, m.Dt, bundles[0], models[0].Dt)
		}
		models, names = append(models, m), append(names, strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)))
	}
	if len(models) == 1 {
		return models, []string{"vnd"}, nil
	}
	count := map[string]int{}
	for _, name := range slices.Concat(names,
		[]string{openloop.NamePrior, openloop.NameRecentMean, openloop.NameLinRecentMean,
			openloop.NamePriorStar, openloop.NameRecentMeanStar, openloop.NameRidgeStar}) {
		count[name]++
	}
	seen := map[string]string{} // path by name
	for i, name := range names {
		if count[name] > 1 {
			names[i] += "-" + models[i].ID
		}
		if other, ok := seen[names[i]]; ok {
			return nil, nil, fmt.Errorf("%s: the same bundle as %s", bundles[i], other)
		}
		seen[names[i]] = bundles[i]
	}
	return models, names, nil
}

// watched wraps the entries so that the bar moves with them and a signal ends them.
func (c *console) watched(b bar, entries []openloop.Entry, windows int) []openloop.Entry {
	done, total := 0, windows*len(entries)
	out := make([]openloop.Entry, len(entries))
	for i, e := range entries {
		e.Predictor = &counting{predictor: &interruptible{c, e.Predictor}, report: func(n int) {
			done += n
			b.at(float64(done)/float64(total), "")
		}}
		out[i] = e
	}
	return out
}

// interruptible is a predictor that a signal ends.
type interruptible struct {
	c *console
	openloop.Predictor
}

// Predict implements openloop.Predictor.
func (p *interruptible) Predict(windows [][]quad.Row, future [][]quad.Command, out [][]quad.State) error {
	if err := p.c.ctx.Err(); err != nil {
		return err
	}
	return p.Predictor.Predict(windows, future, out)
}

// WriteText implements result: the totals, their ratios to the references, every flight, and samples of the latent
// priors.
func (s *scoreResult) WriteText(w io.Writer) error {
	if err := s.report.WriteTable(w, s.references...); err != nil {
		return err
	}
	if err := s.report.WriteIntervals(w); err != nil {
		return err
	}
	steps := s.report.Options.Steps
	if err := s.report.WriteFlights(w, steps[len(steps)-1]); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(s.samples)) {
		if _, err := fmt.Fprintf(w, "%s: %v\n", name, s.samples[name]); err != nil {
			return err
		}
	}
	return nil
}

// MarshalJSON writes the report with its warnings.
func (s *scoreResult) MarshalJSON() ([]byte, error) {
	b, err := json.Marshal(s.report)
	if err != nil {
		return nil, err
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(b, &object); err != nil {
		return nil, err
	}
	if object["warnings"], err = json.Marshal(s.warnings); err != nil {
		return nil, err
	}
	if object["samples"], err = json.Marshal(s.samples); err != nil {
		return nil, err
	}
	return json.Marshal(object)
}
