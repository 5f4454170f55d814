package experiment

import (
	"math/rand/v2"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/policy"
	"vnd/pkg/flight/reference"
	"vnd/pkg/sim/closedloop"
)

// recording flies a policy with some noise on its commands, and keeps the steps.
type recording struct {
	*policy.ClosedLoopRunner
	Excitation
	rows    []quad.Row
	landing closedloop.Path // nil: none
}

// Command implements quad.Controller.
func (r *recording) Command(t float64, s *quad.State) quad.Command {
	return r.Add(r.ClosedLoopRunner.Command(t, s))
}

// Excitation is noise on commands, correlated over a tenth of a second, so that it moves the robot.
type Excitation struct {
	rng   *rand.Rand
	sigma float64
	noise quad.Command
}

// NewExcitation draws normal numbers of deviation sigma, m/s² and rad/s, from a seed.
func NewExcitation(seed uint64, sigma float64) Excitation {
	return Excitation{rng: rand.New(rand.NewPCG(seed, 0xe0c1)), sigma: sigma}
}

// Add is a command with the next noise.
func (e *Excitation) Add(c quad.Command) quad.Command {
	const keep = 0.8
	n := e.rng.NormFloat64
	e.noise.Thrust = keep*e.noise.Thrust + e.sigma*n()
	e.noise.Rates = e.noise.Rates.Scale(keep).Add(so3.Vec3{X: e.sigma * n(), Y: e.sigma * n(), Z: e.sigma * n()})
	c.Thrust += e.noise.Thrust
	c.Rates = c.Rates.Add(e.noise.Rates)
	return c
}

// Observe implements closedloop.Observer. A state that did not change is no new row.
func (r *recording) Observe(s quad.Row) {
	if n := len(r.rows); n > 0 && s.T <= r.rows[n-1].T {
		return
	}
	if !r.stands(&s) {
		r.rows = append(r.rows, s)
	}
	r.ClosedLoopRunner.Observe(s)
}

func (r *recording) stands(s *quad.Row) bool {
	if r.landing == nil {
		return false
	}
	return reference.Standing(&s.State, r.landing.At(s.T).P.Z)
}
