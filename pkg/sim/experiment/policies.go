package experiment

import (
	"context"
	"fmt"

	"vnd/pkg/vnd/bundle"
)

// Variant of a campaign, by name.
type Variant struct {
	Name string
	*Campaign
}

// Policies measures policies of one model in the plan's table: n of each variant, which is how policies are trained.
// The model is of the campaign's own rounds. Each policy goes on from the base policy, as often as there were rounds,
// with randomness of its own. The studies are one for each of the n; their methods are the variants.
func (c *Campaign) Policies(ctx context.Context, p *Plan, variants []Variant, n int) ([]*Study, error) {
	s := &study{Campaign: c, plan: p, ctx: ctx, out: &Study{Seed: c.Seed}, base: p.Start}
	if err := s.learn(); err != nil {
		return nil, err
	}
	out := make([]*Study, n)
	for k := range out {
		out[k] = &Study{Seed: uint64(k + 1), Cost: c.Cost}
		for _, v := range variants {
			p.Report(fmt.Sprintf("policy %d of %d: %s", k+1, n, v.Name))
			b, err := s.improve(v, k)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", v.Name, err)
			}
			m, err := s.measure(Flies(v.Name, b))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", v.Name, err)
			}
			m.Method, m.Name = v.Name, v.Name
			out[k].Methods, out[k].Bundle = append(out[k].Methods, *m), b
		}
	}
	return out, nil
}

// apart is how far the seeds of two policies of one model are apart.
const apart = 1000

// improve trains policy k of a variant in the newest model.
func (s *study) improve(v Variant, k int) (b *bundle.Bundle, err error) {
	at := *v.Campaign
	at.Seed = s.Seed + apart*uint64(k+1)
	l, err := at.Learner(s.base)
	if err != nil {
		return nil, err
	}
	bank := s.out.Rounds[len(s.out.Rounds)-1].Bank
	for range s.plan.Rounds {
		if b, err = l.Improve(s.ctx, s.newest, bank); err != nil {
			return nil, err
		}
	}
	return b, nil
}
