package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"vnd/pkg/core/dist"
	"vnd/pkg/flight/airframe"
	"vnd/pkg/flight/policy"
	"vnd/pkg/learning/task"
	"vnd/pkg/learning/train"
	"vnd/pkg/learning/train/quadtrain"
	"vnd/pkg/robot/rotors"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// forMotors sets the defaults of a training whose policy commands motors: lags of rotors, and smaller updates.
func forMotors(cfg *trainConfig) {
	cfg.Nominal.MinLag, cfg.Nominal.MaxLag = .015, .04
	cfg.Rate, cfg.Clip = .004, .05
}

// rotorTrainer is a trainer of a policy that commands motors: in the model of a bundle, of the airframe, or of a fit
// of rotors.
func (t *trainCommand) rotorTrainer(cfg *trainConfig, frame *airframe.Airframe) (*trainer, error) {
	s := &trainer{bundle: &bundle.Bundle{Robot: rotors.Name}}
	var err error
	if t.Bundle != "" {
		if s.bundle, err = bundle.Read(t.Bundle); err != nil {
			return nil, err
		}
		cfg.Nominal.Dt = s.bundle.Dt
	}
	m, err := t.rotorModel(cfg, frame)
	if err != nil {
		return nil, err
	}
	if t.Bundle == "" {
		s.bundle.Dt = m.Config.Period
	} else if m, err = s.goOn(m, t.Rotors != ""); err != nil {
		return nil, fmt.Errorf("%s: %w", t.Bundle, err)
	}
	if err := s.rotorWorlds(cfg, frame, m); err != nil {
		return nil, fmt.Errorf("%s: %w", cmp.Or(t.Bundle, t.Rotors), err)
	}
	return s, nil
}

// goOn takes policy and model of the bundle. It returns the model of the rotors: that of the bundle, or else m. given:
// m is one that the user gave.
func (s *trainer) goOn(m *rotors.Model, given bool) (*rotors.Model, error) {
	b := s.bundle
	if b.Robot != rotors.Name {
		return nil, fmt.Errorf("bundle %s is of robot %q, expected %q", b.ID, b.Robot, rotors.Name)
	}
	var err error
	if b.Parent = b.ID; policy.In(b) {
		if s.from, err = policy.RotorsFromBundle(b); err != nil {
			return nil, err
		}
	}
	if vnd.In(b) {
		var r rotors.Robot
		if s.model, r, err = vnd.FromBundle(b, rotors.Reader); err != nil {
			return nil, err
		}
		m = r.Model
	}
	switch {
	case s.model != nil && given:
		return nil, errors.New("it has a model, expected no --rotors")
	case m.Config.Period != b.Dt:
		return nil, fmt.Errorf("steps of %g s, expected those of --rotors, %g s", b.Dt, m.Config.Period)
	}
	return m, nil
}

// rotorWorlds makes what a policy of motors is trained in.
func (s *trainer) rotorWorlds(cfg *trainConfig, frame *airframe.Airframe, m *rotors.Model) error {
	s.dt, cfg.Nominal.Dt = s.bundle.Dt, s.bundle.Dt
	sys := rotors.NewSystem[float32](m)
	if err := s.limit(sys.Limits(&frame.Rotors)); err != nil {
		return err
	}
	text, err := json.Marshal(rotors.Robot{Model: m}.Config())
	if err != nil {
		return err
	}
	s.driven = fmt.Appendf(text, "|%+v", *s.motors)
	nominal := quadtrain.RotorWorld(cfg.Nominal, sys)
	if s.model == nil {
		s.world, s.trials = nominal, quadtrain.RotorWorld(forTrials(cfg.Nominal), sys)
		return nil
	}
	hidden := quadtrain.Pushes{Hidden: cfg.Wind} // a policy of motors sees no push
	s.world = quadtrain.LearnedRotors(s.model, s.dt, cfg.ResidualGradient, hidden, cfg.Margins)
	s.trials = quadtrain.LearnedRotors(s.model, s.dt, false, quadtrain.Pushes{}, cfg.Margins)
	if s.from == nil { // it begins with a policy of the rotors alone: recorded flights say little of falling
		s.base = nominal
	}
	return nil
}

// limit takes the limits of the motors; a policy to go on from keeps its own.
func (s *trainer) limit(l rotors.Limits) error {
	if s.from != nil {
		l = *s.from.Motors
	}
	s.motors = &l
	if err := l.Check(); err != nil { // of a fitted model: an airframe has checked its own
		return fmt.Errorf("%w: expected a hover between the airframe's rotors.min_command and rotors.max_command", err)
	}
	if s.from != nil && s.model != nil && s.from.Latent != s.model.Net.Latent {
		return fmt.Errorf("its policy sees a latent of %d, its model has one of %d", s.from.Latent, s.model.Net.Latent)
	}
	return nil
}

// trainBase learns a policy of the rotors alone, for one that is then improved in a model. It is the same after an
// interruption.
func (t *trainCommand) trainBase(c *console, p *prepared, g dist.Group, progress func(train.Progress)) error {
	cfg := p.cfg.Config
	const fromNothing = 3 // times as many updates, as from nothing and in a model by default
	cfg.Epochs, cfg.Latent = fromNothing*cfg.Epochs, p.model.Net.Latent
	r, err := quadtrain.Run(c.ctx, cfg, p.base, p.dt, quadtrain.Options{Seed: t.Seed, Tasks: p.tasks, Motors: p.motors,
		Progress: progress, Ranks: g})
	if err == nil {
		p.from, p.tasks = r.Policy, task.Improving(p.tasks)
	}
	return err
}

// rotorModel reads the fitted model, or makes the airframe's.
func (t *trainCommand) rotorModel(cfg *trainConfig, frame *airframe.Airframe) (*rotors.Model, error) {
	if t.Rotors != "" {
		return propulsion(t.Rotors)
	}
	return frame.Rotors.Model(cfg.Nominal.Dt, cfg.Nominal.MeanLag())
}

// forTrials is a nominal simulator whose actuators and gains go further than those of the training.
func forTrials(n quadtrain.Nominal) quadtrain.Nominal {
	n.MinLag, n.MaxLag, n.Gain = n.MinLag/2, 1.2*n.MaxLag, max(n.Gain, 0.03)
	return n
}
