package continual

import (
	"context"
	"fmt"

	"vnd/pkg/core/quad"
	"vnd/pkg/flight/policy"
	"vnd/pkg/learning/dataset"
	"vnd/pkg/learning/fit"
	"vnd/pkg/learning/fit/quadfit"
	"vnd/pkg/learning/gate"
	"vnd/pkg/learning/gate/quadgate"
	"vnd/pkg/learning/smooth"
	"vnd/pkg/learning/task"
	"vnd/pkg/learning/train"
	"vnd/pkg/learning/train/quadtrain"
	"vnd/pkg/robot"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// round is one round at work.
type round struct {
	l       *Learner
	ctx     context.Context
	current *bundle.Bundle
	out     *Round

	taken    int               // segments of the learner
	segments []dataset.Segment // the same, joined
	learned  int               // of them, the first ones: what the model to go on from was fitted to
	flown    [][]quad.Row      // their rows, as measured
	fitted   *fit.Fit

	from     *policy.Policy[float32] // that is improved
	improved bool                    // it was improved in a model before
	fitting  fit.Config
	training quadtrain.Config
	updates  stopwatch // of the fit
	epochs   stopwatch // of the policy's training

	validation float64
	good       float64 // share of the rows, by what they count
}

// plan decides how much the round does, by the pace of the one before.
func (r *round) plan() (err error) {
	if r.from, err = policy.FromBundle(r.current); err != nil {
		return err
	}
	c := &r.l.cfg
	r.improved = r.from.UsesLatent() || r.from.Pinhole != nil && vnd.In(r.current)
	r.fitting, r.training = c.fitting(r.l.model != nil), c.training(r.improved)
	updates, epochs := &r.fitting.Train.Updates, &r.training.Epochs
	r.out.Share = r.l.pace.share(c.Seconds, *updates, *epochs)
	*updates, *epochs = part(r.out.Share, *updates), part(r.out.Share, *epochs)
	return nil
}

// look says what the round took, and the next one will.
func (r *round) look() {
	total := 0.0
	for _, s := range r.out.Seconds {
		total += s
	}
	r.out.Pace = Pace{Update: r.updates.each(), Epoch: r.epochs.each(),
		Rest: total - r.updates.seconds() - r.epochs.seconds()}
	c := &r.l.cfg
	next := c.training(r.improved || r.out.Verdict.Pass)
	r.out.Outlook = r.out.Pace.outlook(c.Seconds, c.fitting(true).Train.Updates, next.Epochs)
}

func (r *round) report(p Phase, share, loss float64) {
	r.l.opt.Status(Status{Phase: p, Share: share, Rows: r.out.Rows, Loss: loss,
		Validation: r.validation, BundleID: r.current.ID})
}

// seed of a round: another one for each.
func (r *round) seed() uint64 { return r.l.opt.Seed<<16 + uint64(r.out.Number) }

// fit goes on from the model of before, or begins the first one. Only a round that comes to its end leaves its model
// behind.
func (r *round) fit() error {
	if err := r.obeyed(); err != nil {
		return err
	}
	from, err := r.followed(&r.fitting)
	if err != nil {
		return err
	}
	f, err := fit.Run(r.ctx, r.fitting, r.source, fit.Options{Seed: r.seed(), From: from,
		Unseen: len(r.segments) - r.learned, Now: r.l.opt.Now, Progress: func(p fit.Progress) {
			r.updates.step(r.l.opt.Now())
			if p.Validation == p.Validation { // not NaN
				r.validation = p.Validation
			}
			r.report(Fitting, p.Share, p.Losses.Total)
		}})
	if err != nil {
		return err
	}
	r.fitted, r.out.Fit = f, f.Metrics.Losses
	return nil
}

// obeyed refuses records in which the robot turns against its commands. Those that the model to go on from was not
// fitted to come first: among many others they would be too few to count.
func (r *round) obeyed() error {
	r.flown = dataset.QuadRows(r.segments)
	for _, flown := range [...][][]quad.Row{r.flown[r.learned:], r.flown} {
		if axis, c, found := quadrotor.Reversed(r.current.Dt, flown); found {
			return fmt.Errorf("%w: the robot turns against its %s commands (correlation %.2f): in the records one of "+
				"both has the wrong sign: mend it, and empty the buffer", ErrNotEnoughGood, quadrotor.Axes[axis], c)
		}
	}
	return nil
}

// followed is the model to go on from, behind the actuator of the flights that it was not fitted to where they show
// another one: a motor or a propeller was changed, or a battery is tired.
func (r *round) followed(cfg *fit.Config) (*fit.Fit, error) {
	if r.l.model == nil || !cfg.Prior.Enabled || !cfg.Prior.Identify {
		return r.l.model, nil
	}
	unseen := r.segments[r.learned:]
	from, q := *r.l.model, quadfit.Robot(r.l.model)
	if cfg.Smoothing != "off" {
		if err := smooth.Fill(r.ctx, q.Dt, q.Actuator, unseen); err != nil {
			return nil, err
		}
	}
	var err error
	q.Actuator, err = quadrotor.Follow(r.ctx, q.Dt, smooth.Known(unseen), q.Actuator)
	from.Robot = q
	return &from, err
}

// source reads the segments, and refuses them where the state of most rows is known too badly: what is left may lie
// about the rest.
func (r *round) source(ctx context.Context, cfg *fit.Config, from robot.Robot) (*fit.Recorded, error) {
	read, err := quadfit.Source(r.current.Dt, r.segments)(ctx, cfg, from)
	if err != nil {
		return nil, err
	}
	r.l.keep(r.segments)
	good, exactly := smooth.Good(r.segments)
	r.good = good / float64(r.out.Rows)
	if dt := r.current.Dt; good < exactly/2 {
		return nil, fmt.Errorf("%w: of %.0f s of flight %.0f s count, for the state is known too badly; expected half",
			ErrNotEnoughGood, exactly*dt, good*dt)
	}
	return read, nil
}

// encode makes the bank of latents that the buffer's windows have now.
func (r *round) encode() error {
	r.out.Bank = vnd.Latents(r.fitted.Model, quadfit.Robot(r.fitted), r.flown, r.l.cfg.Stride)
	return nil
}

// improve trains the current policy in the model.
func (r *round) improve() error {
	opt, cfg, from := &r.l.opt, r.training, r.from
	m, dt := r.fitted.Model, r.current.Dt
	tasks := task.Improving(opt.Tasks)
	trials := quadtrain.NewTrials(quadtrain.Learned(m, dt, false, cfg.Trial(from), cfg.Margins), tasks, dt, r.seed())
	trials.Sample = train.Sampler(cfg.BankShare, r.out.Bank, m.Sample)
	world := quadtrain.Learned(m, dt, cfg.ResidualGradient, cfg.Pushes(from), cfg.Margins)
	res, err := quadtrain.Run(r.ctx, cfg, world, dt, quadtrain.Options{
		Seed: r.seed(), Tasks: tasks, Limits: opt.Vehicle.Limits, From: from, Bank: r.out.Bank, Fly: trials.Fly,
		Now: opt.Now, Progress: func(p train.Progress) {
			r.epochs.step(opt.Now())
			r.report(Improving, float64(p.Epoch)/float64(p.Epochs), p.Figures.Cost)
		}})
	if err != nil {
		return err
	}
	r.out.Curve = res.Curve
	return r.pack(res)
}

// pack makes the candidate's bundle.
func (r *round) pack(res *quadtrain.Result) error {
	b, err := vnd.Bundle(r.fitted.Model, r.fitted.Robot, r.l.cfg.fitting(true), r.fitted.Metrics)
	if err != nil {
		return err
	}
	if err := policy.Put(b, res.Policy, r.l.opt.Task); err != nil {
		return err
	}
	b.Parent, b.DataDigest, b.CreatedBy = r.current.ID, fmt.Sprintf("%x", r.fitted.Data), "vnd learn"
	if err := b.SetMetrics("round", struct {
		Number int         `json:"round"`
		Rows   int         `json:"rows"`
		Best   train.Flown `json:"trial"`
	}{r.out.Number, r.out.Rows, res.Best}); err != nil {
		return err
	}
	if _, err := b.Encode(); err != nil { // which names it
		return err
	}
	r.out.Candidate, r.out.ID = b, b.ID
	return nil
}

// judge flies the robot that the flights show, where it can. Where they do not agree with the model of the bundle that
// flies, every other trial is with the robot that this one has: records may be wrong.
func (r *round) judge() (gate.Judge, error) {
	s, ok := r.l.opt.Judge.(quadgate.Simulator)
	if !ok {
		return r.l.opt.Judge, nil
	}
	now, err := quadgate.Identify(r.ctx, smooth.Known(r.segments), r.current.Dt)
	if smooth.Poor(r.segments) { // then it flies with states as poor
		now.Position, now.Attitude = smooth.Noise(r.segments)
	}
	now.Every, now.Gap = dataset.Gaps(r.current.Dt, r.segments)
	r.out.Misfit = s.Misfit(&now)
	if err != nil {
		return nil, err
	}
	if vnd.In(r.current) {
		_, q, err := vnd.FromBundle(r.current, quadrotor.Reader)
		if err != nil {
			return nil, err
		}
		before := now
		before.Actuator, before.Dt, before.Drag = q.Actuator, q.Dt, 0
		if !before.Agree(&now) {
			return s.Of(now, before), nil
		}
	}
	return r.sooner(s.Of(now))
}

// sooner has the current bundle err no more with a judge than it did in flight.
func (r *round) sooner(j gate.Judge) (gate.Judge, error) {
	s, ok := j.(quadgate.Simulator)
	if !ok || r.l.opt.Flown == nil {
		return j, nil
	}
	j, sooner, err := s.Sooner(r.ctx, r.current, r.l.opt.Flown(r.current.ID))
	r.out.Sooner = sooner
	return j, err
}

// gate asks whether the candidate may fly.
func (r *round) gate() (err error) {
	opt := &r.l.opt
	judge, err := r.judge()
	if err != nil {
		return err
	}
	g := &gate.Gate{Config: r.l.cfg.Gate, Vehicle: opt.Vehicle.Flying(opt.Tasks), Judge: judge, Seed: r.seed(),
		Good: r.good,
		DisturbanceStrength: func(dt float64) float64 {
			return quadgate.DisturbanceStrength(smooth.Known(r.segments), dt)
		}}
	r.out.Verdict, err = g.Evaluate(r.ctx, r.out.Candidate, r.current, r.out.Bank)
	return err
}
