// Package gatestudy measures the gate over robots drawn widely: which truly better candidates it refuses, and which
// worse ones it lets fly. It is for `vnd gate`.
package gatestudy

import (
	"fmt"
	"math/rand/v2"

	"vnd/pkg/sim"
)

// Robot is a quadrotor that is not the default one.
type Robot struct {
	Number int     `json:"robot"`
	Lag    float64 `json:"lag_s"`   // of thrust and body rates
	Gain   float64 `json:"gain"`    // thrust over commanded thrust
	Delay  float64 `json:"delay_s"` // of commands
	Drag   float64 `json:"drag"`    // over that of the default robot
	Mass   float64 `json:"mass"`    // the same
	Motors float64 `json:"motors"`  // share of the lag that is the motors'
}

// Draw draws a robot: lag .02 to .2 s, gain .7 to 1.3, delay 0 to 80 ms, drag ± 80 %, mass ± 30 %.
func Draw(seed uint64, number int) Robot {
	rng := rand.New(rand.NewPCG(seed, uint64(number)))
	within := func(lo, hi float64) float64 { return lo + (hi-lo)*rng.Float64() }
	return Robot{number, within(0.02, 0.2), within(0.7, 1.3), within(0, 0.08), within(0.2, 1.8), within(0.7, 1.3),
		within(0.3, 0.7)}
}

// World is the calm world of the robot. A share of the lag is that of its motors, with a slower rate loop; the rest of
// the thrust's is its autopilot's.
func (r *Robot) World() sim.World {
	w := sim.Default()
	w.Motor.Lag = max(0.01, r.Motors*r.Lag)
	w.Link.ThrustLag = r.Lag - min(r.Lag, w.Motor.Lag)
	w.Motor.Gain, w.Link.Delay = r.Gain, r.Delay
	w.Airframe.Mass *= r.Mass
	for i := range w.RateLoop.Gain {
		slower := min(1, (1+w.RateLoop.Damping[i])/(w.RateLoop.Gain[i]*r.Lag))
		w.RateLoop.Gain[i] *= slower
		w.RateLoop.Integral[i] *= slower * slower
	}
	for i := range w.Drag.Rotor {
		w.Drag.Rotor[i] *= r.Drag
		w.Drag.Body[i] *= r.Drag
	}
	return w
}

// String gives the robot in a line.
func (r Robot) String() string {
	return fmt.Sprintf("lag %.3f s, gain %.2f, delay %.0f ms, drag × %.2f, mass × %.2f", r.Lag, r.Gain, 1000*r.Delay,
		r.Drag, r.Mass)
}
