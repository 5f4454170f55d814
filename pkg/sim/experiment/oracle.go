package experiment

import (
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/policy"
	"vnd/pkg/sim"
	"vnd/pkg/sim/closedloop"
	"vnd/pkg/vnd/bundle"
)

// oracle flies a bundle whose pushes are measured by true states: without noise, and as soon as a row has ended.
type oracle struct {
	*policy.ClosedLoopRunner
	truth quad.State
}

// Inform implements closedloop.Informed.
func (o *oracle) Inform(t sim.Truth, _ so3.Vec3) { o.truth = t.State }

var _ closedloop.Informed = (*oracle)(nil)

// oracle is ours, told the true push: a policy that learned as ours did, in the same model and for as many rounds, that
// pushes are measured at once.
func (s *study) oracle() (Method, error) {
	exact := *s.Campaign
	push := &exact.Policy.Push
	push.Rate, push.Mean, push.Calm = 1e4, 0, 0 // what swings is no noise
	b, took, err := s.again(&exact)
	return Method{Name: "oracle", Took: took, Make: func(d Task) (quad.Controller, error) { return newOracle(b, d) }},
		err
}

func newOracle(b *bundle.Bundle, d Task) (*oracle, error) {
	r, err := policy.NewClosedLoopRunner(b, d.Path.At)
	if err != nil {
		return nil, err
	}
	o := &oracle{ClosedLoopRunner: r}
	o.SetTruth(&o.truth)
	return o, nil
}
