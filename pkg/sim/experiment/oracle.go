package experiment

import (
	"errors"
	"fmt"
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/flight/policy"
	"vnd/pkg/sim"
	"vnd/pkg/sim/closedloop"
	"vnd/pkg/vnd/bundle"
)

// informed flies a bundle whose pushes are measured by true states: without noise, and as soon as a row has ended.
type informed struct{ *policy.ClosedLoopRunner }

// Inform implements closedloop.Informed.
func (o informed) Inform(t sim.Truth) { o.SetTruth(t.Time, &t.State) }

var _ closedloop.Informed = informed{}

// oracle is ours, and is told the true push. It has two policies. One learned as ours did, in the same model and for as
// many rounds, but for pushes that are measured at once. The other one is ours. It is told the air as well, and flies
// by the one that flies better there. Where commands come late, or a load swings, part of a push is the robot's own
// answer, and who answers at once swings.
func (s *study) oracle() (Method, error) {
	exact := *s.Campaign
	push := &exact.Policy.Push
	push.Rate, push.Mean, push.Calm = 1e4, 0, 0 // there is no noise
	b, took, err := s.trainAgain(&exact)
	if err != nil {
		return Method{}, err
	}
	prompt, err := fliesByTruth(b)
	if err != nil {
		return Method{}, err
	}
	prompt.Took = took
	ours, err := fliesByTruth(s.last)
	switch {
	case errors.Is(err, errLeftOut):
		return prompt, nil
	case err != nil:
		return Method{}, err
	case s.plan.Table == nil:
		t := &Table{Seconds: measureSeconds, Settle: measureSettle}
		for _, d := range s.Tasks {
			t.References = append(t.References, Reference{d.Name, d.Path})
		}
		return s.better(t, Air{Scenarios: s.plan.Scenarios}, prompt, ours)
	}
	m := prompt
	m.In = func(a Air) (Method, error) { return s.better(s.plan.Table, a, prompt, ours) }
	return m, nil
}

// fliesByTruth is a bundle whose pushes are measured by true states. The error is errLeftOut where it sees none.
func fliesByTruth(b *bundle.Bundle) (Method, error) {
	l, err := policy.Load(b)
	if err != nil {
		return Method{}, err
	}
	if !l.Measures() {
		return Method{}, fmt.Errorf("%w: the policy sees no push that an oracle could be told", errLeftOut)
	}
	return Method{Name: "oracle", Make: func(d Task) (quad.Controller, error) {
		r, err := l.NewRunner(d.Path.At)
		return informed{r}, err
	}}, nil
}

// better is the method with the smaller product of errors in trial flights in an air, along all references of a table.
func (s *study) better(t *Table, a Air, one, two Method) (Method, error) {
	trial, at, plan := *s, *s.Campaign, *s.plan
	at.Seed, plan.Table = s.Seed+apart, t
	trial.Campaign, trial.plan = &at, &plan
	ratio := 0. // logarithm of the errors of one ÷ those of two
	for _, r := range t.References {
		first, err := trial.cell(one, a, r)
		if err != nil {
			return one, err
		}
		second, err := trial.cell(two, a, r)
		if err != nil {
			return one, err
		}
		ratio += math.Log(first.Mean) - math.Log(second.Mean) // a crash decides
	}
	if ratio > 0 {
		return two, nil
	}
	return one, nil
}
