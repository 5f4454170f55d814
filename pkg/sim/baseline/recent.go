// Package baseline is what continual learning is compared against, each behind quad.Controller: the geometric law with
// recent-mean compensation, a residual that is fitted anew to the newest seconds, residuals without a latent, and an
// oracle that is told the true wind. It is for the loop in simulation.
package baseline

import (
	"fmt"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
	"vnd/pkg/robot/quadrotor"
)

// RecentMeanConfig is that of the geometric law with recent-mean compensation.
type RecentMeanConfig struct {
	Gains  guard.Gains // of the geometric law; without its integral the compensation alone answers the wind
	Window float64     // newest time over which the residualMean acceleration is averaged, s
}

// RecentMean flies a path by the geometric law and takes the mean of what the prior left of the accelerations
// measured of late for what is to come. It ticks once per Δt, is for one goroutine, and observes what it flies.
type RecentMean struct {
	law          *guard.Law
	lead         float64
	path         guard.Path
	dt           float64
	n            int // steps of the window
	rows         *quad.Window
	residualMean *quadrotor.ResidualMean
	push         so3.Vec3 // residualMean acceleration in the world, m/s²
}

// NewRecentMean makes one for an actuator, at Δt = dt seconds.
func NewRecentMean(c RecentMeanConfig, l quad.Limits, a quadrotor.Actuator, dt float64, path guard.Path) (*RecentMean,
	error) {
	law, err := guard.NewLaw(c.Gains, l)
	if err != nil {
		return nil, err
	}
	n := int(c.Window/dt + 0.5)
	if n < 1 {
		return nil, fmt.Errorf("a window of %g s holds no step of %g s", c.Window, dt)
	}
	r := &RecentMean{law: law, lead: c.Gains.Lead, path: path, dt: dt, n: n, residualMean: quadrotor.NewResidualMean(a,
		dt, n)}
	if r.rows, err = quad.NewWindow(n, dt); err != nil {
		return nil, err
	}
	return r, nil
}

// Reset implements quad.Controller.
func (r *RecentMean) Reset() {
	r.law.Reset()
	r.push = so3.Vec3{}
	r.rows, _ = quad.NewWindow(r.n, r.dt) // of numbers that it took before
}

// Command implements quad.Controller.
func (r *RecentMean) Command(t float64, s *quad.State) quad.Command {
	ref := r.path.At(t)
	ref.A = r.path.At(t + r.lead).A.Sub(r.push)
	return r.law.Track(t, s, &ref)
}

// Observe takes what was flown, once per tick after its command. Until the window is full nothing is compensated.
func (r *RecentMean) Observe(s quad.Row) {
	r.rows.Push(s)
	if r.push = (so3.Vec3{}); r.rows.Full() {
		r.push = r.residualMean.Mean(r.rows.Rows())
	}
}
