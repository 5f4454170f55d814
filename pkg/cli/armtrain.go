package cli

import (
	"errors"
	"fmt"
	"os"

	"vnd/pkg/core/dist"
	"vnd/pkg/flight/armcontrol"
	"vnd/pkg/learning/armlearning"
	"vnd/pkg/learning/continual/stretches"
	"vnd/pkg/learning/train"
	"vnd/pkg/robot"
	"vnd/pkg/robot/arm"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// armTraining is the training of an arm's policy before it begins.
type armTraining struct {
	cfg     train.Config
	task    *arm.Track[float32]
	follows string // text of the reference, empty for all shapes
	policy  *vnd.Actor[float32]
	*start
	base train.Config // of what is learned in the prior before, where there is a model and no policy
}

// training is what Run runs in each process of a group.
func (t *trainCommand) training() func(*console, dist.Group) (*trainResult, error) {
	switch t.Robot {
	case robotArm:
		return t.trainArm
	case robotPusher:
		return t.trainPusher
	}
	return t.train
}

// prepareArm reads all that the training of an arm's policy needs.
func (t *trainCommand) prepareArm() (*armTraining, error) {
	switch {
	case t.Task != armcontrol.Task:
		return nil, fmt.Errorf("--task %s: expected %s with --robot %s", t.Task, armcontrol.Task, robotArm)
	case len(t.Flights) > 0 || t.Airframe != "" || t.Rotors != "" || t.Plot != "":
		return nil, errors.New("--flights, --airframe, --rotors and --plot: not expected with --robot arm")
	}
	references, text, err := t.armReferences()
	if err != nil {
		return nil, err
	}
	a := &armTraining{task: armlearning.Task(armlearning.Spread, references...), follows: text}
	if a.start, err = readStart(t.Bundle, armlearning.Dt, arm.Reader); err != nil {
		return nil, err
	}
	if a.cfg, err = t.armConfig(a, a.from != nil || a.model != nil); err != nil {
		return nil, err
	}
	if a.base, err = t.armConfig(a, false); err != nil {
		return nil, err
	}
	first := armlearning.Default().Base
	a.base.Epochs, a.base.Rate = min(first.Epochs, a.cfg.Epochs), first.Rate
	if a.from != nil && a.from.Latent != a.cfg.Latent {
		return nil, fmt.Errorf("%s: its policy sees a latent of %d, its model has one of %d", t.Bundle, a.from.Latent,
			a.cfg.Latent)
	}
	if a.policy, err = armlearning.NewPolicy(&a.cfg, a.task, a.from); err != nil {
		return nil, fmt.Errorf("%s: %w", t.Bundle, err)
	}
	return a, nil
}

// armConfig is that of a training from nothing, or of one that goes on.
func (t *trainCommand) armConfig(a *armTraining, improve bool) (train.Config, error) {
	c := armlearning.Default().Base
	if improve {
		c = armlearning.Default().Policy
	}
	switch {
	case a.model != nil:
		c.Latent = a.model.Net.Latent
	case a.from != nil:
		c.Latent = a.from.Latent
	}
	latent := c.Latent
	err := settle(&c, trainNode, t.Config, t.Param)
	if err == nil && c.Latent != latent && (a.model != nil || a.from != nil) {
		err = fmt.Errorf("latent is %d, expected %d, as %s has", c.Latent, latent, t.Bundle)
	}
	return c, err
}

// armReferences are those of the file, with its text, or else all shapes at two speeds.
func (t *trainCommand) armReferences() (all []*arm.Reference, text string, err error) {
	if t.Reference == "" {
		all, err = armlearning.AllReferences()
		return all, "", err
	}
	data, err := os.ReadFile(t.Reference)
	if err != nil {
		return nil, "", err
	}
	r, err := armcontrol.ParseReference(data, armlearning.Dt)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", t.Reference, err)
	}
	return []*arm.Reference{r}, string(data), nil
}

// start is what the training of an arm's or a pusher's policy begins with.
type start struct {
	bundle *bundle.Bundle      // to put the policy in
	model  *vnd.Model[float32] // nil: the prior is trained in
	from   *vnd.Actor[float32] // nil: from nothing
}

// readStart reads the model to train in and the policy to go on from, if there are any.
func readStart[R robot.Robot](path string, dt float64, of robot.Reader[R]) (*start, error) {
	if path == "" {
		return &start{bundle: &bundle.Bundle{Robot: of.Name, Dt: dt}}, nil
	}
	b, err := bundle.Read(path)
	if err != nil {
		return nil, err
	}
	if b.Robot != of.Name || b.Dt != dt {
		return nil, fmt.Errorf("%s is of robot %q at %g s, expected %q at %g s", path, b.Robot, b.Dt, of.Name, dt)
	}
	a := &start{bundle: b}
	b.Parent = b.ID
	if vnd.HasActor(b) {
		a.from, err = vnd.ActorFromBundle(b)
	}
	if err == nil && vnd.In(b) {
		if a.model, _, err = vnd.FromBundle(b, of); err == nil {
			err = trusted(b)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return a, nil
}

// trusted refuses a model that is known to be no better than its prior.
func trusted(b *bundle.Bundle) error {
	var compared *stretches.Prediction
	if _, err := b.Metric(heldOut, &compared); err != nil || compared == nil || compared.Better() {
		return nil
	}
	return fmt.Errorf("%s, expected less: fit more or longer recordings, or train without --bundle", compared)
}

// world is what the policy is trained in.
func (a *armTraining) world() train.World[float32] {
	if a.model == nil {
		return armlearning.PriorWorld()
	}
	return &train.Learned[float32]{Model: a.model, Through: a.cfg.ResidualGradient}
}

// trainArm trains an arm's policy and writes its bundle, in one of the processes of a group.
func (t *trainCommand) trainArm(c *console, g dist.Group) (*trainResult, error) {
	unlock, err := claim(g, t.Out, "training")
	defer unlock()
	var a *armTraining
	if err == nil {
		a, err = t.prepareArm()
	}
	if err := dist.Agree(g, err); err != nil {
		return nil, err
	}
	checkpoint := t.Out + ".checkpoint"
	b := c.newBar("train")
	o := train.Options{Seed: t.Seed, Task: a.task, Actor: a.policy, New: a.from == nil, Progress: b.showTraining,
		Ranks: g}
	if a.model != nil && a.from == nil {
		_, err = train.Run(c.ctx, a.base, armlearning.PriorWorld(), armlearning.Dt, o) // the same after an interruption
		o.New = false
	}
	var r *train.Result
	if err == nil {
		o.Checkpoint, o.Key = checkpoint, a.bundle.Parent+"|"+a.follows
		r, err = train.Run(c.ctx, a.cfg, a.world(), armlearning.Dt, o)
	}
	b.done()
	if err != nil {
		return nil, explained(err, checkpoint, "training")
	}
	n := len(r.Curve.Figures)
	done := &trainResult{Bundle: t.Out, Parent: a.bundle.Parent, Task: t.Task, Cost: "paper", Epochs: n,
		Seconds: r.Seconds, Seed: t.Seed, Kernel: r.Kernel, Last: r.Curve.Figures[n-1]}
	if was := r.Curve.Figures[0].Error; a.model != nil && a.from == nil && !(done.Last.Error < was) {
		c.warn(fmt.Sprintf("%s: in the model the policy is %.1f mm off, no less than the prior's with %.1f mm", t.Out,
			1000*done.Last.Error, 1000*was))
	}
	done.Warnings = c.warnings
	if g.Rank() == 0 {
		done.ID, err = t.writeActor(a.bundle, a.policy)
	}
	return done, dist.Agree(g, err)
}

// writeActor puts a policy into a bundle and returns its ID.
func (t *trainCommand) writeActor(b *bundle.Bundle, p *vnd.Actor[float32]) (string, error) {
	checkpoint := t.Out + ".checkpoint"
	b.CreatedBy = "vnd " + version()
	if err := vnd.PutActor(b, p, nil, t.Task); err != nil {
		return "", err
	}
	if err := bundle.Write(t.Out, b); err != nil {
		return "", goesOn(err, checkpoint, "training")
	}
	if err := os.Remove(checkpoint); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	return b.ID, nil
}
