package guard

import (
	"math"

	"vnd/pkg/core/quad"
)

// Of the rollout that decides whether the law could still recover the robot.
const (
	recoveryStep    = 0.02 // s
	recoverySteps   = 75
	recoveryLag     = 1.25 // times the response's lags: the rollout is of a slower airframe
	recoveryQueue   = 12   // steps of delay and one
	recoveryThrust  = 0.92 // of the greatest thrust
	recoveryTick    = 0.02 // s for which the policy's command goes on
	touchdownHeight = 0.12 // m above the ground at which feet may touch
	maxTouchdown    = 0.4  // m/s, downwards or along the floor
	fenceMargin     = 0.2  // m, by which the rollout stays inside the fence
	calmSpeed       = 0.4  // m/s
	calmTilt        = 0.25 // rad
)

// recoverable returns None if the law, taking over after one more tick of a command, would bring the robot to rest
// inside the fence and off the ground. Else it returns what the robot would meet: the guard's own model
// flies it there. The set of such states is what a Simplex architecture calls the recoverable set (Seto, Krogh, Sha,
// Chutinan 1998), computed anew at each tick.
func (g *Guard) recoverable(c quad.Command, now float64) Cause {
	m := g.belief.present(now)
	r := g.config.Response
	delay := max(r.ThrustDelay, r.RateDelay)
	r.ThrustLag, r.RateLag = recoveryLag*r.ThrustLag, recoveryLag*r.RateLag
	whole := r.step(substep)
	for t := 0.0; t < delay+recoveryTick-1e-9; t += substep { // what is on its way already, then the command
		acts := c
		if t < delay {
			acts = g.sent
		}
		m.follow(acts, &whole, g.belief.wind)
	}
	if cause := g.endangered(&m.state); cause != None {
		return cause
	}
	law := *g.law
	law.limits.MaxThrust *= recoveryThrust
	law.gains.MaxTilt = g.config.Gains.MaxTilt
	law.last, law.integral = math.NaN(), g.belief.wind.Scale(-1).Shorten(g.config.Gains.MaxIntegral)
	to := quad.Reference{P: g.placeToHold(&m.state), Yaw: m.state.Q.Yaw()}
	late := min(int(delay/recoveryStep), recoveryQueue-1) // whole steps, and the rest of one
	first := min(delay-float64(late)*recoveryStep, recoveryStep)
	begin, rest := r.step(first), r.step(recoveryStep-first)
	var queue [recoveryQueue]quad.Command // that do not act yet, the next first
	for i := range queue {
		queue[i] = c
	}
	for k := range recoverySteps {
		acts := queue[0]
		copy(queue[:late], queue[1:late+1])
		queue[late] = law.Track(float64(k)*recoveryStep, &m.state, &to)
		m.follow(acts, &begin, g.belief.wind)
		m.follow(queue[0], &rest, g.belief.wind)
		s := &m.state
		if cause := g.endangered(s); cause != None {
			return cause
		}
		if s.V.Norm() < calmSpeed && s.Q.Tilt() < calmTilt {
			return None
		}
	}
	return None
}

// endangered says what a robot in a state has met.
func (g *Guard) endangered(s *quad.State) Cause {
	switch {
	case s.P.Z < g.config.Ground+touchdownHeight &&
		(s.V.Z < -maxTouchdown || math.Hypot(s.V.X, s.V.Y) > maxTouchdown || s.Q.Tilt() > 2*calmTilt):
		return Floor
	case g.fence.inside(s.P, fenceMargin) != s.P:
		return Fence
	}
	return None
}
