package policy

import (
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// Steady is what a runner does beside the network, for what that leaves of a condition. Policies are trained without
// it. Its zero value does nothing: so fly bundles of before.
type Steady struct {
	Integral    Integral    `param:"integral" json:"integral,omitzero" doc:"integral of the position error, by which the reference is moved"`
	FeedForward FeedForward `param:"feed_forward" json:"feed_forward,omitzero" doc:"function of the reference's velocity and acceleration, by which it is moved"`
	Push        Push        `param:"push" json:"push,omitzero" doc:"newest push that the model does not expect, as a policy sees it"`
	LatentMean  LatentMean  `param:"latent_mean" json:"latent_mean,omitzero" doc:"mean of the latents that a policy sees, while they stay near each other"`
}

// farthestMoved is by how much a bundle may move a reference, m: what the parameters allow.
const farthestMoved = 1

func (s *Steady) valid() bool {
	for _, x := range []float64{s.Integral.Time, s.Integral.Error, s.Integral.Limit, s.FeedForward.Time,
		s.FeedForward.Error, s.FeedForward.Limit, s.LatentMean.Reset, s.Push.Rate, s.Push.Mean,
		s.Push.Calm, s.Push.Swing} {
		if !(x >= 0) || math.IsInf(x, 1) {
			return false
		}
	}
	return s.LatentMean.Rows >= 0 && max(s.Integral.Limit, s.FeedForward.Limit) <= farthestMoved
}

// Integral moves the reference that the policy sees by the integral of the position error. What latent and network
// leave of a steady wind goes to zero within a few times Time. It is slow beside the policy, so that it takes little of
// its phase margin, and bounded: a pose that stands still or jumps moves the reference by Limit at most.
type Integral struct {
	Time  float64 `param:"time" default:"3.0" min:"0" max:"100" unit:"s" doc:"integral time; 0 takes no integral"`
	Error float64 `param:"error" default:"0.03" min:"0.001" max:"1" unit:"m" doc:"greater errors count as this one: a turn of the wind is for the latent"`
	Limit float64 `param:"limit" default:"0.2" min:"0" max:"1" unit:"m" doc:"greatest distance by which the reference is moved"`
}

// correction is by how much the reference that the policy sees is moved.
type correction struct {
	steady  so3.Vec3 // by Integral, m
	weights weights  // by FeedForward
	limit   float64  // of what weights move it by, m
}

// step carries the correction on by dt seconds under a position error along a reference, in the world, m.
func (s *Steady) step(c *correction, r *quad.Reference, err so3.Vec3, dt float64) {
	if s.Integral.Time > 0 {
		c.steady = s.Integral.step(c.steady, err, dt)
	}
	if s.FeedForward.Time > 0 {
		s.FeedForward.step(&c.weights, r, err, dt)
		c.limit = s.FeedForward.Limit
	}
}

// at is by how much a reference is moved, m in the world.
func (c *correction) at(r *quad.Reference) so3.Vec3 {
	x := basisOf(r)
	return c.steady.Add(c.weights.sum(&x).Shorten(c.limit))
}

func (c *correction) scale(by float64) {
	c.steady = c.steady.Scale(by)
	c.weights.scale(by)
	c.limit *= by
}

func (c *correction) add(d *correction) {
	c.steady = c.steady.Add(d.steady)
	for i, w := range d.weights {
		c.weights[i] = c.weights[i].Add(w)
	}
	c.limit = max(c.limit, d.limit)
}

// longestTick is what a tick counts at most, s: a gap does not show what was meanwhile.
const longestTick = 0.1

// step carries the distance by which the reference is moved on by dt seconds under a position error, in the world, m.
func (k *Integral) step(moved, err so3.Vec3, dt float64) so3.Vec3 {
	if !(dt > 0) || !err.Finite() {
		return moved
	}
	err = err.Shorten(k.Error)
	return moved.Add(err.Scale(min(min(dt, longestTick)/k.Time, 1))).Shorten(k.Limit)
}
