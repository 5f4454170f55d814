package pushing

import (
	"context"
	"math/rand/v2"

	"vnd/pkg/vnd"
)

// Peers are an oracle, RMA, and what goes on from base as b does, but is recorded with the nominal box alone, or has no
// latent. No gate holds their last policy back.
func (b *Budget) Peers(ctx context.Context, ours *Learned) ([]Method, error) {
	oracle, err := b.trainOracle(ctx, ours.Base)
	if err != nil {
		return nil, err
	}
	rma, err := b.rma(ctx, oracle)
	if err != nil {
		return nil, err
	}
	all := []Method{{Name: "oracle", Policy: oracle, Informed: true}, rma}
	single, simple := *b, *b
	single.boxes = func(int, *rand.Rand) Condition { return Nominal }
	simple.Fit.Model.Latent = 0
	for _, x := range []struct {
		name string
		*Budget
	}{{"single condition", &single}, {"simple residual", &simple}} {
		l, err := x.learn(ctx, ours.Base)
		if err != nil {
			return nil, err
		}
		p, err := vnd.ActorFromBundle(l.Rounds[len(l.Rounds)-1].Candidate)
		if err != nil {
			return nil, err
		}
		all = append(all, Method{Name: x.name, Policy: p})
	}
	return all, nil
}
