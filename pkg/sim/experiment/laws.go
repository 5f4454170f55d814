package experiment

import (
	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/flight/guard"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/sim/baseline"
)

// The plain laws have the best gains of 120 that were drawn, in calm and in one wind that no study reports.
// TestTuneLaws searches again. The guard's own gains are for recovery, not for a fast path.
var (
	lawGains        = gains(31.2, 6.5, 9.4, 0.062)
	recentMeanGains = gains(24.3, 5.0, 11.4, 0.085)
)

const recentMeanWindow = 0.2 // s

// gains are the guard's with others for position, velocity and tilt. The integral grows with them, as the poles move
// out. Fast references tilt further than a guard may.
func gains(position, velocity, tilt, lead float64) (g guard.Gains) {
	param.Default(&g)
	g.Integral *= position * velocity / (g.Position * g.Velocity)
	g.Position, g.Velocity, g.Tilt, g.Lead, g.MaxTilt = position, velocity, tilt, lead, 1.2
	return g
}

// Law is the geometric law, with an integral, that knows no wind.
func (c *Campaign) Law() Method { return c.law(lawGains) }

func (c *Campaign) law(g guard.Gains) Method {
	return Method{Name: "geometric law", Make: func(t Task) (quad.Controller, error) {
		law, err := guard.NewLaw(g, c.Limits)
		return guard.PathFollower{Law: law, Path: t.Path}, err
	}}
}

// RecentMean is the geometric law with recent-mean compensation in place of its integral. Of an identified actuator
// it takes lags and delays; what the thrust lacks is for the mean to find.
func (c *Campaign) RecentMean(a quadrotor.Actuator) Method {
	return c.recentMean(a, baseline.RecentMeanConfig{Gains: recentMeanGains, Window: recentMeanWindow})
}

func (c *Campaign) recentMean(a quadrotor.Actuator, cfg baseline.RecentMeanConfig) Method {
	a.ThrustGain = 1
	cfg.Gains.Integral = 0
	return Method{Name: "recent mean", Make: func(d Task) (quad.Controller, error) {
		return baseline.NewRecentMean(cfg, c.Limits, a, c.Nominal.Dt, d.Path)
	}}
}
