package cli

import (
	"errors"
	"fmt"

	"vnd/pkg/core/dist"
	"vnd/pkg/flight/pushcontrol"
	"vnd/pkg/learning/pushlearning"
	"vnd/pkg/nn/kernel"
	"vnd/pkg/robot/pusher"
	"vnd/pkg/vnd"
)

// pushTraining is the training of a pusher's policy before it begins.
type pushTraining struct {
	cfg  pushlearning.Training // of the policy in the model, or of a first one in the prior
	base pushlearning.Training // of that before, where there is a model and no policy
	*start
}

// preparePusher reads all that the training of a pusher's policy needs.
func (t *trainCommand) preparePusher() (*pushTraining, error) {
	switch {
	case t.Task != pushlearning.Name:
		return nil, fmt.Errorf("--task %s: expected %s with --robot %s", t.Task, pushlearning.Name, robotPusher)
	case t.Reference != "" || len(t.Flights) > 0 || t.Airframe != "" || t.Rotors != "" || t.Plot != "":
		return nil, errors.New("--reference, --flights, --airframe, --rotors and --plot: not expected with --robot " +
			robotPusher)
	}
	s, err := readStart(t.Bundle, pushlearning.Dt, pusher.Reader)
	if err != nil {
		return nil, err
	}
	if s.from != nil {
		if s.from, err = pushcontrol.Load(s.bundle); err != nil {
			return nil, err
		}
	}
	c := pushlearning.Default()
	p := &pushTraining{cfg: c.Base, base: c.Base, start: s}
	if s.model != nil || s.from != nil {
		p.cfg = c.Policy
	}
	if err := settle(&p.cfg, trainNode, t.Config, t.Param); err != nil {
		return nil, err
	}
	p.base.Hidden, p.base.Layers = p.cfg.Hidden, p.cfg.Layers
	p.base.Iterations, p.base.Worlds = min(p.base.Iterations, p.cfg.Iterations), p.cfg.Worlds
	return p, nil
}

// policy trains in the prior, and in the model if there is one. The last of the two is kept in a checkpoint.
func (p *pushTraining) policy(c *console, seed uint64, checkpoint string,
	show func(string, pushlearning.Progress)) (*vnd.Actor[float32], error) {
	from, o := p.from, pushlearning.Options{Seed: seed, Key: p.bundle.Parent}
	in := func(phase string, cfg *pushlearning.Training, plant pushlearning.Plant) (err error) {
		o.Show = func(g pushlearning.Progress) { show(phase, g) }
		from, err = pushlearning.Train(c.ctx, cfg, pushlearning.DefaultTask, plant, from, o)
		return err
	}
	prior := func(cfg *pushlearning.Training) pushlearning.Plant {
		return pushlearning.NewImagined(cfg.Worlds, pushlearning.Prior.System(), nil)
	}
	if p.model != nil && from == nil { // the same after an interruption
		if err := in("in the prior", &p.base, prior(&p.base)); err != nil {
			return nil, err
		}
	}
	o.Checkpoint = checkpoint
	if p.model == nil {
		err := in("train", &p.cfg, prior(&p.cfg))
		return from, err
	}
	err := in("in the model", &p.cfg, pushlearning.NewImagined(p.cfg.Worlds, p.model.System, p.model))
	return from, err
}

// trainPusher trains a pusher's policy by PPO and writes its bundle. Its processes would all do the same: it has one.
func (t *trainCommand) trainPusher(c *console, g dist.Group) (*trainResult, error) {
	if g.Size() > 1 {
		return nil, fmt.Errorf("started as %d processes, expected one with --robot %s", g.Size(), robotPusher)
	}
	unlock, err := claim(g, t.Out, "training")
	defer unlock()
	if err != nil {
		return nil, err
	}
	p, err := t.preparePusher()
	if err != nil {
		return nil, err
	}
	b, checkpoint := c.newBar("train"), t.Out+".checkpoint"
	var ended, there int // episodes of the last tenth
	var last pushlearning.Progress
	policy, err := p.policy(c, t.Seed, checkpoint, func(phase string, g pushlearning.Progress) {
		last = g
		if g.Iteration < g.Iterations-g.Iterations/10-1 {
			ended, there = 0, 0
		}
		ended, there = ended+g.Ended, there+g.Succeeded
		b.at(float64(g.Iteration+1)/float64(g.Iterations), fmt.Sprintf("%s: %d of %d pushes are there", phase,
			g.Succeeded, g.Ended))
	})
	b.done()
	if err != nil {
		return nil, explained(err, checkpoint, "training")
	}
	done := &trainResult{Bundle: t.Out, Parent: p.bundle.Parent, Task: t.Task, Cost: "paper", Epochs: p.cfg.Iterations,
		Seconds: last.Elapsed.Seconds(), Seed: t.Seed, Kernel: kernel.Name(), Warnings: c.warnings}
	if ended > 0 {
		share := float64(there) / float64(ended)
		done.There = &share
	}
	done.ID, err = t.writeActor(p.bundle, policy)
	return done, err
}
