package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"vnd/pkg/bridge/flightlog"
	"vnd/pkg/core/dist"
	"vnd/pkg/core/param"
	"vnd/pkg/learning/armlearning"
	"vnd/pkg/learning/continual/stretches"
	"vnd/pkg/learning/dataset"
	"vnd/pkg/learning/fit"
	"vnd/pkg/learning/fit/quadfit"
	"vnd/pkg/learning/openloop"
	"vnd/pkg/learning/pushlearning"
	"vnd/pkg/learning/smooth"
	"vnd/pkg/robot/rotors"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// fitNode is the node name of a fit's block in a parameter file.
const fitNode = "fit"

type fitCommand struct {
	Out      string   `required:"" placeholder:"BUNDLE" help:"File to write the fitted model to. Until then the fit is kept in BUNDLE.checkpoint."`
	Config   string   `placeholder:"F.yaml" help:"Parameter file, node names \"fit\" (see params/fit.yaml) and, for bags, \"assemble\" (see params/assemble.yaml)."`
	Param    []string `short:"p" sep:"none" placeholder:"NAME:=VALUE" help:"Set one parameter, after the file's; may be repeated."`
	Seed     uint64   `default:"1" help:"Seed of all randomness."`
	Minutes  *float64 `placeholder:"M" help:"Parameter train.minutes: the training ends by then."`
	NoLatent bool     `help:"Fit the control: parameter model.latent is 0 and all else is the same."`
	Airframe string   `placeholder:"F.yaml" help:"Parameter file, node name \"airframe\": commanded rates beyond its max_rate are refused."`
	Robot    string   `default:"quadrotor" enum:"quadrotor,rotors,arm,pusher" help:"Of what: ${enum}."`
	Rotors   string   `placeholder:"M.json" help:"Model that --robot rotors begins from; else the airframe's."`
	stretchTopics
	Inputs []string `arg:"" name:"input" help:"Flight CSV files, bags, or folders of them."`
}

// Run implements `vnd fit`.
func (f *fitCommand) Run(c *console) error {
	var r *fitResult
	if err := c.together(func(g dist.Group) error {
		cfg, err := f.configuration()
		if err := dist.Agree(g, err); err != nil {
			return err
		}
		todo := fitting{cfg: cfg, seed: f.Seed, out: f.Out, checkpoint: f.Out + ".checkpoint", airframe: f.Airframe,
			inputs: f.Inputs, robot: f.Robot, rotors: f.Rotors, topics: f.stretchTopics}
		if f.Config != "" && hasBlock(f.Config, assembleNode, &flightlog.Config{}) {
			todo.config = f.Config
		}
		r, err = c.fit(g, todo)
		return err
	}); err != nil {
		return err
	}
	return c.show(r)
}

// configuration is defaults, then the file, then single parameters, then the flags.
func (f *fitCommand) configuration() (fit.Config, error) {
	var cfg fit.Config
	param.Default(&cfg)
	switch f.Robot {
	case robotArm:
		cfg = armlearning.Default().Fit.Config
	case robotPusher:
		cfg = pushlearning.Default().Fit.Config
	case rotors.Name:
		cfg.Heads.Position, cfg.Heads.Rotation = false, false
	}
	if f.Config != "" {
		err := param.Load(f.Config, fitNode, &cfg)
		if errors.Is(err, param.ErrNoBlock) && hasBlock(f.Config, assembleNode, &flightlog.Config{}) {
			err = nil // it only says how to read bags
		}
		if err != nil {
			return cfg, err
		}
	}
	if err := set(&cfg, f.Param); err != nil {
		return cfg, err
	}
	if f.Minutes != nil {
		if err := param.Set(&cfg, "train.minutes", literal(*f.Minutes)); err != nil {
			return cfg, fmt.Errorf("--minutes: %w", err)
		}
	}
	if f.NoLatent {
		cfg.Model.Latent = 0
	}
	return cfg, f.check(&cfg)
}

// check refuses what the fit of a robot has not.
func (f *fitCommand) check(cfg *fit.Config) error {
	if err := f.checkTopics(); err != nil {
		return err
	}
	if f.Rotors != "" && f.Robot != rotors.Name {
		return errors.New("--rotors: expected with --robot rotors alone")
	}
	switch f.Robot {
	case robotArm:
		return cmp.Or(f.checkStretches(), cfg.Check(armlearning.Prior.System()))
	case robotPusher:
		return cmp.Or(f.checkStretches(), cfg.Check(pushlearning.Prior.System()))
	case rotors.Name:
		return f.onlyRotors(cfg)
	}
	return quadfit.Check(cfg)
}

// hasBlock reports whether a parameter file has something for the node, sound or not.
func hasBlock(path, node string, ptr any) bool {
	return !errors.Is(param.Load(path, node, ptr), param.ErrNoBlock)
}

// literal writes a float as YAML reads one: an integer is none.
func literal(x float64) string {
	s := fmt.Sprint(x)
	if !strings.ContainsAny(s, ".eIN") {
		s += ".0"
	}
	return s
}

// fitting is a fit to be done.
type fitting struct {
	cfg        fit.Config
	seed       uint64
	out        string // bundle
	checkpoint string // file that keeps the fit until then; empty keeps none
	config     string // parameter file that says how bags are read, or empty
	airframe   string // parameter file, or empty
	inputs     []string
	robot      string        // empty: quadrotor
	topics     stretchTopics // of bags of an arm or a pushed box
	rotors     string        // file of the fitted model of motors, or empty
}

// fitResult is what a fit came to.
type fitResult struct {
	Bundle   string                `json:"bundle"`
	ID       string                `json:"id"`
	Flights  int                   `json:"flights"`
	Rows     int                   `json:"rows"`
	Recorded float64               `json:"recorded_s"` // length of the flights
	Metrics  fit.Metrics           `json:"metrics"`
	HeldOut  *stretches.Prediction `json:"held_out,omitempty"` // of an arm or a pushed box
	Warnings []string              `json:"warnings"`
}

// fit reads the flights, fits a model to them and writes its bundle, in one of the processes of a group; what an
// interrupted fit left is taken up again.
func (c *console) fit(g dist.Group, f fitting) (*fitResult, error) {
	unlock, err := claim(g, f.out, "fit")
	defer unlock()
	var read *readings
	if err == nil {
		read, err = c.readings(f)
	}
	if err := dist.Agree(g, err); err != nil {
		return nil, err
	}
	b := c.newBar("fit")
	fitted, err := read.fit(fit.Options{Seed: f.seed, Checkpoint: f.checkpoint, Progress: b.showFit, Ranks: g})
	b.done()
	if err != nil {
		return nil, explained(err, f.checkpoint, "fit")
	}
	r := &fitResult{Bundle: f.out, Flights: read.flights, Rows: read.rows, Recorded: read.seconds,
		Metrics: fitted.Metrics}
	if g.Rank() == 0 {
		r.ID, err = f.finish(read, fitted, r)
	}
	r.Warnings = c.warnings
	return r, dist.Agree(g, err)
}

// readings are what a fit is made of.
type readings struct {
	flights, rows int
	seconds       float64
	fit           func(fit.Options) (*fit.Fit, error)
	judge         func(*vnd.Model[float32]) (*stretches.Prediction, error) // of an arm or a pushed box
	interval      func(*fit.Fit) (*openloop.Interval, error)               // of a quadrotor
}

// readings reads the inputs of a fit.
func (c *console) readings(f fitting) (r *readings, err error) {
	switch f.robot {
	case robotArm:
		r, err = c.armReadings(f)
	case robotPusher:
		r, err = c.pushReadings(f)
	case rotors.Name:
		r, err = c.rotorReadings(f)
	default:
		r, err = c.flights(f)
	}
	if err != nil {
		return nil, err
	}
	c.log.Info().Msgf("%d flights, %.0f s", r.flights, r.seconds)
	if _, err := os.Stat(f.checkpoint); err == nil {
		c.log.Info().Msgf("going on from %s", f.checkpoint)
	}
	return r, nil
}

// flights reads those of a quadrotor.
func (c *console) flights(f fitting) (*readings, error) {
	o, err := recordings{window: f.cfg.Model.Context, config: f.config, airframe: f.airframe}.options()
	if err != nil {
		return nil, err
	}
	flights, err := c.read(f.inputs, o)
	if err != nil {
		return nil, err
	}
	segments := dataset.Join(o.Delta, dataset.FromFlights(flights))
	return &readings{flights: len(flights), rows: rows(flights), seconds: seconds(flights, o.Delta),
		fit: func(opt fit.Options) (*fit.Fit, error) {
			return quadfit.Run(c.ctx, f.cfg, o.Delta, segments, opt)
		}, interval: func(f *fit.Fit) (*openloop.Interval, error) { return interval(f, segments) }}, nil
}

// interval finds how far the predictions of a fit are off, from the flights that it held out, as they are known best;
// nil without any.
func interval(f *fit.Fit, segments []dataset.Segment) (*openloop.Interval, error) {
	const level, steps, stride = 0.9, 50, 5
	if f.Model.Net.Context > openloop.Context {
		return nil, nil
	}
	out := smooth.Flights(segments, f.Metrics.ValidationFlights)
	e := openloop.Entry{Name: "vnd", Predictor: vnd.NewPredictor(f.Model, quadfit.Robot(f))}
	return openloop.Calibrate(out, &e, level, steps, stride)
}

// heldOut names what a bundle's metrics have of a prediction of what was held out.
const heldOut = "held_out"

// finish looks at predictions of what was held out and writes the bundle of a fit. It returns its ID.
func (f *fitting) finish(read *readings, fitted *fit.Fit, r *fitResult) (id string, err error) {
	var in *openloop.Interval
	if read.judge != nil {
		r.HeldOut, err = read.judge(fitted.Model)
	}
	if err == nil && read.interval != nil {
		in, err = read.interval(fitted)
	}
	if err != nil {
		return "", err
	}
	return f.write(fitted, r.HeldOut, in)
}

// write makes the bundle of a fit, with what came of its comparison, and returns its ID.
func (f *fitting) write(fitted *fit.Fit, compared *stretches.Prediction, in *openloop.Interval) (string, error) {
	made, err := bundleOf(fitted, &f.cfg)
	if err != nil {
		return "", err
	}
	made.DataDigest = fmt.Sprintf("%x", fitted.Data)
	if compared != nil {
		if err := made.SetMetrics(heldOut, compared); err != nil {
			return "", err
		}
	}
	if in != nil {
		if err := made.SetMetrics(openloop.IntervalMetrics, in); err != nil {
			return "", err
		}
	}
	if err := bundle.Write(f.out, made); err != nil {
		return "", goesOn(err, f.checkpoint, "fit")
	}
	if err := os.Remove(f.checkpoint); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	return made.ID, nil
}

// WriteText implements result.
func (f *fitResult) WriteText(w io.Writer) error {
	m := &f.Metrics
	took := time.Duration(m.Seconds * float64(time.Second)).Round(time.Second / 10)
	text := fmt.Sprintf("%d updates in %v on %s, %d threads; loss %.4g", m.Updates, took, m.Kernel, m.Workers,
		m.Losses.Total)
	if m.BestUpdate > 0 {
		text += fmt.Sprintf("; validation %.4g (best of all at update %d, %d flights held out)", m.Validation,
			m.BestUpdate,
			len(m.ValidationFlights))
	}
	if f.HeldOut != nil {
		text += "\n" + f.HeldOut.String()
	}
	_, err := fmt.Fprintf(w, "%d flights, %.0f s\n%s\nwrote %s, bundle %s\n", f.Flights, f.Recorded, text, f.Bundle,
		f.ID)
	return err
}

// explained says what came of an interrupted work: a fit or a training.
func explained(err error, checkpoint, work string) error {
	if !errors.Is(err, context.Canceled) || errors.As(err, new(*dist.Error)) {
		return err
	}
	if also := strings.TrimPrefix(err.Error(), context.Canceled.Error()); also != "" {
		return fmt.Errorf("interrupted, and the %s so far could not be kept: %s", work, strings.TrimSpace(also))
	}
	return goesOn(errors.New("interrupted"), checkpoint, work)
}

// goesOn adds to an error how the work goes on, if it does.
func goesOn(err error, checkpoint, work string) error {
	if _, missing := os.Stat(checkpoint); missing != nil {
		return err
	}
	return fmt.Errorf("%w; %s holds the %s so far: the same command goes on from it", err, checkpoint, work)
}

// bundleOf packs a fit. The same fit makes the same bytes, so its wall time and its threads stay out.
func bundleOf(f *fit.Fit, cfg *fit.Config) (*bundle.Bundle, error) {
	metrics := struct {
		fit.Metrics
		Seconds *float64 `json:"seconds,omitempty"` // in the place of that of Metrics
		Workers *int     `json:"workers,omitempty"`
	}{Metrics: f.Metrics}
	decides := *cfg
	decides.Train.Workers = 0
	b, err := vnd.Bundle(f.Model, f.Robot, &decides, metrics)
	if err != nil {
		return nil, err
	}
	b.CreatedBy = "vnd " + version()
	return b, nil
}

// version is that of the module as built: a release, or the commit.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}

// showFit moves the bar of a fit.
func (b bar) showFit(p fit.Progress) {
	text := fmt.Sprintf("loss %.4g (reconstruction %.3g, MMD %.3g)", p.Losses.Total, p.Losses.Reconstruction,
		p.Losses.MMD)
	if p.Validation == p.Validation { // not NaN
		text += fmt.Sprintf(", validation %.4g", p.Validation)
	}
	b.at(p.Share, fmt.Sprintf("fit: %s, %v left", text, p.Left.Round(time.Second)))
}
