package experiment

import (
	"math"

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

// oracle is ours, told the true push. It has two policies: one that learned as ours did, in the same model and for as
// many rounds, that pushes are measured at once, and ours. In the table it is told the air as well, and flies by the
// one that flies better there: where commands come late, or a load swings, part of the push is its own answer.
func (s *study) oracle() (Method, error) {
	exact := *s.Campaign
	push := &exact.Policy.Push
	push.Rate, push.Mean, push.Calm = 1e4, 0, 0 // what swings is no noise
	b, took, err := s.again(&exact)
	if err != nil {
		return Method{}, err
	}
	sooner, later := fliesByTruth(b), fliesByTruth(s.last)
	sooner.Took = took
	m := sooner
	m.In = func(a Air) (Method, error) { return s.better(a, sooner, later) }
	return m, nil
}

// fliesByTruth is a bundle whose pushes are measured by true states.
func fliesByTruth(b *bundle.Bundle) Method {
	return Method{Name: "oracle", Make: func(d Task) (quad.Controller, error) { return newOracle(b, d) }}
}

// better is the method that errs less in an air, in trial flights along the references of the table: by the product of
// their errors.
func (s *study) better(a Air, one, other Method) (Method, error) {
	trial, ahead := *s, 0.
	at := *s.Campaign
	at.Seed, trial.Campaign = s.Seed+apart, &at
	for _, r := range s.plan.Table.References {
		mine, err := trial.cell(one, a, r)
		if err != nil {
			return one, err
		}
		others, err := trial.cell(other, a, r)
		if err != nil {
			return one, err
		}
		ahead += math.Log(others.Mean) - math.Log(mine.Mean) // of a crash it is far
	}
	if ahead < 0 {
		return other, nil
	}
	return one, nil
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
