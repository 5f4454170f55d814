package pushing

import (
	"math/rand/v2"

	"vnd/pkg/robot/pusher"
)

// Real is worlds of MuJoCo under conditions that Draw draws.
type Real struct {
	*Worlds
	Draw       func(i int, rng *rand.Rand) Condition
	conditions []Condition
}

// NewReal makes n worlds that as many threads step.
func NewReal(n, threads int, draw func(i int, rng *rand.Rand) Condition) (*Real, error) {
	w, err := NewWorlds(n, threads)
	return &Real{w, draw, make([]Condition, n)}, err
}

// Begin implements Plant.
func (r *Real) Begin(i int, s *pusher.State, rng *rand.Rand) error {
	r.conditions[i] = r.Draw(i, rng)
	return r.Worlds.Begin(i, r.conditions[i], s)
}

// HiddenSize implements Plant.
func (r *Real) HiddenSize() int { return 6 }

// Hidden implements Plant: within about ±1.
func (r *Real) Hidden(i int, x []float32) {
	c := &r.conditions[i]
	x[0], x[1] = float32(c.Mass/mostMass), float32(c.Friction/mostFriction)
	for k := range 2 {
		x[2+k], x[4+k] = float32(c.Centre[k]/mostCentre), float32(c.Tilt[k]/mostTilt)
	}
}
