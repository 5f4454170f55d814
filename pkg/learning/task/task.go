// Package task is what a policy of a quadrotor is trained for: costs, where episodes begin and what they follow, and
// when they end. Package quadtrain makes robot.Task of it.
package task

import (
	"math"
	"math/rand/v2"
	"slices"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/robot/quadrotor"
)

// Episode is where a robot begins and what it follows.
type Episode struct {
	Start     quad.State
	Reference func(t float64) quad.Reference // t in s from the episode's start
}

// Cost of a step, by the quadrotor's kernels.
type Cost = quadrotor.Cost

// Task is what a policy is trained for.
type Task struct {
	Name   string
	Cost   Cost
	Radius float64 // position error at which an episode ends as a collision, m
	Draw   func(rng *rand.Rand) Episode

	improving *Task // where a policy is improved; nil: as it is
}

// Improving returns tasks as a policy is improved in them: in a learned model, from one that flies.
func Improving(tasks []*Task) []*Task {
	out := slices.Clone(tasks)
	for i, t := range out {
		if t.improving != nil {
			out[i] = t.improving
		}
	}
	return out
}

// Spread is how far from the reference episodes begin: standard deviations.
type Spread struct {
	Position float64 `param:"position" default:"0.3" min:"0" max:"10" unit:"m" doc:"spread of the position at the start, on each axis"`
	Velocity float64 `param:"velocity" default:"0.4" min:"0" max:"10" unit:"m/s" doc:"spread of the velocity at the start, on each axis"`
	Tilt     float64 `param:"tilt" default:"0.2" min:"0" max:"1.5" unit:"rad" doc:"spread of the tilt at the start, on each axis"`
	Yaw      float64 `param:"yaw" default:"0.3" min:"0" max:"3" unit:"rad" doc:"spread of the yaw at the start"`
}

// around draws a state around a reference, at the attitude of its flight.
func (s *Spread) around(r quad.Reference, rng *rand.Rand) quad.State {
	normal := func(sigma float64) so3.Vec3 {
		return so3.Vec3{X: sigma * rng.NormFloat64(), Y: sigma * rng.NormFloat64(), Z: sigma * rng.NormFloat64()}
	}
	turn := normal(s.Tilt)
	turn.Z = math.Remainder(s.Yaw*rng.NormFloat64(), 2*math.Pi)
	return quad.State{P: r.P.Add(normal(s.Position)), V: r.V.Add(normal(s.Velocity)),
		Q: quadrotor.FlatAttitude(&r).Mul(so3.Exp(turn)).Normalize()}
}

// Start returns a task's episode along a reference, from a start drawn around it.
func (s *Spread) Start(reference func(t float64) quad.Reference, rng *rand.Rand) Episode {
	return Episode{Start: s.around(reference(0), rng), Reference: reference}
}
