package experiment

import (
	"context"
	"fmt"
	"time"

	"vnd/pkg/vnd/bundle"
)

// Variant of a campaign, by name.
type Variant struct {
	Name string
	*Campaign
}

// Policies measures policies of one model in the plan's table: n of each variant, which is how policies are trained.
// The model is of the campaign's own rounds. Each policy goes on from the base policy, as often as there were rounds,
// with randomness of its own. The studies are one for each of the n; their methods are the variants. An error comes
// with the studies that were complete.
func (c *Campaign) Policies(ctx context.Context, p *Plan, variants []Variant, n int) (out []*Study, err error) {
	s := &study{Campaign: c, plan: p, ctx: ctx, out: &Study{}, base: p.Start}
	if err := s.learn(); err != nil {
		return nil, err
	}
	for k := range n {
		one := &Study{}
		for _, v := range variants {
			p.Report(fmt.Sprintf("policy %d of %d: %s", k+1, n, v.Name))
			m, err := s.tryPolicy(v, k)
			if err != nil {
				return out, fmt.Errorf("%s: %w", v.Name, err)
			}
			one.Methods = append(one.Methods, *m)
		}
		out = append(out, one)
	}
	return out, nil
}

// apart is how far the seeds of two policies of one model are apart.
const apart = 1000

// tryPolicy trains policy k of a variant in the newest model, and flies it.
func (s *study) tryPolicy(v Variant, k int) (*Measured, error) {
	at := *v.Campaign
	at.Seed = s.Seed + apart*uint64(k+1)
	b, _, err := s.trainAgain(&at)
	if err != nil {
		return nil, err
	}
	m, err := s.measure(Flies(v.Name, b))
	if err != nil {
		return nil, err
	}
	m.Method, m.Name = v.Name, v.Name
	return m, nil
}

// trainAgain trains a policy as another campaign does, in the newest model of the rounds and as often as there were
// rounds. It returns the wall time that this took, s.
func (s *study) trainAgain(c *Campaign) (_ *bundle.Bundle, took float64, err error) {
	began := time.Now()
	l, err := c.Learner(s.base)
	if err != nil {
		return nil, 0, err
	}
	bank := s.out.Rounds[len(s.out.Rounds)-1].Bank
	for range s.plan.Rounds {
		if err := l.Improve(s.ctx, s.newest, bank); err != nil {
			return nil, 0, err
		}
	}
	return l.Current(), time.Since(began).Seconds(), nil
}
