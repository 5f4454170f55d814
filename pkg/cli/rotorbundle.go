package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"vnd/pkg/bridge/flightlog"
	"vnd/pkg/core/param"
	"vnd/pkg/flight/airframe"
	"vnd/pkg/learning/fit"
	"vnd/pkg/learning/openloop"
	"vnd/pkg/learning/rotorfit"
	"vnd/pkg/robot/rotors"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

const (
	meanRotorLag = 0.0275 // s, of an airframe's rotors where nobody knows it
	typicalStep  = 0.02   // s, of a model that only tells its sizes
)

// onlyRotors refuses what a fit of flights by motors has not.
func (f *fitCommand) onlyRotors(cfg *fit.Config) error {
	if f.Config != "" && hasBlock(f.Config, assembleNode, &flightlog.Config{}) {
		return fmt.Errorf("%s: node %q: expected with --robot quadrotor alone", f.Config, assembleNode)
	}
	var a rotors.Airframe
	param.Default(&a)
	m, err := a.Model(typicalStep, meanRotorLag)
	if err != nil {
		return err
	}
	return cfg.Check(rotors.NewSystem[float32](m))
}

// rotorReadings reads flights by motors.
func (c *console) rotorReadings(f fitting) (*readings, error) {
	flights, err := rotorfit.ReadAll(f.inputs)
	if err != nil {
		return nil, err
	}
	typical, err := rotorfit.Typical(flights, 0, 0, 0)
	if err == nil {
		err = sound(flights)
	}
	if err == nil && typical.Input == rotors.Speeds && f.rotors == "" {
		err = fmt.Errorf("%s: m1…m4 are rotor speeds, expected --rotors: a model of vnd rotors fit", flights[0].File)
	}
	if err != nil {
		return nil, err
	}
	m, err := rotorPrior(f.rotors, f.airframe, typical.Period)
	if err != nil {
		return nil, err
	}
	robot, r := rotors.Robot{Model: m}, &readings{flights: len(flights)}
	var all []fit.Recording
	for _, of := range flights {
		if err := rotorfit.Fits(&m.Config, of); err != nil {
			return nil, err
		}
		for _, rows := range of.Rows() {
			x := fit.Recording{Name: of.File, Weight: make([]float32, len(rows))}
			for i := range x.Weight {
				x.Weight[i] = 1
			}
			x.Measured, x.Actions = robot.Flatten(rows)
			all = append(all, x)
			r.rows += len(rows)
		}
	}
	r.seconds = float64(r.rows) * robot.Period()
	r.fit = func(opt fit.Options) (*fit.Fit, error) {
		return fit.Run(c.ctx, f.cfg, fit.KnownRobot(robot, all), opt)
	}
	return r, nil
}

// rotorPrior is the propulsion of a fitted model, or the airframe's model at steps of dt.
func rotorPrior(path, frame string, dt float64) (*rotors.Model, error) {
	if path != "" {
		return propulsion(path)
	}
	a, err := airframe.Load(frame)
	if err != nil {
		return nil, err
	}
	return a.Rotors.Model(dt, meanRotorLag)
}

// propulsion reads what the rotors of a fitted model do.
func propulsion(path string) (*rotors.Model, error) {
	p, err := rotorfit.Load(path)
	if err != nil {
		return nil, err
	}
	if n := p.Config().History; n > 0 {
		return nil, fmt.Errorf("%s: the model wants %d rows of history, expected a fit without", path, n)
	}
	return p.Models[0].Propulsion(), nil
}

// byMotors reports whether the first bundle is of flights by motors; one that cannot be read is refused later.
func (s *scoring) byMotors() bool {
	if len(s.bundles) == 0 {
		return false
	}
	b, err := bundle.Read(s.bundles[0])
	return err == nil && b.Robot == rotors.Name
}

// rotorEntry is a predictor of flights by motors.
type rotorEntry = openloop.EntryOf[rotors.Row, [4]float64, rotors.State]

// scoreRotors lets models of flights by motors predict the same rows, beside the first one's rotors alone.
func (c *console) scoreRotors(s *scoring) (*scoreResult, error) {
	if len(s.dev) > 0 || s.plots != "" || s.config != "" {
		return nil, fmt.Errorf("--dev, --plots and --config: not expected with %s, of flights by motors", s.bundles[0])
	}
	flights, err := rotorfit.ReadAll(s.inputs)
	if err != nil {
		return nil, err
	}
	if err := sound(flights); err != nil {
		return nil, err
	}
	var entries []rotorEntry
	var of rotors.Robot
	for i, path := range s.bundles {
		m, r, err := rotorBundle(path, flights)
		if err != nil {
			return nil, err
		}
		name := "vnd"
		if len(s.bundles) > 1 {
			name = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
		}
		if i == 0 {
			of = r
			alone := *m
			alone.Output, alone.BiasShare = make([]float32, len(m.Output)), make([]float32, len(m.BiasShare))
			entries = append(entries, rotorEntry{Name: openloop.NamePrior, Predictor: vnd.NewPredictor(&alone, r)})
		}
		entries = append(entries, rotorEntry{Name: name, Predictor: vnd.NewPredictor(m, r)})
	}
	var all []openloop.Recording[rotors.Row]
	for _, f := range flights {
		all = append(all, openloop.Recording[rotors.Row]{Name: f.Name, Segments: f.Rows()})
	}
	o := openloop.Options{Dt: of.Period(), Steps: s.steps, Stride: s.stride}
	report, err := openloop.ScoreOf(of, all, entries, o)
	if err == nil && s.plot != "" {
		err = drawHorizon(s.plot, report)
	}
	return &scoreResult{report: report, references: []string{openloop.NamePrior}, warnings: c.warnings}, err
}

// rotorBundle reads the model of a bundle that can predict flights.
func rotorBundle(path string, flights []*rotors.Flight) (*vnd.Model[float32], rotors.Robot, error) {
	b, err := bundle.Read(path)
	if err != nil {
		return nil, rotors.Robot{}, err
	}
	m, r, err := vnd.FromBundle(b, rotors.Reader)
	if err != nil {
		return nil, r, fmt.Errorf("%s: %w", path, err)
	}
	for _, f := range flights {
		if err := rotorfit.Fits(&r.Model.Config, f); err != nil {
			return nil, r, err
		}
	}
	return m, r, nil
}
