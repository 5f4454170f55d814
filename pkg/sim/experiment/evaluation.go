package experiment

import (
	"math/rand/v2"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/airframe"
	"vnd/pkg/flight/guard"
	"vnd/pkg/flight/policy"
	"vnd/pkg/flight/reference"
	"vnd/pkg/learning/task"
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
	Flights  int                 // in each scenario
	Seconds  float64             // of a flight, at least
	Settle   float64             // s at a flight's start that are not measured
	Seed     uint64              // of the first flight
	External sim.NewExternal     // that flies, for each scenario; nil: none
}

// Evaluated is what the flights in a scenario came to.
type Evaluated struct {
	World     string   `json:"world"`
	Condition string   `json:"condition"` // empty: as scheduled
	Flights   int      `json:"flights"`
	Mean      float64  `json:"mean_m"` // position error, mean over the flights
	P95       float64  `json:"p95_m"`
	Max       float64  `json:"max_m"`
	Crashes   int      `json:"crashes"`
	Landed    *int     `json:"landed,omitempty"`
	Law       float64  `json:"law_mean_m"` // of the geometric law in the same flights
	LawCrash  int      `json:"law_crashes"`
	Causes    []string `json:"causes,omitempty"` // of the crashes

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
	landed := 0
	for k := range e.Flights {
		setup, path, err := e.setup(w, e.Seed+uint64(k))
		if err != nil {
			return nil, first, err
		}
		setup.External = external
		runner, err := policy.NewClosedLoopRunner(e.Bundle, path.At)
		if err != nil {
			return nil, first, err
		}
		trace, err := closedloop.Fly(setup, runner)
		if err != nil {
			return nil, first, err
		}
		row.add(trace.Measure(e.Settle), e.Flights)
		if w.Seconds > 0 {
			for _, r := range trace.Recoveries(Steady) {
				row.Recoveries = append(row.Recoveries, FlightRecovery{k + 1, r})
			}
		}
		if trace.Landed(closedloop.Landing) {
			landed++
		}
		law, err := guard.NewPathFollower(e.Airframe.Limits, path)
		if err != nil {
			return nil, first, err
		}
		flown, err := closedloop.Fly(setup, law)
		if err != nil {
			return nil, first, err
		}
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
		row.Landed = &landed
	}
	return row, first, nil
}

func (r *Evaluated) add(f closedloop.Figures, flights int) {
	r.Mean += f.Mean / float64(flights)
	r.P95 += f.P95 / float64(flights)
	r.Max = max(r.Max, f.Max)
	if f.Crash != "" {
		r.Crashes++
		r.Causes = append(r.Causes, f.Crash)
	}
}

// setup is one flight. A landing begins up to 1 m aside and 0.5 to 1.5 m above
// its place.
func (e *Evaluation) setup(w Scenario, seed uint64) (*closedloop.Setup, reference.Reference, error) {
	s := closedloop.Setup{Tick: e.Bundle.Dt, Limits: e.Airframe.Limits, Camera: e.Camera, World: w.World, Seed: seed,
		Seconds: max(e.Seconds, w.Seconds)}
	param.Default(&s.Estimate)
	if e.Task != task.Land {
		s.Path = e.Path
		return &s, e.Path, nil
	}
	rng := rand.New(rand.NewPCG(seed, 0x1a4d))
	s.Start = quad.State{Q: so3.Identity(), P: so3.Vec3{X: 2*rng.Float64() - 1, Y: 2*rng.Float64() - 1,
		Z: 0.5 + rng.Float64()}}
	spec := new(reference.Landing)
	param.Default(spec)
	stands := w.Ground.Height + w.Ground.Feet
	begun := func(height float64) (reference.Reference, error) {
		spec.To[2] = height
		r, err := reference.New(spec)
		if err != nil {
			return nil, err
		}
		return reference.StartAt(r, &s.Start)
	}
	var err error
	if s.Path, err = begun(stands); err != nil {
		return nil, nil, err
	}
	low, err := begun(stands - below)
	if err == nil {
		err = e.Airframe.Allows("--task "+e.Task, low)
	}
	return &s, low, err
}

// below the ground is where a landing is told to go: the cushion of air over the
// ground holds up what only goes down to it.
const below = 0.2 // m
