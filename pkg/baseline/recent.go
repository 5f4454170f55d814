// Package baseline is what continual learning is compared against, each behind quad.Controller: the geometric law with
// recent-mean compensation, a residual that is fitted anew to the newest seconds, residuals without a latent, and an oracle
// that is told the true wind. It is for the loop in simulation.
package baseline

import (
	"fmt"

	"vnd/pkg/dynamics"
	"vnd/pkg/guard"
	"vnd/pkg/history"
	"vnd/pkg/quad"
	"vnd/pkg/so3"
)

// RecentMeanConfig is that of the geometric law with recent-mean compensation.
type RecentMeanConfig struct {
	Gains  guard.Gains `param:"gains" doc:"of the geometric law; without its integral the compensation alone answers the wind"`
	Window float64     `param:"window" default:"0.4" min:"0.04" max:"10" unit:"s" doc:"newest time over which the leftover acceleration is averaged"`
}

// RecentMean flies a path by the geometric law and takes the mean of what the prior left of the accelerations measured of
// late for what is to come. It ticks once per Δt, is for one goroutine, and observes what it flies.
type RecentMean struct {
	law    *guard.Law
	lead   float64
	path   guard.Path
	system *dynamics.Quadrotor[float64]
	dt     float64
	n      int // rows of the window
	rows   *history.Window
	push   so3.Vec3 // leftover acceleration in the world, m/s²

	state, states, residuals, fixed []float64 // [S], [T][S], [T][U], [T][U]
}

// NewRecentMean makes one for an actuator, at Δt = dt seconds.
func NewRecentMean(c RecentMeanConfig, l quad.Limits, a dynamics.Actuator, dt float64, path guard.Path) (*RecentMean, error) {
	law, err := guard.NewLaw(c.Gains, l)
	if err != nil {
		return nil, err
	}
	n := int(c.Window/dt + 0.5)
	if n < 1 {
		return nil, fmt.Errorf("a window of %g s holds no step of %g s", c.Window, dt)
	}
	sys := dynamics.NewQuadrotor[float64](dt, a)
	d := sys.Dims()
	r := &RecentMean{law: law, lead: c.Gains.Lead, path: path, system: sys, dt: dt, n: n,
		state: make([]float64, d.State), states: make([]float64, n*d.State), residuals: make([]float64, n*d.Tangent), fixed: make([]float64, n*d.Tangent)}
	if r.rows, err = history.New(n, dt); err != nil {
		return nil, err
	}
	return r, nil
}

// Reset implements quad.Controller.
func (r *RecentMean) Reset() {
	r.law.Reset()
	r.push = so3.Vec3{}
	r.rows, _ = history.New(r.n, r.dt) // of numbers that it took before
}

// Command implements quad.Controller.
func (r *RecentMean) Command(t float64, s *quad.State) quad.Command {
	ref := r.path.At(t)
	ref.A = r.path.At(t + r.lead).A.Sub(r.push)
	return r.law.Track(t, s, &ref)
}

// Observe takes what was flown, once per tick after its command. Until the window is full nothing is compensated.
func (r *RecentMean) Observe(s quad.Step) {
	r.rows.Push(s)
	if r.push = (so3.Vec3{}); r.rows.Full() {
		r.push = r.leftover()
	}
}

// leftover is the mean over the window of measured less prior acceleration, m/s² in the world.
func (r *RecentMean) leftover() so3.Vec3 {
	measured, actions := dynamics.Flatten[float64](r.rows.Steps())
	r.system.Window(r.n, measured, actions, r.state, nil, r.states, r.residuals)
	clear(r.fixed)
	r.system.Fix(r.n, r.states, r.residuals, r.fixed)
	U := r.system.Dims().Tangent
	var sum [3]float64
	for _, span := range r.system.TangentSpans() {
		if span.Name != "velocity" {
			continue
		}
		for i := range r.n {
			for j := range sum {
				sum[j] += r.fixed[i*U+span.Lo+j]
			}
		}
	}
	return so3.Vec3{X: sum[0], Y: sum[1], Z: sum[2]}.Scale(1 / (float64(r.n) * r.dt))
}
