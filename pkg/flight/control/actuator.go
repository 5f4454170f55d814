package control

import (
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/robot/quadrotor"
)

// maxRemembered commands: MaxDelay rows of at most 0.1 s at 400 Hz, and one more.
const maxRemembered = quadrotor.MaxDelay*40 + 2

// actuator is the lagged command that a model believes in, carried on from tick to tick. At one tick per row it is that
// of the model; at more it is the same delay and lag in smaller steps.
type actuator struct {
	thrust, rates, yaw channel
	e                  quad.Command // what acts now
	sent               [maxRemembered]quad.Command
	newest             int
}

// channel is delay and lag in units of ticks.
type channel struct {
	gain, blend float64
	tap         int     // age of the younger of the two commands that act together, ticks
	elder       float64 // weight of the elder one
}

func newChannel(gain, delay, lag, dt, tick float64) channel {
	c := channel{gain: gain, blend: 1}
	if lag > 0 {
		c.blend = 1 - math.Exp(-tick/lag)
	}
	ticks := min(delay*dt/tick, maxRemembered-2)
	c.tap = int(ticks)
	c.elder = ticks - float64(c.tap)
	return c
}

// hover forgets what was sent: the robot is taken to have hovered.
func (a *actuator) hover() {
	a.e = quad.Command{Thrust: quad.Gravity}
	for i := range a.sent {
		a.sent[i] = a.e
	}
}

// setModel believes in another chain from now on; dt is the Δt of its bundle and tick the time between two commands, s.
func (a *actuator) setModel(m quadrotor.Actuator, dt, tick float64) {
	a.thrust = newChannel(m.ThrustGain, m.ThrustDelay, m.ThrustLag, dt, tick)
	a.rates = newChannel(m.RateGain, m.RateDelay, m.RateLag, dt, tick)
	a.yaw = newChannel(m.RateGain, m.RateDelay, m.RateLag+m.YawLag, dt, tick)
}

// step carries the belief over one tick under the command that was sent at its beginning.
func (a *actuator) step(c quad.Command) {
	a.newest = (a.newest + 1) % maxRemembered
	a.sent[a.newest] = c
	x := &a.e
	x.Thrust += a.thrust.blend * (a.thrust.gain*a.thrust.interpolate(a.ago(a.thrust.tap).Thrust, a.ago(a.thrust.tap+1).Thrust) -
		x.Thrust)
	young, elder := a.ago(a.rates.tap).Rates, a.ago(a.rates.tap+1).Rates
	wanted := young.Scale(1 - a.rates.elder).Add(elder.Scale(a.rates.elder)).Scale(a.rates.gain)
	off := wanted.Sub(x.Rates)
	x.Rates = x.Rates.Add(so3.Vec3{X: a.rates.blend * off.X, Y: a.rates.blend * off.Y, Z: a.yaw.blend * off.Z})
}

func (c *channel) interpolate(young, elder float64) float64 { return young + c.elder*(elder-young) }

// ago is the command sent so many ticks ago.
func (a *actuator) ago(ticks int) *quad.Command {
	return &a.sent[(a.newest-ticks+maxRemembered)%maxRemembered]
}
