package task

import (
	"math"
	"math/rand/v2"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// Throw is how robots leave a hand: at any attitude, the velocity and the body rates within balls.
type Throw struct {
	Speed float64 // greatest, m/s
	Rates float64 // greatest, rad/s
}

// Release draws the state at which a robot leaves the hand at a place, and its body rates w_B, rad/s.
func (t *Throw) Release(place so3.Vec3, rng *rand.Rand) (quad.State, so3.Vec3) {
	turn := so3.Quat{W: rng.NormFloat64(), X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}
	return quad.State{P: place, Q: turn.Normalize(), V: within(t.Speed, rng)}, within(t.Rates, rng)
}

// within draws a vector evenly from a ball.
func within(radius float64, rng *rand.Rand) so3.Vec3 {
	x := so3.Vec3{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}
	return x.Scale(radius * math.Cbrt(rng.Float64()) / x.Norm())
}

// Recover is the task of a robot that was thrown: to be level and slow first of all, and to come back to the hand.
// Episodes begin anywhere on that way. They know no body rates: an autopilot's rate loop has ended those of the throw
// within a few steps.
func (t *Throw) Recover() *Task {
	const away, faster = 1, 4. / 3 // m; a robot that is upside down gains speed until it has turned over
	cost := Cost{Position: 0.1, Velocity: 0.3, Rates: 0.01, Attitude: 0.7, Action: 0.1,
		CommandChange: 0.25, Collision: 1, Delta: 1}
	on := Throw{Speed: faster * t.Speed}
	return &Task{Name: Hover, Cost: cost, Radius: math.Inf(1), Draw: func(rng *rand.Rand) Episode {
		start, _ := on.Release(within(away, rng), rng)
		return Episode{Start: start, Reference: func(float64) quad.Reference { return quad.Reference{} }}
	}}
}
