package manipulation

import (
	"errors"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/flight/armcontrol"
	"vnd/pkg/learning/armlearning"
	"vnd/pkg/learning/continual"
	"vnd/pkg/learning/continual/stretches"
	"vnd/pkg/robot/arm"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// beside is a learner beside an arm that follows a circle by the policy of the learner's bundle.
type beside struct {
	*stretches.Learner[arm.Row]
	t       *testing.T
	circle  *arm.Reference
	current *bundle.Bundle
}

// newBeside begins with a policy of the prior.
func newBeside(t *testing.T, b Budget, set func(*armlearning.Rounds)) *beside {
	t.Helper()
	references, err := b.References()
	if err != nil {
		t.Fatal(err)
	}
	task := armlearning.Task(armlearning.Spread, references...)
	base, err := b.base(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	start := &bundle.Bundle{Robot: arm.Name, Dt: Dt}
	if err := vnd.PutActor(start, base, nil, armcontrol.Task); err != nil {
		t.Fatal(err)
	}
	if _, err := start.Encode(); err != nil {
		t.Fatal(err)
	}
	var c armlearning.Rounds
	param.Default(&c)
	c.Config = b.Config
	set(&c)
	l, err := armlearning.New(c, start, task, stretches.Options{Seed: 1,
		Status: func(continual.Status) {}})
	if err != nil {
		t.Fatal(err)
	}
	return &beside{l, t, circle(t), start}
}

// method is that of the bundle that flies.
func (b *beside) method() Method {
	m, err := ByBundle("current", b.current)
	if err != nil {
		b.t.Fatal(err)
	}
	return m
}

// moves follows the circle under payloads, kg, and has the learner see it.
func (b *beside) moves(masses ...float64) {
	m := b.method()
	for _, mass := range masses {
		var rows []arm.Row
		keep := func(row arm.Row, _ float64) { rows = append(rows, row) }
		if crash := m.follow(ours, b.circle, 500, always(mass), keep); crash != "" {
			b.t.Fatal(crash)
		}
		b.Add(rows)
	}
}

// errs is the mean error under payloads, mm.
func (b *beside) errs(masses ...float64) (mean float64) {
	m := b.method()
	for _, mass := range masses {
		mean += m.mean(ours, mass, []*arm.Reference{b.circle}) / float64(len(masses))
	}
	return mean
}

// TestRoundsImprove: what was moved under three payloads makes a bundle that errs by less under others. A policy that
// training has spoilt is refused.
func TestRoundsImprove(t *testing.T) {
	if testing.Short() {
		t.Skip("learns for seconds")
	}
	for _, c := range []struct {
		name string
		rate float64 // of the policy's training
		pass bool
	}{{"better", 0.0015, true}, {"spoilt", 1, false}} {
		b := newBeside(t, QuickBudget(), func(r *armlearning.Rounds) { r.Policy.Rate = c.rate })
		if _, err := b.Round(t.Context()); !errors.Is(err, continual.ErrTooLittle) {
			t.Errorf("of nothing: %v", err)
		}
		b.moves(0, 1, 2)
		before := b.errs(0.5, 1.5)
		r, err := b.Round(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict.Pass != c.pass || r.Verdict.Stages[0].Name != "held out" || r.Rows != 1500 {
			t.Errorf("%s, of %d rows: passes %t: %q", c.name, r.Rows, r.Verdict.Pass, r.Verdict.Reasons())
			continue
		}
		if b.current = r.Candidate; c.pass && !(b.errs(0.5, 1.5) < 0.7*before) {
			t.Errorf("it errs by %.2f mm, before by %.2f", b.errs(0.5, 1.5), before)
		}
	}
}
