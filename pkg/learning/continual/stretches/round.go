package stretches

import (
	"context"
	"fmt"

	"vnd/pkg/learning/continual"
	"vnd/pkg/learning/fit"
	"vnd/pkg/learning/gate"
	"vnd/pkg/learning/train"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// round is one at work.
type round[Row any] struct {
	l       *Learner[Row]
	ctx     context.Context
	current *bundle.Bundle
	out     *continual.Round

	segments   []stretch[Row]
	rows       [][]Row // of the segments
	held       [][]Row // of them, out of the fit
	fitted     *fit.Fit
	validation float64
}

func (r *round[Row]) report(p continual.Phase, share, loss float64) {
	r.l.opt.Status(continual.Status{Phase: p, Share: share, Rows: r.out.Rows, Loss: loss, Validation: r.validation,
		BundleID: r.current.ID})
}

// seed of a round: another one for each.
func (r *round[Row]) seed() uint64 { return r.l.opt.Seed<<16 + uint64(r.out.Number) }

// fit goes on from the model of before, or begins the first one.
func (r *round[Row]) fit() error {
	cfg, prior := *r.l.cfg.Fit, r.l.kind.Prior
	if r.l.model != nil {
		r.l.cfg.Warm.Apply(&cfg)
	}
	var all []fit.Recording
	unseen := 0
	for i, s := range r.segments {
		learned, held := r.l.kind.HoldOut(s.number, s.rows)
		more := Recordings(prior, fmt.Sprint("stretch ", i+1), learned, held)
		if all = append(all, more...); i >= r.l.learned {
			unseen += len(more)
		}
		r.held = append(r.held, held...)
	}
	f, err := fit.Run(r.ctx, cfg, fit.KnownRobot(prior, all), fit.Options{Seed: r.seed(), From: r.l.model,
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
func (r *round[Row]) encode() error {
	r.out.Bank = vnd.Latents(r.fitted.Model, r.l.kind.Prior, r.rows, r.l.cfg.Stride)
	return nil
}

// improve trains the current policy in the model, and makes the candidate's bundle.
func (r *round[Row]) improve() error {
	from, err := vnd.ActorFromBundle(r.current)
	if err != nil {
		return err
	}
	m := r.fitted.Model
	p, err := r.l.kind.Improve(r.ctx, m, from, train.Options{Seed: r.seed(), Bank: r.out.Bank,
		Progress: func(p train.Progress) {
			r.out.Curve.Figures = append(r.out.Curve.Figures, p.Figures)
			r.report(continual.Improving, float64(p.Epoch)/float64(p.Epochs), p.Figures.Cost)
		}})
	if err != nil {
		return err
	}
	b, err := vnd.Pack(m, r.l.kind.Prior, p, r.l.kind.Task)
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

// gate asks whether the candidate may move the robot: by what its model predicts of what was held out, by episodes in
// that model, and by those of worlds that the stretches show.
func (r *round[Row]) gate() error {
	first, err := r.predicts()
	if err != nil {
		return err
	}
	if !first.Pass {
		r.out.Verdict = &gate.Verdict{Candidate: r.out.ID, Current: r.current.ID, Stages: []gate.Stage{first}}
		return nil
	}
	g := r.l.kind.Gate(r.rows, r.seed())
	v, err := g.Evaluate(r.ctx, r.out.Candidate, r.current, r.out.Bank)
	if err == nil {
		v.Stages = append([]gate.Stage{first}, v.Stages...)
		r.out.Verdict = v
	}
	return err
}

// predicts compares the model with its prior, and with that of the current bundle, on what was held out.
func (r *round[Row]) predicts() (gate.Stage, error) {
	s := gate.Stage{Name: "held out", Pass: true}
	if len(r.held) == 0 {
		s.Skipped = "nothing is held out"
		return s, nil
	}
	p, err := r.l.kind.Predict(r.fitted.Model, r.held)
	if err != nil {
		return s, err
	}
	if !p.Better() {
		s.Reasons = append(s.Reasons, fmt.Sprintf("%s, expected less", p))
	}
	now, err := r.l.kind.Load(r.current)
	if err == nil && now.Model != nil {
		const most = 1.1 // by which chance may make a prediction worse
		var q Prediction
		if q, err = r.l.kind.Predict(now.Model, r.held); p.Model > max(most*q.Model, known) {
			s.Reasons = append(s.Reasons, fmt.Sprintf("%s, by the model of the current bundle by %.3g mm", p,
				1000*q.Model))
		}
	}
	s.Pass = len(s.Reasons) == 0
	return s, err
}
