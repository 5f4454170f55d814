package continual

import (
	"context"
	"fmt"

	"vnd/pkg/learning/fit"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// Improve trains the current policy in the model of another bundle, as a round does with its own, and makes that the
// current one unjudged. bank[N][Z] are latents of flights.
func (l *Learner) Improve(ctx context.Context, model *bundle.Bundle, bank []float32) error {
	m, q, err := vnd.FromBundle(model, quadrotor.Reader)
	if err != nil {
		return fmt.Errorf("learn: %w", err)
	}
	l.rounds++
	r := &round{l: l, ctx: ctx, current: l.Current(), fitted: &fit.Fit{Model: m, Robot: q},
		out: &Round{Number: l.rounds, Bank: bank}}
	if err := r.plan(); err != nil {
		return err
	}
	if err := r.improve(); err != nil {
		return err
	}
	l.Return(r.out.Candidate)
	return nil
}
