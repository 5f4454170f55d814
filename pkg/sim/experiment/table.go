package experiment

import (
	"math"
	"path/filepath"
	"strings"
	"time"

	"vnd/pkg/core/quad"
	"vnd/pkg/learning/continual"
	"vnd/pkg/sim/baseline/nmpc"
	"vnd/pkg/sim/closedloop"
	"vnd/pkg/vnd/bundle"
)

// Table is what methods are measured in side by side: every air along every reference.
type Table struct {
	Air        []Air
	References []Reference
	Seconds    float64 // of a flight
	Settle     float64 // s at a flight's start that are not measured
}

// Air is a world of the table: its conditions one by one, or its schedule.
type Air struct {
	Name      string
	Scenarios []Scenario
}

// scheduled is the longest flight along a schedule, s.
const scheduled = 60

// ReadAir reads the worlds in files with commas between.
func ReadAir(files string) (out []Air, err error) {
	for file := range strings.SplitSeq(files, ",") {
		a := Air{Name: strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))}
		if a.Scenarios, err = Scenarios(file); err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

// Cell is a method in an air along a reference.
type Cell struct {
	Air       string  `json:"air"`
	Reference string  `json:"reference"`
	Mean      float64 `json:"mean_m"` // position error, mean over the conditions; math.MaxFloat64 with a crash
	Crashes   int     `json:"crashes"`
	Unsolved  float64 `json:"unsolved,omitempty"` // share of a solver's ticks
	Tick      float64 `json:"tick_s"`             // mean wall time of a command
}

// cells fly a method through the table.
func (s *study) cells(m Method) (out []Cell, err error) {
	for _, air := range s.plan.Table.Air {
		at := m
		if m.In != nil {
			if at, err = m.In(air); err != nil {
				return nil, err
			}
		}
		for _, r := range s.plan.Table.References {
			c, err := s.cell(at, air, r)
			if err != nil {
				return nil, err
			}
			out = append(out, *c)
		}
	}
	return out, nil
}

func (s *study) cell(m Method, air Air, r Reference) (*Cell, error) {
	t := s.plan.Table
	flown, timed := make([]closedloop.Figures, len(air.Scenarios)), make([]*timedController, len(air.Scenarios))
	err := each(s.ctx, len(flown), func(i int) error {
		f, seconds := air.Scenarios[i], max(t.Seconds, m.Least)
		settle := t.Settle + seconds - t.Seconds
		if f.Seconds > 0 {
			f.Seconds, seconds = 0, max(seconds, min(f.Seconds, scheduled))
		}
		flights, err := s.flights(f, Task{Path: r.Path}, s.Seed<<20+0xa00+uint64(i), seconds)
		if err == nil {
			flown[i], timed[i], err = s.flyCell(m, flights, settle)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	c := &Cell{Air: air.Name, Reference: r.Name}
	var ticks, wall float64
	var solved nmpc.Counts
	for i, f := range flown {
		c.Mean += f.Mean / float64(len(flown))
		if f.Crash != "" {
			c.Crashes++
		}
		if timed[i] == nil {
			continue
		}
		ticks, wall = ticks+float64(timed[i].ticks), wall+timed[i].wall.Seconds()
		if k, ok := timed[i].Controller.(interface{ Counts() nmpc.Counts }); ok {
			solved.Ticks, solved.Unsolved = solved.Ticks+k.Counts().Ticks, solved.Unsolved+k.Counts().Unsolved
		}
	}
	if c.Crashes > 0 {
		c.Mean = math.MaxFloat64
	}
	c.Tick, c.Unsolved = wall/max(1, ticks), float64(solved.Unsolved)/max(1, float64(solved.Ticks))
	return c, nil
}

// flyCell flies one flight of a cell, or its landings. What is measured of these is where they end, level; one that is
// missed counts as a crash.
func (s *study) flyCell(m Method, flights []flight, settle float64) (f closedloop.Figures, by *timedController,
	err error) {
	var traces []*closedloop.Trace
	for _, one := range flights {
		var trace *closedloop.Trace
		if trace, by, err = s.flyTimed(m, one.task, one.Setup); err != nil {
			return f, nil, err
		}
		traces = append(traces, trace)
	}
	if !flights[0].Lands {
		return traces[0].Measure(settle), by, nil
	}
	f, landings := closedloop.MeasureLandings(traces)
	if len(landings.Missed) > 0 {
		f.Crash = landings.Missed[0]
	}
	return f, by, nil
}

// timedController measures the wall time of commands.
type timedController struct {
	quad.Controller
	ticks int
	wall  time.Duration
}

// controller is t as what the controller inside is: an observer, or informed, or neither.
func (t *timedController) controller() quad.Controller {
	o, observes := t.Controller.(closedloop.Observer)
	i, informed := t.Controller.(closedloop.Informed)
	switch {
	case observes && informed:
		return struct {
			*timedController
			closedloop.Observer
			closedloop.Informed
		}{t, o, i}
	case observes:
		return struct {
			*timedController
			closedloop.Observer
		}{t, o}
	case informed:
		return struct {
			*timedController
			closedloop.Informed
		}{t, i}
	}
	return t
}

// Command implements quad.Controller.
func (t *timedController) Command(at float64, s *quad.State) quad.Command {
	begin := time.Now()
	c := t.Controller.Command(at, s)
	t.wall, t.ticks = t.wall+time.Since(begin), t.ticks+1
	return c
}

// excited flies a controller with the noise of flights to learn from, and keeps the rows.
type excited struct {
	quad.Controller
	Excitation
	rows []quad.Row
}

// Command implements quad.Controller.
func (e *excited) Command(t float64, s *quad.State) quad.Command {
	return e.Add(e.Controller.Command(t, s))
}

// Observe implements closedloop.Observer.
func (e *excited) Observe(r quad.Row) { e.rows = append(e.rows, r) }

// identifyingFlights are of the geometric law, in place of those of a policy where none learns.
func (s *study) identifyingFlights() error {
	n := len(s.Tasks)
	flights := make([]Recorded, len(s.plan.Scenarios)*n)
	err := each(s.ctx, len(flights), func(i int) error {
		rows, err := s.flyLaw(s.plan.Scenarios[i/n], s.Tasks[i%n], s.Seed<<20+uint64(i), s.plan.Seconds)
		flights[i] = Recorded{Flight: quad.Flight{Segments: rows}, At: i / n}
		return err
	})
	if err == nil && s.base != nil {
		err = s.see(s.base)
	}
	s.flown = [][]Recorded{flights, nil}
	return err
}

// learnedThere is the policy after rounds in an air of the table alone.
func (s *study) learnedThere(a Air) (Method, error) {
	r := &Rounds{Scenarios: a.Scenarios, Rounds: s.plan.Rounds, Seconds: s.plan.Seconds}
	r.Flown = func(int, *bundle.Bundle, []Recorded) error { return nil }
	r.Learned = func(*continual.Round) error { return nil }
	b, err := s.Learn(s.ctx, s.base, r)
	return Flies("", b), err
}
