package gatestudy

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/flight/guard"
	"vnd/pkg/flight/reference"
	"vnd/pkg/learning/gate"
	"vnd/pkg/learning/gate/quadgate"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/sim"
	"vnd/pkg/sim/closedloop"
	"vnd/pkg/sim/experiment"
	"vnd/pkg/vnd/bundle"
)

// Options of a study.
type Options struct {
	Robots  int
	Flights int // of a policy on the true robot, to know how it flies
	Seed    uint64
	Workers int
	// Blind has the judge fly the default robot, whatever was identified.
	Blind bool
	Build string          // of the program that judges
	Known []Flown         // robots of a report that Continues: they are not judged again
	Done  func(r *Report) // after each robot, of all that are judged; may be nil; called from one goroutine at a time
}

// Judged is what the gate made of a pair of policies on a robot, beside how they truly fly.
type Judged struct {
	Robot     int           `json:"robot"`
	Candidate string        `json:"candidate"`
	Current   string        `json:"current"`
	Class     Class         `json:"class"`
	True      [2]Truth      `json:"true"` // of candidate and current
	Pass      bool          `json:"pass"`
	Reasons   []string      `json:"reasons,omitempty"`
	Sooner    float64       `json:"sooner_s"` // than identified, the judge's robot
	Verdict   *gate.Verdict `json:"verdict"`
}

// Truth is how a policy flies the true robot.
type Truth struct {
	Error   float64 `json:"error_m"` // mean; a crash counts as 4 m, and so does a flight that the guard takes over
	Crashes int     `json:"crashes"`
	Rate    float64 `json:"rate_per_s"` // RMS change of the commands, in half their ranges per second
}

// Class of a pair by its true errors.
type Class string

// Classes.
const (
	Crashing    Class = "the candidate crashes in over 10 % of flights, no more than the current one"
	Better      Class = "better by 10 % or more"
	Alike       Class = "within 10 %"
	SlightWorse Class = "10–30 % worse"
	Worse       Class = "more than 30 % worse"
)

// Classes are all, best first.
var Classes = []Class{Better, Alike, SlightWorse, Worse, Crashing}

// classOf compares policies after a number of true flights.
func classOf(candidate, current *Truth, flights int) Class {
	switch ratio := candidate.Error / current.Error; {
	case ratio < 1.1 && 10*candidate.Crashes > flights:
		return Crashing
	case ratio <= 0.9 && candidate.Crashes <= current.Crashes:
		return Better
	case ratio < 1.1:
		return Alike
	case ratio <= 1.3:
		return SlightWorse
	}
	return Worse
}

// Flown is one robot with what was found of it.
type Flown struct {
	Robot      Robot              `json:"robot"`
	Identified quadrotor.Actuator `json:"identified"`
	Drag       float64            `json:"identified_drag_per_s"`
	Policies   map[string]Truth   `json:"policies"`
	Judged     []Judged           `json:"judged"`
}

// Run studies robots.
func Run(ctx context.Context, o Options) ([]Flown, error) {
	first, err := base(ctx, o.Seed, nil)
	if err != nil {
		return nil, err
	}
	out := make([]Flown, o.Robots)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(1, o.Workers))
	var mu sync.Mutex
	known := make([]bool, o.Robots)
	for _, f := range o.Known {
		out[f.Robot.Number], known[f.Robot.Number] = f, true
	}
	for k := range out {
		if known[k] {
			continue
		}
		g.Go(func() error {
			s := &study{options: &o, Flown: Flown{Robot: Draw(o.Seed, k), Policies: map[string]Truth{}},
				bundles: map[string]*bundle.Bundle{}}
			if err := s.run(ctx, first); err != nil {
				return fmt.Errorf("robot %d (%v): %w", k, s.Robot, err)
			}
			mu.Lock()
			defer mu.Unlock()
			out[k] = s.Flown
			if o.Done != nil {
				o.Done(NewReport(&o, judged(out)))
			}
			return nil
		})
	}
	return out, g.Wait()
}

// judged are those of the robots that were.
func judged(all []Flown) []Flown {
	return slices.DeleteFunc(slices.Clone(all), func(f Flown) bool { return len(f.Judged) == 0 })
}

// study is that of one robot.
type study struct {
	options *Options
	Flown
	world      sim.World
	campaign   *experiment.Campaign // its guard is of a lab that has set the response to what was identified
	identified quadgate.Identified
	actuator   quadrotor.Actuator // as a model of the robot has it, for training
	names      []string           // of the policies, in their order
	bundles    map[string]*bundle.Bundle
}

func (s *study) run(ctx context.Context, first *bundle.Bundle) (err error) {
	s.world = s.Robot.World()
	if s.campaign, err = newCampaign(s.options.Seed); err != nil {
		return err
	}
	s.campaign.Guard = new(guard.Config)
	param.Default(s.campaign.Guard)
	if err := s.respond(ctx, first); err != nil {
		return err
	}
	if err := s.identify(ctx, first); err != nil {
		return err
	}
	own, err := base(ctx, s.options.Seed+1, &s.actuator)
	if err != nil {
		return err
	}
	if err := s.identify(ctx, own); err != nil {
		return err
	}
	again, err := base(ctx, s.options.Seed+2, &s.actuator)
	if err != nil {
		return err
	}
	best := ""
	for _, p := range []struct {
		name string
		b    *bundle.Bundle
	}{{"default", first}, {"own", own}, {"own again", again}} {
		if err := s.add(ctx, p.name, p.b); err != nil {
			return err
		}
		if best == "" || s.Policies[p.name].Error < s.Policies[best].Error {
			best = p.name
		}
	}
	for i, w := range worsenings {
		for j, by := range []float64{1.12 + 0.04*float64(i), 1.6} {
			if err := s.worsen(ctx, best, &worsenings[i], by); err != nil {
				return fmt.Errorf("%s %d: %w", w.name, j, err)
			}
		}
	}
	return s.judge(ctx)
}

// respond sets the lab's response by flights of a policy without the filter, as `vnd doctor` finds it.
func (s *study) respond(ctx context.Context, b *bundle.Bundle) error {
	by := s.campaign.Filter
	s.campaign.Filter = false
	err := s.identify(ctx, b)
	s.campaign.Filter = by
	if err == nil && s.identified.Known() {
		s.campaign.Guard.Response = *closedloop.ResponseOf(&s.identified, false)
	}
	return err
}

// identify finds the robot from flights of a policy.
func (s *study) identify(ctx context.Context, b *bundle.Bundle) error {
	const seconds, flights = 15, 3
	var rows [][]quad.Row
	for k := range flights {
		for _, t := range s.campaign.Tasks {
			_, f, err := s.campaign.Record(b, experiment.Scenario{World: s.world, Name: "robot"}, t,
				s.options.Seed<<8+uint64(k), seconds)
			if err != nil {
				return err
			}
			rows = append(rows, f.Segments...)
		}
	}
	var err error
	s.identified, err = quadgate.Identify(ctx, rows, b.Dt)
	s.Identified, s.Drag = s.identified.Actuator, s.identified.Drag
	if err == nil {
		s.actuator, err = quadrotor.Identify(ctx, b.Dt, rows)
	}
	return err
}

// add flies a policy on the true robot.
func (s *study) add(ctx context.Context, name string, b *bundle.Bundle) error {
	t, err := s.truth(ctx, b, s.options.Flights)
	s.Policies[name], s.bundles[name] = t, b
	s.names = append(s.names, name)
	return err
}

// judgeOf returns a judge with the robot of a world.
func (s *study) judgeOf(w sim.World) *closedloop.Judge {
	var paths []reference.Reference
	for _, t := range s.campaign.Tasks {
		paths = append(paths, t.Path)
	}
	j := closedloop.NewJudge(s.campaign.Judge, paths, s.campaign.Limits, nil, s.campaign.Guard).(*closedloop.Judge)
	j.World = w
	return j
}

// met is the strength of the winds of the study, m/s².
const met = 2

// truth flies a policy n times on the true robot. Flights that the guard takes over count as crashes.
func (s *study) truth(ctx context.Context, b *bundle.Bundle, n int) (t Truth, err error) {
	j := s.judgeOf(s.world)
	j.Exactly = true
	var c gate.Config
	param.Default(&c)
	const apart = 1 << 40 // from the gate's trials
	for k := range n {
		flight, err := j.Fly(ctx, b, gate.Trial{Number: apart + uint64(k), DisturbanceStrength: met})
		if err != nil {
			return t, err
		}
		f := c.Measure(flight, c.Canary.Settle)
		if c.TakesOver(&f) {
			f.Error = max(f.Error, c.CrashError)
			t.Crashes++
		}
		t.Error += f.Error / float64(n)
		t.Rate = max(t.Rate, f.Rate)
	}
	return t, nil
}

// worsen adds a policy that errs more than another one by a factor, found by bisection; none where the worsening does
// not reach it.
func (s *study) worsen(ctx context.Context, name string, w *worsening, by float64) error {
	from := s.Policies[name]
	if from.Crashes > 0 {
		return nil
	}
	half, err := s.truth(ctx, s.bundles[name], s.options.Flights/2)
	if err != nil {
		return err
	}
	lo, hi := 0., 1.
	const near = 0.04
	for range 8 {
		strength := (lo + hi) / 2
		b, err := worse(s.bundles[name], *w, strength)
		if err != nil {
			return err
		}
		t, err := s.truth(ctx, b, s.options.Flights/2)
		if err != nil {
			return err
		}
		ratio := t.Error / half.Error
		if math.Abs(ratio-by) < near*by {
			if t, err = s.truth(ctx, b, s.options.Flights); err != nil {
				return err
			}
			label := fmt.Sprintf("%s: %s × %.2f", name, w.name, by)
			s.Policies[label], s.bundles[label] = t, b
			s.names = append(s.names, label)
			return nil
		}
		if ratio < by {
			lo = strength
		} else {
			hi = strength
		}
	}
	return nil
}

// judge has the gate judge every pair of which one is a trained policy.
func (s *study) judge(ctx context.Context) error {
	judge := s.judgeOf(sim.Default())
	if !s.options.Blind {
		judge = judge.Of(s.identified).(*closedloop.Judge)
	}
	vehicle := quadgate.Vehicle{Robot: quadrotor.Name, Limits: s.campaign.Limits}
	g := &gate.Gate{Seed: uint64(s.Robot.Number), Vehicle: vehicle.Flying(nil),
		DisturbanceStrength: func(float64) float64 { return met }}
	param.Default(&g.Config)
	g.Config.Workers = 1
	judges := map[float64]*remembering{}
	for k, current := range s.names {
		now, sooner, err := s.sooner(ctx, judge, s.bundles[current])
		if err != nil {
			return err
		}
		if judges[sooner] == nil {
			judges[sooner] = &remembering{Judge: now, flown: map[string]map[uint64]*gate.Flight{}}
		}
		g.Judge = judges[sooner]
		for i, candidate := range s.names {
			if i == k || i > 2 && k > 2 { // none of the two was trained
				continue
			}
			v, err := g.Evaluate(ctx, s.bundles[candidate], s.bundles[current], nil)
			if err != nil {
				return err
			}
			t := [2]Truth{s.Policies[candidate], s.Policies[current]}
			s.Judged = append(s.Judged, Judged{Robot: s.Robot.Number, Candidate: candidate, Current: current,
				Class: classOf(&t[0], &t[1], s.options.Flights), True: t, Pass: v.Pass, Reasons: v.Reasons(),
				Sooner: sooner, Verdict: v})
		}
	}
	return nil
}

// sooner has a bundle fly the true robot for two minutes, and the judge fly it as the robot of these flights.
func (s *study) sooner(ctx context.Context, judge *closedloop.Judge, b *bundle.Bundle) (gate.Judge, float64, error) {
	j := s.judgeOf(s.world)
	j.Exactly = true
	const flights, apart = 10, 1 << 41 // from the other trials
	var flown []quadgate.Stretch
	for k := range flights {
		f, err := j.Record(b, gate.Trial{Number: apart + uint64(k), DisturbanceStrength: met})
		if err != nil {
			return nil, 0, err
		}
		flown = append(flown, *f)
	}
	return judge.Sooner(ctx, b, flown)
}

// remembering is a judge that flies each trial of a bundle once. It is for one goroutine.
type remembering struct {
	gate.Judge
	flown map[string]map[uint64]*gate.Flight
}

// Fly implements gate.Judge.
func (r *remembering) Fly(ctx context.Context, b *bundle.Bundle, t gate.Trial) (f *gate.Flight, err error) {
	of := r.flown[b.ID]
	if of == nil {
		of = map[uint64]*gate.Flight{}
		r.flown[b.ID] = of
	}
	if f = of[t.Number]; f == nil {
		f, err = r.Judge.Fly(ctx, b, t)
		of[t.Number] = f
	}
	return f, err
}
