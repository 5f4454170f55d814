package control

import (
	"testing"
	"time"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd/bundle"
)

// sides are the two sides of a loop, as in two processes, and the whole of it beside them.
type sides struct {
	policy, guard, whole *Loop
	now                  int64
	q                    Request
	d                    Decision
}

const patience = 60 * time.Millisecond

func newSides(t *testing.T) *sides {
	t.Helper()
	s := &sides{now: 1_700_000_000_000_000_000}
	for _, l := range []**Loop{&s.policy, &s.guard, &s.whole} {
		var c Config
		param.Default(&c)
		c.Source = FromOdometry
		var err error
		if *l, err = New(c); err != nil {
			t.Fatal(err)
		}
		if l == &s.guard {
			continue
		}
		b, err := bundle.Read("testdata/a.vnd")
		if err != nil {
			t.Fatal(err)
		}
		p, err := LoadPolicy(b, quadrotor.Name, c.Rate)
		if err != nil {
			t.Fatal(err)
		}
		k, err := NewTaskReference("hover", nil)
		if err != nil {
			t.Fatal(err)
		}
		(*l).SetPolicy(p)
		(*l).SetReference(k)
	}
	s.policy.DecideElsewhere()
	s.guard.SetRequested(s.policy.Policy().ID)
	return s
}

// measure gives all of them the sample of the next tick.
func (s *sides) measure() {
	s.now += 20e6
	m := Sample{Stamp: s.now - 2e6, HasVelocity: true,
		State: quad.State{P: so3.Vec3{X: 1e-4 * float64(s.now/20e6%7), Z: 1}, Q: so3.Identity()}}
	for _, l := range []*Loop{s.policy, s.guard, s.whole} {
		l.AddSample(&m)
	}
}

// tick is one in which the policy is heard.
func (s *sides) tick(t *testing.T) {
	t.Helper()
	s.measure()
	if !s.policy.Ask(s.now, &s.q) {
		t.Fatal("the policy asks for nothing")
	}
	if r := s.guard.Accept(s.now, &s.q); r != Accepted {
		t.Fatal(r)
	}
	if !s.guard.Decide(s.now, patience, &s.d) {
		t.Fatal("no decision")
	}
	s.policy.TakeRemote(&s.d)
}

// The two sides apart send what the whole loop sends, once both know that commands are followed.
func TestSidesApartFlyAsOne(t *testing.T) {
	s := newSides(t)
	var apart, whole TickRecord
	for k := range 200 {
		s.tick(t)
		c, ok := s.whole.Tick(s.now)
		s.policy.RecordRequest(&apart)
		s.policy.Complete(&apart, &s.d)
		s.whole.FinishTick(&whole)
		if k < 2 {
			continue
		}
		if !ok || c != s.d.Sent || s.d.Stage != guard.Policy || s.d.Seq != s.q.Seq {
			t.Fatalf("tick %d: sent %+v (%v), the whole loop %+v", k, s.d.Sent, s.d.Stage, c)
		}
		if apart.Sent != whole.Sent || apart.Command != whole.Command || apart.Seq != whole.Seq ||
			apart.Actuator.Thrust-whole.Actuator.Thrust > .1 {
			t.Fatalf("tick %d: recorded %+v, of the whole loop %+v", k, apart, whole)
		}
	}
}

// A silent policy is a fault, after the patience: the law flies. A second of good requests later the policy flies
// again.
func TestSilentPolicyReturns(t *testing.T) {
	s := newSides(t)
	for range 50 {
		s.tick(t)
	}
	for k := range 5 {
		s.measure()
		s.guard.Decide(s.now, patience, &s.d)
		if silent := k >= 3; silent != (s.d.Cause == guard.Unheard && s.d.Stage == guard.Hold && s.d.Seq == 0) {
			t.Errorf("tick %d without a request: %v, %v, of request %d", k, s.d.Stage, s.d.Cause, s.d.Seq)
		}
	}
	returned := -1
	for k := range 60 {
		if s.tick(t); returned < 0 && s.d.Stage.PolicyFlies() {
			returned = k
		}
	}
	if returned < 45 {
		t.Errorf("the policy flies again after %d ticks, expected a second", returned)
	}
}

// What the policy sees as its last command is what was sent where that was limited, and its own elsewhere. A decision
// on an older request, which came late, is none on its last command.
func TestPolicySeesWhatWasSentInItsPlace(t *testing.T) {
	sent := quad.Command{Thrust: 6, Rates: so3.Vec3{X: 1}}
	next := func(stage guard.Stage, override bool, late uint64) quad.Command {
		s := newSides(t)
		for range 50 {
			s.tick(t)
		}
		s.measure()
		s.policy.Ask(s.now, &s.q)
		if override {
			s.policy.OverrideLastCommand(sent)
		}
		s.d.Sent, s.d.Stage, s.d.Seq = sent, stage, s.q.Seq-late
		s.policy.Take(&s.d)
		for range 2 { // a row ends with the tick
			s.measure()
			s.policy.Ask(s.now, &s.q)
		}
		return s.q.Command
	}
	own, given, limited := next(guard.Policy, false, 0), next(guard.Policy, true, 0), next(guard.Limited, false, 0)
	if limited != given || own == given {
		t.Errorf("%+v after a limited command, %+v where it is given, %+v where nothing was limited", limited, given,
			own)
	}
	if late := next(guard.Limited, false, 1); late != own {
		t.Errorf("%+v after a late decision, expected its own %+v", late, own)
	}
}

func TestRequestsThatAreRefused(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Request)
		want   Refusal
	}{
		{"good", func(*Request) {}, Accepted},
		{"the same again", func(q *Request) { q.Seq-- }, Reordered},
		{"older", func(q *Request) { q.Seq -= 5 }, Reordered},
		{"of an old state", func(q *Request) { q.Stamp -= 200e6 }, Outdated},
		{"of the future", func(q *Request) { q.Stamp += 200e6 }, Outdated},
		{"of another bundle", func(q *Request) { q.Bundle = "other" }, OtherBundle},
		{"of none", func(q *Request) { q.Bundle = "" }, OtherBundle},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSides(t)
			for range 10 {
				s.tick(t)
			}
			s.measure()
			s.policy.Ask(s.now, &s.q)
			c.change(&s.q)
			if got := s.guard.Accept(s.now, &s.q); got != c.want {
				t.Errorf("%v, expected %v", got, c.want)
			}
		})
	}
	s := newSides(t)
	s.tick(t)
	s.guard.SetRequester()
	s.measure()
	s.q.Stamp = s.now
	if r := s.guard.Accept(s.now, &s.q); r != Accepted {
		t.Errorf("another controller's first request: %v", r)
	}
}

// Nothing goes out before a request, nor on a state that is too old to know where the robot is.
func TestNothingIsDecidedUnasked(t *testing.T) {
	s := newSides(t)
	s.measure()
	if s.guard.Decide(s.now, patience, &s.d) {
		t.Error("decided before a request")
	}
	s.policy.Ask(s.now, &s.q)
	s.guard.Accept(s.now, &s.q)
	if s.guard.Decide(s.now+300e6, patience, &s.d) {
		t.Error("decided on a state of 0.3 s ago")
	}
	if !s.guard.Decide(s.now, patience, &s.d) || s.d.Stage != guard.Policy {
		t.Errorf("%+v", s.d)
	}
}

func TestSidesApartAllocateNothing(t *testing.T) {
	s := newSides(t)
	r := NewTickRecord()
	turn := func() {
		s.tick(t)
		s.policy.RecordRequest(&r)
		s.policy.Complete(&r, &s.d)
		s.guard.RecordDecision(&r, &s.d)
	}
	for range 100 {
		turn()
	}
	if n := testing.AllocsPerRun(200, turn); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
