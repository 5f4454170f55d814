package experiment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"vnd/pkg/core/quad"
	"vnd/pkg/flight/policy"
	"vnd/pkg/learning/continual"
	"vnd/pkg/learning/dataset"
	"vnd/pkg/learning/train"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/sim/baseline"
	"vnd/pkg/sim/closedloop"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// Plan of a study.
type Plan struct {
	Scenarios []Scenario // met while learning, and measured in
	Turning   []Scenario // scheduled, for recovery after switches; may be empty
	Turns     bool       // those are learned from, too
	Unseen    []Scenario // measured in alone; may be empty
	Rounds    int
	Seconds   float64        // of a flight to learn from
	Methods   []string       // who is measured, by name; empty: all
	Table     *Table         // measured in, in place of the scenarios; nil: none
	Start     *bundle.Bundle // in place of a base policy; nil: one is trained
	Report    func(string)
}

// Names of the methods, in the order of the table.
const (
	MethodLaw       = "law"
	MethodRecent    = "recent"
	MethodL1        = "l1"
	MethodINDI      = "indi"
	MethodNMPC      = "nmpc"
	MethodL1NMPC    = "l1nmpc"
	MethodNeuralFly = "neuralfly"
	MethodRAPTOR    = "raptor"
	MethodBase      = "base"
	MethodResidual  = "residual"
	MethodSingle    = "single"
	MethodRefit     = "refit"
	MethodDATT      = "datt"
	MethodRMA       = "rma"
	MethodOracle    = "oracle"
	MethodFirst     = "first"
	MethodOurs      = "ours"
	MethodThere     = "there"
)

// Methods are all names.
var Methods = slices.Concat(laws, []string{MethodBase, MethodResidual, MethodSingle, MethodRefit, MethodDATT,
	MethodRMA, MethodOracle, MethodFirst, MethodOurs, MethodThere})

// laws are the methods for which no policy learns.
var laws = []string{MethodLaw, MethodRecent, MethodL1, MethodINDI, MethodNMPC, MethodL1NMPC, MethodNeuralFly,
	MethodRAPTOR}

// inCalm are the methods that learn all but the wind in calm.
var inCalm = []string{MethodDATT, MethodRMA}

// Study is what one seed came to.
type Study struct {
	Seed     uint64         `json:"seed"`
	Cost     string         `json:"cost"`
	Methods  []Measured     `json:"methods"`
	Rounds   []Round        `json:"rounds"`
	Latents  Latents        `json:"latents"`
	OpenLoop []OpenLoop     `json:"open_loop"`
	Curves   []train.Curve  `json:"-"`                  // of the rounds
	LeftOut  []string       `json:"left_out,omitempty"` // methods that cannot be measured here, and why
	Bundle   *bundle.Bundle `json:"-"`
}

// Round is one round of learning.
type Round struct {
	*continual.Round
	Refused []string `json:"refused,omitempty"` // why
	Total   float64  `json:"total_s"`
}

// Measured is a method in all scenarios.
type Measured struct {
	Method  string   `json:"method"`
	Name    string   `json:"name"`      // in words
	Learned float64  `json:"learned_s"` // wall time that learning took
	Flown   []Flown  `json:"flown"`
	Turns   []Turn   `json:"turns,omitempty"`
	Returns []Return `json:"returns,omitempty"`
	Crashed int      `json:"crashed_turning"` // flights in winds that turn
	Cells   []Cell   `json:"cells,omitempty"`
	Traces  []Traced `json:"-"`
}

// Flown is a task in a scenario.
type Flown struct {
	Task     string             `json:"task"`
	Scenario string             `json:"scenario"`
	Kind     string             `json:"kind"` // of the scenario
	Wind     float64            `json:"wind"` // m/s²
	Unseen   bool               `json:"unseen,omitempty"`
	Figures  closedloop.Figures `json:"figures"`

	Landings *closedloop.Landings `json:"landings,omitempty"` // the error is then where they ended, level
}

// Traced is a flight to draw.
type Traced struct {
	Task, Scenario string
	*closedloop.Trace
	Lands []*closedloop.Trace // the landings, of which Trace is the first; nil where it is none
}

// measure is how long a flight of a study is, and its beginning that does not count, s: a re-fit has flown twice by
// then.
const (
	measureSeconds = 30
	measureSettle  = 18
)

// Steady is how long before a switch of the condition, and before the next one, a flight is taken to be steady, s.
const Steady = 4

// Wind is the strength of the wind that a scenario begins in, m/s².
func (f *Scenario) Wind() float64 {
	w := f.winds()
	return w[f.first()].Norm()
}

// Run makes the study of a seed.
func (c *Campaign) Run(ctx context.Context, p *Plan) (*Study, error) {
	for _, name := range p.Methods {
		if !slices.Contains(Methods, name) {
			return nil, fmt.Errorf("method %q, expected some of %s", name, strings.Join(Methods, ", "))
		}
	}
	if p.calm() < 0 && len(p.Methods) == 0 {
		p.Report(fmt.Sprintf("no condition is calm: the methods %s, which learn all but the wind there, are left out",
			strings.Join(inCalm, ", ")))
	}
	for _, name := range inCalm {
		if p.measures(name) && p.calm() < 0 {
			return nil, fmt.Errorf("the method %q learns all but the wind in calm: expected a world with a condition "+
				"that is calm, or other methods", name)
		}
	}
	s := &study{Campaign: c, plan: p, ctx: ctx, out: &Study{Seed: c.Seed, Cost: c.Cost}, base: p.Start}
	steps := []func() error{s.learn, s.fly, s.read}
	if !p.learns() {
		steps = []func() error{s.identifyingFlights, s.fly}
	}
	for _, step := range steps {
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
	newest            *bundle.Bundle     // candidate, also one that was refused: its model is of all data
	flown             [][]Recorded       // in each round, the last of them after all learning
	robot             *baseline.Airframe // as the flights show it, nil before the first opponent
	informed          *informedPolicy    // of DATT and RMA, nil before the first of them
}

// learn flies and learns in turns.
func (s *study) learn() (err error) {
	if s.base == nil {
		s.plan.Report("base policy")
		if s.base, err = s.BasePolicy(s.ctx, nil); err != nil {
			return err
		}
	}
	r := &Rounds{Scenarios: s.plan.Scenarios, Rounds: s.plan.Rounds, Seconds: s.plan.Seconds}
	if s.plan.Turns {
		r.Scenarios = slices.Concat(r.Scenarios, s.plan.Turning)
	}
	r.Flown = func(round int, _ *bundle.Bundle, flights []Recorded) error {
		if s.flown = append(s.flown, flights); round < s.plan.Rounds {
			s.plan.Report(fmt.Sprintf("round %d", round+1))
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

// segments of the flights that were learned from, of one scenario or, for −1, of all.
func (s *study) segments(scenario int) []dataset.Segment {
	var flights []quad.Flight
	learned, _ := s.split()
	for _, f := range learned {
		if scenario < 0 || f.At == scenario {
			flights = append(flights, f.Flight)
		}
	}
	return dataset.FromFlights(flights)
}

// method makes one by name.
func (s *study) method(name string) (Method, error) {
	var from *policy.Policy[float32]
	if s.base != nil {
		var err error
		if from, err = policy.FromBundle(s.base); err != nil {
			return Method{}, err
		}
	}
	switch name {
	case MethodLaw:
		return s.Law(), nil
	case MethodRecent:
		if s.newest == nil {
			return s.opponent(name)
		}
		_, robot, err := vnd.FromBundle(s.newest, quadrotor.Reader)
		return s.RecentMean(robot.Actuator), err
	case MethodL1, MethodINDI, MethodNMPC, MethodL1NMPC, MethodNeuralFly:
		return s.opponent(name)
	case MethodRAPTOR:
		return s.RAPTOR()
	case MethodBase:
		if s.plan.Start != nil {
			return Flies("bundle "+s.base.ID, s.base), nil
		}
		return Flies("base policy", s.base), nil
	case MethodResidual:
		return s.Residual(s.ctx, "simple residual", s.plan.Rounds, from, s.segments(-1))
	case MethodSingle:
		at := s.strongest()
		return s.Residual(s.ctx, "single condition, "+s.plan.Scenarios[at].inWords(), s.plan.Rounds, from,
			s.segments(at))
	case MethodRefit:
		return s.Refit(s.ctx, from)
	case MethodDATT, MethodRMA:
		return s.informedMethod(name, from)
	case MethodOracle:
		return s.oracle()
	case MethodFirst:
		return Flies("candidate of round 1", s.first), nil
	}
	ours := Flies(fmt.Sprintf("ours after %d rounds", s.plan.Rounds), s.last)
	if name == MethodThere {
		ours = Method{Name: ours.Name + " in that air", In: s.learnedThere}
	}
	return ours, nil
}

// measures reports whether a method is: one that was named, or any that can be.
func (p *Plan) measures(method string) bool {
	if len(p.Methods) == 0 {
		return (!slices.Contains(inCalm, method) || p.calm() >= 0) && (method != MethodThere || p.Table != nil)
	}
	return slices.Contains(p.Methods, method)
}

// learns reports whether a method is measured for which a policy learns: of a policy to begin with none does.
func (p *Plan) learns() bool {
	return slices.ContainsFunc(Methods, func(name string) bool {
		return p.measures(name) && !slices.Contains(laws, name) && !(name == MethodBase && p.Start != nil)
	})
}

// calm is the first scenario with neither wind nor anything else, −1 where there is none.
func (p *Plan) calm() int {
	return slices.IndexFunc(p.Scenarios, func(f Scenario) bool { return f.kind() == strength(0) })
}

// strongest is the scenario with the first of the strongest winds.
func (s *study) strongest() (at int) {
	for i := range s.plan.Scenarios {
		if s.plan.Scenarios[i].Wind() > s.plan.Scenarios[at].Wind()+1e-3 {
			at = i
		}
	}
	return at
}

// fly measures the methods.
func (s *study) fly() error {
	for _, name := range Methods {
		if !s.plan.measures(name) {
			continue
		}
		s.plan.Report(name)
		p, err := s.method(name)
		if errors.Is(err, errLeftOut) {
			s.out.LeftOut = append(s.out.LeftOut, fmt.Sprintf("%s: %v", name, err))
			s.plan.Report(s.out.LeftOut[len(s.out.LeftOut)-1])
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		m, err := s.measure(p)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		m.Method, m.Name, m.Learned = name, p.Name, p.Took
		s.out.Methods = append(s.out.Methods, *m)
	}
	if len(s.out.Methods) == 0 {
		return errors.New(strings.Join(s.out.LeftOut, "; "))
	}
	return nil
}

// measure flies a method everywhere.
func (s *study) measure(p Method) (*Measured, error) {
	if s.plan.Table != nil {
		cells, err := s.cells(p)
		return &Measured{Cells: cells}, err
	}
	scenarios := slices.Concat(s.plan.Scenarios, s.plan.Unseen, s.plan.Turning)
	n := len(s.Tasks)
	traces := make([]Traced, len(scenarios)*n)
	err := each(s.ctx, len(traces), func(i int) error {
		f, d := scenarios[i/n], s.Tasks[i%n]
		t, err := s.FlyAll(p, f, d, s.Seed<<20+0xf00+uint64(i), measureSeconds)
		if err != nil {
			return err
		}
		traces[i] = Traced{Task: d.Name, Scenario: f.Label(), Trace: t[0]}
		if closedloop.Landable(d.Path) {
			traces[i].Lands = t
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	m := &Measured{Traces: traces}
	for i, t := range traces {
		f := &scenarios[i/n]
		if t.Lands != nil {
			off, l := closedloop.MeasureLandings(t.Lands)
			m.Flown = append(m.Flown, Flown{t.Task, f.Label(), f.kind(), f.Wind(), i/n >= len(s.plan.Scenarios), off,
				&l})
			continue
		}
		if f.Seconds > 0 {
			if t.Crash != "" {
				m.Crashed++
			}
			for _, r := range t.Recoveries(Steady) {
				m.Turns = append(m.Turns, Turn{t.Task, f.opposite(r.From, r.To), f.quarter(r.From, r.To), r})
			}
			if mean, ok := f.returned(t.Trace); ok {
				m.Returns = append(m.Returns, Return{t.Task, f.Label(), mean})
			}
			continue
		}
		m.Flown = append(m.Flown, Flown{t.Task, f.Label(), f.kind(), f.Wind(), i/n >= len(s.plan.Scenarios),
			t.Measure(measureSettle), nil})
	}
	return m, nil
}
