package publictable

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"vnd/pkg/learning/rotorfit"
	"vnd/pkg/robot/rotors"
)

// Protocol is how a benchmark is done.
type Protocol struct {
	Name      string
	Title     string
	Published []Entry
	Steps     int // predicted from each start
	First     int // row of the first start of a stretch, at least
	Stride    int // rows from one start to the next
	// Train and Test are globs below the benchmark's folder: what is fitted to, and what is predicted. Held-out flights
	// match Test, those fitted to match Train and not Test.
	Train, Test string
	// AsPublished says that the table is compared with the original script's count, not with that within flights.
	AsPublished bool
	// From is a folder of an earlier run without history: an observer is fitted on top of its models. Empty fits both.
	From  string
	fit   rotorfit.Options
	state sizes // of the model
}

// sizes are those of a model's parts beside the rigid body, and of its correction.
type sizes struct {
	history, latent, observed, members int
	later                              int // updates of an observer on top of models without history; 0: none
	outputs                            int // of the correction; 0: none
	lags                               int // largest of the correction
}

// Entry is a row of a published table: errors after 50 steps, and their sums over 1 … 50 where they are published.
type Entry struct {
	Name string
	H50  [rotorfit.Channels]float64
	Sum  [rotorfit.Channels]float64
}

// idsiaTable is the table of Busetto and others, Control Engineering Practice 172, 2026, and the figures of two models
// that were published later.
var idsiaTable = []Entry{
	{"naive", [4]float64{.6797, 1.4749, .3041, .8837}, [4]float64{17.79, 38.92, 8.21, 29.09}},
	{"physics", [4]float64{.1269, .5781, .2544, .8837}, [4]float64{2.322, 10.62, 5.101, 29.09}},
	{"MLP", [4]float64{.1712, .5720, .2268, .9005}, [4]float64{4.052, 12.58, 6.059, 35.57}},
	{"hybrid", [4]float64{.1119, .5556, .2306, .5979}, [4]float64{2.363, 10.40, 6.153, 28.99}},
	{"LSTM", [4]float64{.2572, .7407, .2325, 1.2407}, [4]float64{5.971, 16.72, 5.653, 35.84}},
	{"Glassbox structured", [4]float64{.1084, .3658, .3687, 1.1715}, [4]float64{2.288, 11.26, 7.435, 39.61}},
	{"Glassbox residual", [4]float64{.1176, .5569, .2308, .7093}, [4]float64{2.218, 12.23, 5.446, 29.18}},
}

// IDSIA is the nano-drone benchmark: the state at the start and the rotor speeds from there on give 0.5 s.
func IDSIA(history bool) *Protocol {
	p := &Protocol{Name: "idsia", Title: "IDSIA nano-drone, 0.5 s", Published: idsiaTable, Steps: 50, Stride: 1,
		Train: "flights/train/*.csv*", Test: "flights/test/*.csv*", AsPublished: true,
		fit: rotorfit.Options{Steps: 50, Updates: 800, Blocks: 8, Rate: .01, Even: 1,
			Weights: [4]float64{0, 1, 1, 1}},
		state: sizes{latent: 6, members: 1}}
	if history {
		p.Title, p.First, p.AsPublished = "IDSIA nano-drone, 0.5 s, with history", 40, false
		p.Published = nil // it had no history
		p.state.history, p.state.observed, p.state.later = 40, 36, 400
	}
	return p
}

// NanoBench is the benchmark of that name on cleaned flights: motor commands, 1 s. Nobody published figures by this
// protocol. A shape is held out: it is fitted to no repetition of what it predicts.
func NanoBench(held string) *Protocol {
	return &Protocol{Name: "nanobench", Title: "NanoBench, " + held + " held out, 1 s", Steps: 100, First: 40,
		Stride: 10, Train: "flights/*.csv*", Test: "flights/" + held + "*.csv*",
		fit: rotorfit.Options{Steps: 100, Updates: 1000, Blocks: 8, Rate: .01, Even: .5,
			Weights: [4]float64{1, 1, 1, 1}},
		state: sizes{history: 30, latent: 12, observed: 36, members: 1, outputs: 6,
			lags: 40}}
}

// Set overrides what a user may choose of the fit; zeros leave it.
func (p *Protocol) Set(updates, threads int) {
	if updates > 0 {
		p.fit.Updates = updates
	}
	p.fit.Threads = threads
}

// Flights reads those to fit to and those to predict. test, if not empty, is a folder of other flights to predict:
// then all that match Train are fitted to.
func (p *Protocol) Flights(dir, train, test string) (fitted, predicted []*rotors.Flight, err error) {
	if train == "" {
		train = filepath.Join(dir, p.Train)
	}
	all, err := filepath.Glob(train)
	if err != nil {
		return nil, nil, fmt.Errorf("--train %s: %w", train, err)
	}
	held := []string{test}
	if test == "" {
		if held, err = filepath.Glob(filepath.Join(dir, p.Test)); err != nil {
			return nil, nil, err
		}
		all = slices.DeleteFunc(all, func(f string) bool { return slices.Contains(held, f) })
	}
	switch {
	case len(all) == 0:
		return nil, nil, fmt.Errorf("%s: no flights to fit to", train)
	case len(held) == 0:
		return nil, nil, fmt.Errorf("%s: no flights to predict", filepath.Join(dir, p.Test))
	}
	if fitted, err = rotorfit.ReadAll(all); err != nil {
		return nil, nil, err
	}
	predicted, err = rotorfit.ReadAll(held)
	return fitted, predicted, err
}

// Review checks, before a fit, that the flights can be predicted from one to those that are fitted to. It returns those
// that are long enough for the protocol, and warnings: of those that are not, and of those that are fitted to as well.
func (p *Protocol) Review(fitted, flights []*rotors.Flight) (kept []*rotors.Flight, warnings []string, err error) {
	c, err := rotorfit.Typical(fitted, 0, 0, 0)
	if err != nil {
		return nil, nil, err
	}
	known := map[[rotors.Measured]float64]string{}
	for _, f := range fitted {
		known[f.State[len(f.State)-1]] = f.File
	}
	for _, f := range flights {
		if err := rotorfit.Fits(&c, f); err != nil {
			return nil, nil, err
		}
		if len(f.Starts(p.First, p.Stride, p.Steps)) == 0 {
			warnings = append(warnings, fmt.Sprintf("%s: no stretch of %d rows without a gap: not predicted", f.File,
				p.least()))
			continue
		}
		if same, ok := known[f.State[len(f.State)-1]]; ok {
			warnings = append(warnings,
				fmt.Sprintf("%s: the model is fitted to it, as %s: its errors say little", f.File, same))
		}
		kept = append(kept, f)
	}
	if len(kept) == 0 {
		return nil, warnings, fmt.Errorf("no flight to predict has a stretch of %d rows without a gap", p.least())
	}
	return kept, warnings, nil
}

// least is how many rows without a gap a stretch must have.
func (p *Protocol) least() int { return p.First + p.Steps + 1 }

// Fit fits a predictor, of one seed.
func (p *Protocol) Fit(ctx context.Context, flights []*rotors.Flight, seed uint64,
	report func(rotorfit.Progress)) (*rotorfit.Predictor, error) {
	made, err := &rotorfit.Predictor{}, error(nil)
	for member := range p.state.members {
		m, err := p.member(ctx, flights, seed, member, func(q rotorfit.Progress) {
			q.Update += member * q.Updates
			q.Updates *= p.state.members
			report(q)
		})
		if err != nil {
			return nil, err
		}
		made.Models = append(made.Models, m)
	}
	if p.state.outputs > 0 {
		made.Correction, err = rotorfit.Correct(ctx, made.Models, flights, p.Steps, rotorfit.CorrectionStride,
			p.state.outputs, rotorfit.LagsOf(p.state.lags), rotorfit.CorrectionRidge)
	}
	return made, err
}

// member fits one model: with its observer at once, or first the model and then the observer alone.
func (p *Protocol) member(ctx context.Context, flights []*rotors.Flight, seed uint64, number int,
	report func(rotorfit.Progress)) (*rotors.Model, error) {
	o := p.fit
	o.Seed, o.Report = seed*1000+uint64(number), report
	m, err := p.plain(ctx, flights, seed, number, o)
	if err != nil || p.state.later == 0 {
		return m, err
	}
	if m, err = m.Observed(p.state.history, p.state.observed); err != nil {
		return nil, err
	}
	// The force adapts beside the observer; attitude and rates keep their numbers.
	o.Updates, o.Only = min(o.Updates, p.state.later), slices.Concat(m.Observer, m.Force)
	return m, rotorfit.Run(ctx, m, flights, o)
}

// plain is the model before an observer comes on top: fitted, or that of an earlier run.
func (p *Protocol) plain(ctx context.Context, flights []*rotors.Flight, seed uint64, number int,
	o rotorfit.Options) (*rotors.Model, error) {
	now := p.state
	if p.state.later > 0 {
		now.history, now.observed = 0, 0
	}
	if p.From != "" && p.state.later > 0 {
		base, err := rotorfit.Load(filepath.Join(p.From, fmt.Sprintf("seed%d.json", seed)))
		if err != nil {
			return nil, err
		}
		if number >= len(base.Models) || base.History() > 0 {
			return nil, fmt.Errorf("%s: %d models with %d rows of history, want %d without", p.From, len(base.Models),
				base.History(), p.state.members)
		}
		return base.Models[number], nil
	}
	c, err := rotorfit.Typical(flights, now.history, now.latent, now.observed)
	if err != nil {
		return nil, err
	}
	m, err := rotors.New(c)
	if err != nil {
		return nil, err
	}
	return m, rotorfit.Run(ctx, m, flights, o)
}

// Predict predicts every start of the protocol.
func (p *Protocol) Predict(with *rotorfit.Predictor, flights []*rotors.Flight) ([]*rotorfit.Predictions, error) {
	if with.History() > p.First {
		return nil, fmt.Errorf("the model uses %d rows before a start, the protocol allows %d", with.History(), p.First)
	}
	var all []*rotorfit.Predictions
	for _, f := range flights {
		if err := rotorfit.Fits(with.Config(), f); err != nil {
			return nil, err
		}
		starts := f.Starts(p.First, p.Stride, p.Steps)
		if len(starts) == 0 {
			continue // too short: the protocol asks nothing of it
		}
		made := with.Predict(f, starts, p.Steps)
		made.Round()
		all = append(all, made)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no flight has a stretch of %d rows without a gap", p.least())
	}
	return all, nil
}

// Figures are the errors of one set of predictions.
type Figures struct {
	Within    Curve      `json:"within"`
	Published Curve      `json:"as_published,omitempty"`
	RMS       [2]float64 `json:"p_rms"` // m, after 50 steps and after the last
	Starts    int        `json:"starts"`
}

// Score counts the errors.
func (p *Protocol) Score(predictions []*rotorfit.Predictions) *Figures {
	f := &Figures{Within: Within(predictions)}
	if p.AsPublished {
		f.Published = AsPublished(predictions)
	}
	f.RMS = [2]float64{PositionRMS(predictions, 50), PositionRMS(predictions, p.Steps)}
	for _, q := range predictions {
		f.Starts += len(q.Starts)
	}
	return f
}

// Table is the curve that is compared with the published table.
func (f *Figures) Table() Curve {
	if f.Published != nil {
		return f.Published
	}
	return f.Within
}

// Naive predicts that the state stays, or with constant velocity.
func (p *Protocol) Naive(flights []*rotors.Flight, constantVelocity bool) []*rotorfit.Predictions {
	var all []*rotorfit.Predictions
	for _, f := range flights {
		q, dt := &rotorfit.Predictions{Flight: f}, rotorfit.Period(f)
		for _, s := range f.Starts(p.First, p.Stride, p.Steps) {
			states := make([][rotors.Measured]float64, p.Steps)
			for h := range states {
				states[h] = f.State[s.Row]
				for i := 0; i < 3 && constantVelocity; i++ {
					states[h][i] += states[h][7+i] * float64(h+1) * dt
				}
			}
			q.Starts, q.States = append(q.Starts, s.Row), append(q.States, states)
		}
		if len(q.Starts) > 0 {
			all = append(all, q)
		}
	}
	return all
}
