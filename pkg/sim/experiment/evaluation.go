package experiment

import (
	"math/rand/v2"

	"vnd/pkg/core/param"
	"vnd/pkg/flight/airframe"
	"vnd/pkg/flight/guard"
	"vnd/pkg/flight/policy"
	"vnd/pkg/flight/reference"
	"vnd/pkg/learning/task"
	"vnd/pkg/robot/rotors"
	"vnd/pkg/sim"
	"vnd/pkg/sim/closedloop"
	"vnd/pkg/vnd/bundle"
)

// Evaluation flies a bundle's policy in scenarios.
type Evaluation struct {
	Task     string
	Bundle   *bundle.Bundle
	Airframe *airframe.Airframe
	Path     reference.Reference // nil: each flight has its own landing
	Camera   *closedloop.Camera  // nil: the policy sees positions
	Filter   bool                // fly by the filter of poses
	Flights  int                 // in each scenario
	Seconds  float64             // of a flight, at least
	Settle   float64             // s at a flight's start that are not measured
	Seed     uint64              // of the first flight
	External sim.NewExternal     // that flies, for each scenario; nil: none
	Guard    *guard.Config       // how the controller believes that the robot responds; nil: the default
}

// Evaluated is what the flights in a scenario came to.
type Evaluated struct {
	World     string   `json:"world"`
	Condition string   `json:"condition"` // empty: as scheduled
	Flights   int      `json:"flights"`
	Mean      float64  `json:"mean_m"` // position error, mean over the flights
	P95       float64  `json:"p95_m"`
	Max       float64  `json:"max_m"`
	Swing     float64  `json:"swing_rad_s"` // of roll and pitch rates, root mean square of the worst flight
	Crashes   int      `json:"crashes"`
	Landed    *int     `json:"landed,omitempty"`
	Law       float64  `json:"law_mean_m"` // of the geometric law in the same flights
	LawCrash  int      `json:"law_crashes"`
	LawLanded *int     `json:"law_landed,omitempty"`
	Causes    []string `json:"causes,omitempty"` // of the crashes

	Landings *closedloop.Landings `json:"landings,omitempty"` // the errors are then where they ended, level

	Recoveries []FlightRecovery `json:"recoveries,omitempty"` // from each switch of a schedule
}

// FlightRecovery is how a flight came through a switch.
type FlightRecovery struct {
	Flight int `json:"flight"` // from 1
	closedloop.Recovery
}

// Fly flies in a scenario, and the geometric law in the same flights. It returns the trace of the first of them too.
func (e *Evaluation) Fly(w Scenario) (*Evaluated, *closedloop.Trace, error) {
	row := &Evaluated{World: w.Name, Condition: w.Condition, Flights: e.Flights}
	var first *closedloop.Trace
	var external sim.External
	if e.External != nil {
		var err error
		if external, err = e.External(w.World); err != nil {
			return nil, nil, err
		}
		defer external.Close()
	}
	var traces, laws []*closedloop.Trace
	for k := range e.Flights {
		setup, path, err := e.setup(w, e.Seed+uint64(k))
		if err != nil {
			return nil, first, err
		}
		setup.External = external
		trace, err := e.fly(setup, path)
		if err != nil {
			return nil, first, err
		}
		row.add(trace.Measure(e.Settle), e.Flights)
		if w.Seconds > 0 {
			for _, r := range trace.Recoveries(Steady) {
				row.Recoveries = append(row.Recoveries, FlightRecovery{k + 1, r})
			}
		}
		traces = append(traces, trace)
		law, err := guard.NewPathFollower(e.Airframe.Limits, path)
		if err != nil {
			return nil, first, err
		}
		flown, err := closedloop.Fly(setup, law)
		if err != nil {
			return nil, first, err
		}
		laws = append(laws, flown)
		f := flown.Measure(e.Settle)
		row.Law += f.Mean / float64(e.Flights)
		if f.Crash != "" {
			row.LawCrash++
		}
		if k == 0 {
			first = trace
		}
	}
	if e.Task == task.Land {
		off, l := closedloop.MeasureLandings(traces)
		row.Mean, row.P95, row.Max, row.Landed, row.Landings = off.Mean, off.P95, off.Max, &l.Landed, &l
		off, of := closedloop.MeasureLandings(laws)
		row.Law, row.LawLanded = off.Mean, &of.Landed
	}
	return row, first, nil
}

// fly flies the bundle's policy, by thrust and body rates or by its motors.
func (e *Evaluation) fly(s *closedloop.Setup, path reference.Reference) (*closedloop.Trace, error) {
	if e.Bundle.Robot == rotors.Name {
		runner, err := policy.NewRotorRunner(e.Bundle, path.At)
		if err != nil {
			return nil, err
		}
		return closedloop.FlyRotors(s, runner)
	}
	runner, err := policy.NewClosedLoopRunner(e.Bundle, path.At)
	if err != nil {
		return nil, err
	}
	return closedloop.Fly(s, runner)
}

func (r *Evaluated) add(f closedloop.Figures, flights int) {
	r.Mean += f.Mean / float64(flights)
	r.P95 += f.P95 / float64(flights)
	r.Max, r.Swing = max(r.Max, f.Max), max(r.Swing, f.Swing)
	if f.Crash != "" {
		r.Crashes++
		r.Causes = append(r.Causes, f.Crash)
	}
}

// setup is one flight.
func (e *Evaluation) setup(w Scenario, seed uint64) (*closedloop.Setup, reference.Reference, error) {
	s := closedloop.Setup{Tick: e.Bundle.Dt, Limits: e.Airframe.Limits, Camera: e.Camera, World: w.World, Seed: seed,
		Seconds: max(e.Seconds, w.Seconds), Path: e.Path, Filtered: e.Filter, Guard: e.Guard}
	param.Default(&s.Estimate)
	if e.Task != task.Land {
		return &s, e.Path, nil
	}
	path, err := reference.OfTask(e.Task)
	if err == nil {
		path, err = land(&s, path)
	}
	if err == nil {
		err = e.Airframe.Allows("--task "+e.Task, path)
	}
	return &s, path, err
}

// land makes a flight a landing on the floor of its world.
func land(s *closedloop.Setup, r reference.Reference) (path reference.Reference, err error) {
	const stream = 0x1a4d
	s.Start, path, err = closedloop.DrawLanding(r, &s.World, rand.New(rand.NewPCG(s.Seed, stream)))
	s.Path, s.Lands = path, true
	return path, err
}
