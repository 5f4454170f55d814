package cli

import (
	"encoding/json"
	"errors"
	"fmt"

	"vnd/pkg/flight/airframe"
	"vnd/pkg/learning/rotorfit"
	"vnd/pkg/learning/train/quadtrain"
	"vnd/pkg/robot/rotors"
	"vnd/pkg/vnd/bundle"
)

// forMotors sets the defaults of a training whose policy commands motors: lags of rotors, and smaller updates.
func forMotors(cfg *trainConfig) {
	cfg.Nominal.MinLag, cfg.Nominal.MaxLag = .015, .04
	cfg.Rate, cfg.Clip = .004, .05
}

// rotorTrainer is a trainer of a policy that commands motors, in the airframe's model or in one that was fitted.
func (t *trainCommand) rotorTrainer(cfg *trainConfig, frame *airframe.Airframe) (*trainer, error) {
	if t.Bundle != "" || len(t.Flights) > 0 {
		return nil, errors.New("--robot rotors: a training from nothing, expected no --bundle and no --flights")
	}
	m, err := t.rotorModel(cfg, frame)
	if err != nil {
		return nil, err
	}
	cfg.Nominal.Dt = m.Config.Period
	sys := rotors.NewSystem[float32](m)
	limits := sys.Limits(&frame.Rotors)
	if err := limits.Check(); err != nil { // of a fitted model: an airframe has checked its own
		return nil, fmt.Errorf("%s: %w: expected a hover between the airframe's rotors.min_command and "+
			"rotors.max_command", t.Rotors, err)
	}
	text, err := json.Marshal(rotors.Robot{Model: m}.Config())
	if err != nil {
		return nil, err
	}
	return &trainer{world: quadtrain.RotorWorld(cfg.Nominal, sys),
		trials: quadtrain.RotorWorld(forTrials(cfg.Nominal), sys), dt: m.Config.Period, motors: &limits,
		driven: fmt.Appendf(text, "|%+v", limits), bundle: &bundle.Bundle{Robot: rotors.Name, Dt: m.Config.Period}}, nil
}

// rotorModel reads the fitted model, or makes the airframe's.
func (t *trainCommand) rotorModel(cfg *trainConfig, frame *airframe.Airframe) (*rotors.Model, error) {
	if t.Rotors == "" {
		return frame.Rotors.Model(cfg.Nominal.Dt, cfg.Nominal.MeanLag())
	}
	p, err := rotorfit.Load(t.Rotors)
	if err != nil {
		return nil, err
	}
	if p.Config().History > 0 {
		return nil, fmt.Errorf("%s: the model wants %d rows of history, expected a fit without", t.Rotors,
			p.Config().History)
	}
	return p.Models[0].Propulsion(), nil
}

// forTrials is a nominal simulator whose actuators and gains go further than those of the training.
func forTrials(n quadtrain.Nominal) quadtrain.Nominal {
	n.MinLag, n.MaxLag, n.Gain = n.MinLag/2, 1.2*n.MaxLag, max(n.Gain, 0.03)
	return n
}
