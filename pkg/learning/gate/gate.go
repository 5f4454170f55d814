// Package gate decides whether what was learned may fly, and whether what flies is to be taken back. It is for the node
// background_learner and the loop in simulation.
//
// A candidate passes three stages, each only after the one before: its numbers and sizes (static); flights in its own
// learned model (shadow); flights of a Judge under randomised disturbances (canary). In the flights it is compared with
// the current bundle, pair by pair from the same starts under the same disturbances, each bundle with its own encoder.
// It passes where the upper end of a bootstrap interval of the mean difference of the errors is within a tolerance: a
// candidate that was not shown to be no worse is refused like one that is worse. One that is as good passes; so does
// the very same bundle, whose differences are all 0, and whether to swap it in is no question of safety.
package gate

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"vnd/pkg/robot"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// Vehicle is what bundles are to fly. It knows a robot and its tasks, of which this package has no notion.
type Vehicle interface {
	// Kind is the robot's name in bundles.
	Kind() string
	// Load readies a bundle for flights, or says why it is none that flies.
	Load(b *bundle.Bundle) (*Loaded, error)
}

// Loaded is a bundle that is ready for flights.
type Loaded struct {
	ID    string
	Dt    float64 // s
	Actor *vnd.Actor[float32]
	Model *vnd.Model[float32] // nil: none
	Robot robot.Robot         // of the model
	// Refused are the vehicle's own reasons not to fly it, such as limits beyond its own.
	Refused []string
	// NewRunner begins a flight in a model of a robot, of up to so many steps. It draws task and start from rng, the
	// same ones for every bundle, and writes the measured part of the first state to s[S]. The rest of s is at rest
	// already.
	NewRunner func(in robot.Robot, rng *rand.Rand, steps int, s []float32) (Runner, error)
}

// Runner flies one flight in closed loop.
type Runner interface {
	// Tick reads the state s[S] at a time, s, and writes the action a[A], within the vehicle's limits.
	Tick(t float64, s, a []float32) Tick
}

// Tick is what the gate wants to know of one.
type Tick struct {
	Error float64   // distance from the reference
	Units []float64 // [A] the action in half ranges: 0 in the middle between its limits, ±1 at them
	Crash string    // why the flight ends here, in words; "" where it goes on
}

// Gate judges candidates.
type Gate struct {
	Config  Config
	Vehicle Vehicle
	Judge   Judge // nil: no canary flights
	// DisturbanceStrength returns how strong the disturbances in the buffer were, at steps of dt seconds, see Trial.
	// nil: that is not known, and those of the judge may be as strong as it likes.
	DisturbanceStrength func(dt float64) float64
	Seed                uint64
	// Good is the share of the rows learned from that count, by what their states err by: the fewer, the wider the
	// intervals of the differences, as if there were so many fewer flights. 0: not known, all of them.
	Good float64
}

// Verdict on a candidate.
type Verdict struct {
	Candidate string  `json:"candidate"`         // ID
	Current   string  `json:"current,omitempty"` // ID, empty for a first bundle
	Pass      bool    `json:"pass"`
	Stages    []Stage `json:"stages"` // in their order, up to the one that refused
}

// Stage of a verdict. Figures and Difference are of stages with flights.
type Stage struct {
	Name       string    `json:"name"`
	Pass       bool      `json:"pass"`
	Skipped    string    `json:"skipped,omitempty"` // why it was not asked for
	Reasons    []string  `json:"reasons,omitempty"` // why it refuses
	Flights    int       `json:"flights,omitempty"` // of each bundle
	Candidate  *Figures  `json:"candidate,omitempty"`
	Current    *Figures  `json:"current,omitempty"`
	Compared   int       `json:"compared,omitempty"`     // of the flights: those whose errors are compared
	Difference *Interval `json:"difference_m,omitempty"` // of their mean errors, candidate − current
	Tolerance  float64   `json:"tolerance_m,omitempty"`
}

// Names of the stages.
const (
	StageStatic = "static"
	StageShadow = "shadow"
	StageCanary = "canary"
)

// Reasons returns why a candidate is refused, each with its stage; none where it passes.
func (v *Verdict) Reasons() (all []string) {
	for _, s := range v.Stages {
		for _, r := range s.Reasons {
			all = append(all, s.Name+": "+r)
		}
	}
	return all
}

// Evaluate judges a candidate that is to follow the current bundle, nil for a first one. bank[N][Z] are latents of the
// buffer under the candidate's encoder, for the shadow flights. The error is about what is not the candidate's fault.
func (g *Gate) Evaluate(ctx context.Context, candidate, current *bundle.Bundle, bank []float32) (*Verdict, error) {
	v := &Verdict{Candidate: candidate.ID}
	var now *Loaded
	if current != nil {
		v.Current = current.ID
		var err error
		if now, err = g.Vehicle.Load(current); err != nil {
			return nil, fmt.Errorf("gate: the current bundle: %w", err)
		}
	}
	static, next := g.static(candidate, current, len(bank))
	v.Stages = append(v.Stages, static)
	if !static.Pass {
		return v, nil
	}
	v.Candidate = next.ID
	for _, stage := range []func() (Stage, error){
		func() (Stage, error) { return g.shadow(ctx, next, now, bank) },
		func() (Stage, error) { return g.canary(ctx, candidate, current) },
	} {
		s, err := stage()
		if err != nil {
			return nil, err
		}
		v.Stages = append(v.Stages, s)
		if !s.Pass {
			return v, nil
		}
	}
	v.Pass = true
	return v, nil
}

// Reevaluate judges a bundle that was promoted before, as from a folder that nobody watched since: static checks and
// canary flights, by what is asked of a first bundle.
func (g *Gate) Reevaluate(ctx context.Context, b *bundle.Bundle) (*Verdict, error) {
	v := &Verdict{Candidate: b.ID}
	static, _ := g.static(b, nil, 0)
	if v.Stages = append(v.Stages, static); !static.Pass {
		return v, nil
	}
	s, err := g.canary(ctx, b, nil)
	v.Stages, v.Pass = append(v.Stages, s), s.Pass
	return v, err
}

// canary has the judge fly.
func (g *Gate) canary(ctx context.Context, candidate, current *bundle.Bundle) (Stage, error) {
	if g.Judge == nil {
		return Stage{Name: StageCanary, Pass: true, Skipped: "there is no judge"}, nil
	}
	strength := math.Inf(1)
	if g.DisturbanceStrength != nil {
		strength = g.DisturbanceStrength(candidate.Dt)
	}
	bundles := []*bundle.Bundle{candidate, current}
	fly := func(ctx context.Context, who int, lo, hi int) ([]*Flight, error) {
		var out []*Flight
		for k := lo; k < hi; k++ {
			f, err := g.Judge.Fly(ctx, bundles[who], Trial{g.Seed<<16 + uint64(k), strength})
			if err != nil {
				return nil, fmt.Errorf("gate: canary flight %d of bundle %s: %w", k+1, bundles[who].ID, err)
			}
			out = append(out, f)
		}
		return out, nil
	}
	c := &comparison{gate: g, stage: Stage{Name: StageCanary}, settle: g.Config.Canary.Settle, fly: fly,
		alone: current == nil}
	return c.run(ctx, g.Config.Canary.Flights)
}
