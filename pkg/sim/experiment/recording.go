package experiment

import (
	"math/rand/v2"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/policy"
)

// recording flies a policy with some noise on its commands, and keeps the steps.
type recording struct {
	*policy.ClosedLoopRunner
	rng   *rand.Rand
	sigma float64
	noise quad.Command
	rows  []quad.Row
}

// Command implements quad.Controller. The noise is correlated over a tenth of a
// second, so that it moves the robot.
func (r *recording) Command(t float64, s *quad.State) quad.Command {
	const keep = 0.8
	c, n := r.ClosedLoopRunner.Command(t, s), r.rng.NormFloat64
	r.noise.Thrust = keep*r.noise.Thrust + r.sigma*n()
	r.noise.Rates = r.noise.Rates.Scale(keep).Add(so3.Vec3{X: r.sigma * n(), Y: r.sigma * n(), Z: r.sigma * n()})
	c.Thrust += r.noise.Thrust
	c.Rates = c.Rates.Add(r.noise.Rates)
	return c
}

// Observe implements closedloop.Observer. A state that did not change is no new row.
func (r *recording) Observe(s quad.Row) {
	if n := len(r.rows); n > 0 && s.T <= r.rows[n-1].T {
		return
	}
	r.rows = append(r.rows, s)
	r.ClosedLoopRunner.Observe(s)
}
