package control

import (
	"math"

	"vnd/pkg/core/so3"
)

// turnClock finds by how many s turns come later than commands tell, by the stamps of poses: what poses are off the
// turns that were commanded is in proportion to the rates, where both are taken without what lasts. The zero value has
// seen nothing.
type turnClock struct {
	q        so3.Quat // that follows the attitude
	bias     so3.Vec3 // of the rates, rad/s
	byQ, byB so3.Vec3 // how both change with the delay
	t        float64  // of both, s
	// Sums: rates times what poses are off, and themselves; squares of what poses are off, and their number.
	both, own, off, count float64
}

const (
	followLasts   = 0.3  // s from which on something lasts
	biasLasts     = 2.0  // s
	followMemory  = 15.0 // s
	followSpacing = 0.03 // s between attitudes, at most
	followKnown   = 2e-3 // s, standard deviation from which on the delay is known
	followAlike   = 15   // poses in a row that are off alike
)

// add takes an attitude at a time, s. commanded are mean body rates from one time to a later one.
func (c *turnClock) add(t float64, q so3.Quat, commanded func(from, to float64) so3.Vec3) {
	dt := t - c.t
	if !(dt > 0 && dt < followSpacing) {
		c.q, c.bias, c.byQ, c.byB, c.t = q, so3.Vec3{}, so3.Vec3{}, so3.Vec3{}, t
		return
	}
	rates := commanded(c.t, t)
	c.t = t
	c.q = c.q.Mul(so3.Exp(rates.Sub(c.bias).Scale(dt))).Normalize()
	c.byQ = c.byQ.Sub(c.byB.Scale(dt))
	r, by := so3.Log(c.q.Conj().Mul(q)), rates.Add(c.byQ).Scale(-1)
	c.regress(r, by, math.Exp(-dt/followMemory))
	gain, biasGain := dt/followLasts, dt/(followLasts*biasLasts)
	c.q, c.byQ = c.q.Mul(so3.Exp(r.Scale(gain))), c.byQ.Add(by.Scale(gain))
	c.bias, c.byB = c.bias.Sub(r.Scale(biasGain)), c.byB.Sub(by.Scale(biasGain))
}

// regress takes what a pose is off, and what it would be by a second of delay; of tilting turns alone.
func (c *turnClock) regress(r, by so3.Vec3, fade float64) {
	c.both = c.both*fade + r.X*by.X + r.Y*by.Y
	c.own = c.own*fade + by.X*by.X + by.Y*by.Y
	c.off = c.off*fade + r.X*r.X + r.Y*r.Y
	c.count = c.count*fade + 2
}

// late is by how many s turns come later than commands tell; below 0 they come sooner. It is 0 where that is not known.
func (c *turnClock) late() float64 {
	late := c.both / c.own
	variance := followAlike * max(c.off-late*c.both, 0) / (c.count * c.own)
	if !(variance <= followKnown*followKnown) { // nor where nothing was seen
		return 0
	}
	return late
}
