package experiment

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"vnd/pkg/core/quad"
	"vnd/pkg/flight/policy"
	"vnd/pkg/learning/continual"
	"vnd/pkg/learning/dataset"
	"vnd/pkg/learning/train"
	"vnd/pkg/sim/closedloop"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// Plan of a study.
type Plan struct {
	Fields  []Field // met while learning, and measured in
	Turning []Field // scheduled, for recovery after switches; may be empty
	Turns   bool    // those are learned from, too
	Unseen  []Field // measured in alone; may be empty
	Rounds  int
	Seconds float64  // of a flight to learn from
	Pilots  []string // who is measured, by name; empty: all
	Start   *bundle.Bundle
	Tell    func(string)
}

// Names of the pilots, in the order of the table.
const (
	PilotLaw      = "law"
	PilotRecent   = "recent"
	PilotBase     = "base"
	PilotResidual = "residual"
	PilotSingle   = "single"
	PilotRefit    = "refit"
	PilotOracle   = "oracle"
	PilotFirst    = "first"
	PilotOurs     = "ours"
)

// Pilots are all names.
var Pilots = []string{PilotLaw, PilotRecent, PilotBase, PilotResidual, PilotSingle, PilotRefit, PilotOracle, PilotFirst,
	PilotOurs}

// Study is what one seed came to.
type Study struct {
	Seed     uint64         `json:"seed"`
	Cost     string         `json:"cost"`
	Pilots   []Measured     `json:"pilots"`
	Rounds   []Round        `json:"rounds"`
	Latents  Latents        `json:"latents"`
	OpenLoop []OpenLoop     `json:"open_loop"`
	Curves   []train.Curve  `json:"-"` // of the rounds
	Bundle   *bundle.Bundle `json:"-"`
}

// Round is one round of learning.
type Round struct {
	*continual.Round
	Refused []string `json:"refused,omitempty"` // why
	Total   float64  `json:"total_s"`
}

// Measured is a pilot in all fields.
type Measured struct {
	Pilot   string   `json:"pilot"`
	Name    string   `json:"name"`      // in words
	Learned float64  `json:"learned_s"` // wall time that learning took
	Flown   []Flown  `json:"flown"`
	Turns   []Turn   `json:"turns,omitempty"`
	Crashed int      `json:"crashed_turning"` // flights in winds that turn
	Traces  []Traced `json:"-"`
}

// Flown is a duty in a field.
type Flown struct {
	Task    string             `json:"task"`
	Field   string             `json:"field"`
	Kind    string             `json:"kind"` // of the field
	Wind    float64            `json:"wind"` // m/s²
	Unseen  bool               `json:"unseen,omitempty"`
	Figures closedloop.Figures `json:"figures"`
}

// Turn is a switch that a pilot came through.
type Turn struct {
	Task     string `json:"task"`
	Opposite bool   `json:"opposite"` // the wind turned about
	closedloop.Recovery
}

// Traced is a flight to draw.
type Traced struct {
	Task, Field string
	*closedloop.Trace
}

// measure is how long a flight of a study is, and its beginning that does not count, s: a re-fit has flown twice by then.
const (
	measureSeconds = 30
	measureSettle  = 18
)

// Steady is how long before a switch of the condition, and before the next one, a flight is taken to be steady, s.
const Steady = 4

// Wind is the strength of the wind that a field begins in, m/s².
func (f *Field) Wind() float64 {
	w := f.winds()
	return w[f.first()].Norm()
}

// Run makes the study of a seed.
func (c *Campaign) Run(ctx context.Context, p *Plan) (*Study, error) {
	for _, name := range p.Pilots {
		if !slices.Contains(Pilots, name) {
			return nil, fmt.Errorf("pilot %q, expected some of %s", name, strings.Join(Pilots, ", "))
		}
	}
	if p.calm() < 0 && len(p.Pilots) == 0 {
		p.Tell(fmt.Sprintf("no condition is calm: the pilot %q, which learns all but the wind there, is left out",
			PilotOracle))
	}
	if p.measures(PilotOracle) && p.calm() < 0 {
		return nil, fmt.Errorf("the pilot %q learns all but the wind in calm: expected a world with a condition that is calm, or other pilots", PilotOracle)
	}
	s := &study{Campaign: c, plan: p, ctx: ctx, out: &Study{Seed: c.Seed, Cost: c.Cost}}
	for _, step := range []func() error{s.learn, s.fly, s.read} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return s.out, nil
}

// study at work.
type study struct {
	*Campaign
	plan *Plan
	ctx  context.Context
	out  *Study

	base, first, last *bundle.Bundle
	newest            *bundle.Bundle // candidate, also one that was refused: its model is of all data
	flown             [][]Recorded   // in each round, the last of them after all learning
}

// learn flies and learns in turns.
func (s *study) learn() (err error) {
	if s.base = s.plan.Start; s.base == nil {
		s.plan.Tell("base policy")
		if s.base, err = s.Base(s.ctx, nil); err != nil {
			return err
		}
	}
	r := &Rounds{Fields: s.plan.Fields, Rounds: s.plan.Rounds, Seconds: s.plan.Seconds}
	if s.plan.Turns {
		r.Fields = slices.Concat(r.Fields, s.plan.Turning)
	}
	r.Flown = func(round int, _ *bundle.Bundle, flights []Recorded) error {
		if s.flown = append(s.flown, flights); round < s.plan.Rounds {
			s.plan.Tell(fmt.Sprintf("round %d", round+1))
		}
		return nil
	}
	r.Learned = func(r *continual.Round) error {
		total := 0.
		for _, t := range r.Seconds {
			total += t
		}
		s.out.Rounds, s.out.Curves = append(s.out.Rounds, Round{r, r.Verdict.Reasons(), total}),
			append(s.out.Curves, r.Curve)
		s.newest = r.Candidate
		if s.first == nil {
			s.first = r.Candidate
		}
		return nil
	}
	s.last, err = s.Learn(s.ctx, s.base, r)
	s.out.Bundle = s.last
	return err
}

// split returns the flights that were learned from, and those of after all learning.
func (s *study) split() (learned, unseen []Recorded) {
	last := len(s.flown) - 1
	return slices.Concat(s.flown[:last]...), s.flown[last]
}

// segments of the flights that were learned from, of one field or, for −1, of all.
func (s *study) segments(field int) []dataset.Segment {
	var flights []quad.Flight
	learned, _ := s.split()
	for _, f := range learned {
		if field < 0 || f.At == field {
			flights = append(flights, f.Flight)
		}
	}
	return dataset.FromFlights(flights)
}

// pilot makes one by name.
func (s *study) pilot(name string) (Pilot, error) {
	from, err := policy.FromBundle(s.base)
	if err != nil {
		return Pilot{}, err
	}
	switch name {
	case PilotLaw:
		return s.Law(), nil
	case PilotRecent:
		_, robot, err := vnd.FromBundle(s.newest)
		return s.RecentMean(robot.Actuator), err
	case PilotBase:
		return Flies("base policy", s.base), nil
	case PilotResidual:
		return s.Residual(s.ctx, "simple residual", s.plan.Rounds, from, s.segments(-1))
	case PilotSingle:
		at := s.strongest()
		return s.Residual(s.ctx, "single condition, "+s.plan.Fields[at].inWords(), s.plan.Rounds, from, s.segments(at))
	case PilotRefit:
		return s.Refit(s.ctx, from)
	case PilotOracle:
		return s.Oracle(s.ctx, s.plan.Rounds, from, s.segments(s.plan.calm()), s.plan.Winds())
	case PilotFirst:
		return Flies("candidate of round 1", s.first), nil
	}
	return Flies(fmt.Sprintf("ours after %d rounds", s.plan.Rounds), s.last), nil
}

// measures reports whether a pilot is: one that was named, or any that can be.
func (p *Plan) measures(pilot string) bool {
	if len(p.Pilots) == 0 {
		return pilot != PilotOracle || p.calm() >= 0
	}
	return slices.Contains(p.Pilots, pilot)
}

// calm is the first field with neither wind nor anything else, −1 where there is none.
func (p *Plan) calm() int {
	return slices.IndexFunc(p.Fields, func(f Field) bool { return f.kind() == strength(0) })
}

// strongest is the field with the first of the strongest winds.
func (s *study) strongest() (at int) {
	for i := range s.plan.Fields {
		if s.plan.Fields[i].Wind() > s.plan.Fields[at].Wind()+1e-3 {
			at = i
		}
	}
	return at
}

// fly measures the pilots.
func (s *study) fly() error {
	for _, name := range Pilots {
		if !s.plan.measures(name) {
			continue
		}
		s.plan.Tell(name)
		p, err := s.pilot(name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		m, err := s.measure(p)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		m.Pilot, m.Name, m.Learned = name, p.Name, p.Took
		s.out.Pilots = append(s.out.Pilots, *m)
	}
	return nil
}

// measure flies a pilot everywhere.
func (s *study) measure(p Pilot) (*Measured, error) {
	fields := slices.Concat(s.plan.Fields, s.plan.Unseen, s.plan.Turning)
	n := len(s.Duties)
	traces := make([]Traced, len(fields)*n)
	err := each(s.ctx, len(traces), func(i int) error {
		f, d := fields[i/n], s.Duties[i%n]
		t, err := s.Fly(p, f, d, s.Seed<<20+0xf00+uint64(i), measureSeconds)
		traces[i] = Traced{d.Name, f.Label(), t}
		return err
	})
	if err != nil {
		return nil, err
	}
	m := &Measured{Traces: traces}
	for i, t := range traces {
		f := &fields[i/n]
		if f.Seconds > 0 {
			if t.Crash != "" {
				m.Crashed++
			}
			for _, r := range t.Recoveries(Steady) {
				m.Turns = append(m.Turns, Turn{t.Task, f.opposite(r.From, r.To), r})
			}
			continue
		}
		m.Flown = append(m.Flown, Flown{t.Task, f.Label(), f.kind(), f.Wind(), i/n >= len(s.plan.Fields),
			t.Measure(measureSettle)})
	}
	return m, nil
}
