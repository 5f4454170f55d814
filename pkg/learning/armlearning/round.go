package armlearning

import (
	"context"
	"fmt"

	"vnd/pkg/learning/continual"
	"vnd/pkg/learning/fit"
	"vnd/pkg/learning/gate"
	"vnd/pkg/learning/train"
	"vnd/pkg/robot/arm"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// round is one at work.
type round struct {
	l       *Learner
	ctx     context.Context
	current *bundle.Bundle
	out     *continual.Round

	segments   [][]arm.Row
	held       [][]arm.Row // of them, out of the fit
	fitted     *fit.Fit
	validation float64
}

func (r *round) report(p continual.Phase, share, loss float64) {
	r.l.opt.Status(continual.Status{Phase: p, Share: share, Rows: r.out.Rows, Loss: loss, Validation: r.validation,
		BundleID: r.current.ID})
}

// seed of a round: another one for each.
func (r *round) seed() uint64 { return r.l.opt.Seed<<16 + uint64(r.out.Number) }

// fit goes on from the model of before, or begins the first one.
func (r *round) fit() error {
	cfg := r.l.cfg.Fit.Config
	if r.l.model != nil {
		r.l.cfg.Fit.WarmStart.Apply(&cfg)
	}
	var all []fit.Recording
	unseen := 0
	for i, rows := range r.segments {
		learned, held := HoldOut(rows, Block(&cfg), cfg.Train.Validation)
		more := Recordings(fmt.Sprint("stretch ", i+1), learned, held)
		if all = append(all, more...); i >= r.l.learned {
			unseen += len(more)
		}
		r.held = append(r.held, held...)
	}
	f, err := fit.Run(r.ctx, cfg, fit.KnownRobot(Prior, all), fit.Options{Seed: r.seed(), From: r.l.model,
		Unseen: unseen, Progress: func(p fit.Progress) {
			if p.Validation == p.Validation { // not NaN
				r.validation = p.Validation
			}
			r.report(continual.Fitting, p.Share, p.Losses.Total)
		}})
	if err == nil {
		r.fitted, r.out.Fit = f, f.Metrics.Losses
	}
	return err
}

// encode makes the bank of latents.
func (r *round) encode() error {
	r.out.Bank = vnd.Latents(r.fitted.Model, Prior, r.segments, r.l.cfg.Stride)
	return nil
}

// improve trains the current policy in the model, and makes the candidate's bundle.
func (r *round) improve() error {
	from, err := vnd.ActorFromBundle(r.current)
	if err != nil {
		return err
	}
	c, m := r.l.cfg.Policy, r.fitted.Model
	p, err := Train(r.ctx, c, &train.Learned[float32]{Model: m, Through: c.ResidualGradient}, from,
		train.Options{Seed: r.seed(), Task: r.l.opt.Task, Bank: r.out.Bank, Progress: func(p train.Progress) {
			r.out.Curve.Figures = append(r.out.Curve.Figures, p.Figures)
			r.report(continual.Improving, float64(p.Epoch)/float64(p.Epochs), p.Figures.Cost)
		}})
	if err != nil {
		return err
	}
	b, err := Pack(m, p)
	if err != nil {
		return err
	}
	b.Parent, b.DataDigest, b.CreatedBy = r.current.ID, fmt.Sprintf("%x", r.fitted.Data), r.l.opt.Maker
	if err := b.SetMetrics("fit", r.fitted.Metrics); err != nil {
		return err
	}
	if _, err := b.Encode(); err != nil { // which names it
		return err
	}
	r.out.Candidate, r.out.ID = b, b.ID
	return nil
}

// gate asks whether the candidate may move the arm: by what its model predicts of what was held out, by episodes in
// that model, and by those of the arms that the stretches show.
func (r *round) gate() error {
	first, err := r.predicts()
	if err != nil {
		return err
	}
	if !first.Pass {
		r.out.Verdict = &gate.Verdict{Candidate: r.out.ID, Current: r.current.ID, Stages: []gate.Stage{first}}
		return nil
	}
	var arms []arm.Robot
	for _, s := range r.segments {
		if a, err := arm.Identify(s, Dt); err == nil { // else it is too short, or tells of no arm
			arms = append(arms, a)
		}
	}
	g := NewGate(r.l.cfg.Gate.Config, r.l.opt.Task, arms, r.seed())
	v, err := g.Evaluate(r.ctx, r.out.Candidate, r.current, r.out.Bank)
	if err == nil {
		v.Stages = append([]gate.Stage{first}, v.Stages...)
		r.out.Verdict = v
	}
	return err
}

// predicts compares the model with its prior, and with that of the current bundle, on what was held out.
func (r *round) predicts() (gate.Stage, error) {
	s := gate.Stage{Name: "held out", Pass: true}
	if len(r.held) == 0 {
		s.Skipped = "nothing is held out"
		return s, nil
	}
	p, err := Predict(r.fitted.Model, r.held)
	if err != nil {
		return s, err
	}
	if !p.Better() {
		s.Reasons = append(s.Reasons, fmt.Sprintf("%s, expected less", p))
	}
	now, err := modelOf(r.current)
	if now != nil && err == nil {
		const most = 1.1 // by which chance may make a prediction worse
		var q Prediction
		if q, err = Predict(now, r.held); p.Model > most*q.Model {
			s.Reasons = append(s.Reasons, fmt.Sprintf("%s, by the model of the current bundle by %.3g mm", p,
				1000*q.Model))
		}
	}
	s.Pass = len(s.Reasons) == 0
	return s, err
}
