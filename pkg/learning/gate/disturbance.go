package gate

import (
	"vnd/pkg/core/quad"
	"vnd/pkg/robot"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd"
)

// Disturbance reads latents of a model: what they do to a robot that is told to hover, level and at rest. It is for one
// goroutine.
type Disturbance struct {
	roll       *vnd.Rollout[float32]
	system     robot.System[float32]
	dt         float64
	rest, next []float32 // [S]
	hover      []float32 // [A]
	change     []float32 // [U]
}

// NewDisturbance prepares for latents of a model of the quadrotor q.
func NewDisturbance(m *vnd.Model[float32], q quadrotor.Robot) *Disturbance {
	d := m.System.Dims()
	r := &Disturbance{roll: m.NewMeanRollout(1, 1), system: m.System, dt: q.Dt, rest: robot.Settled(m.System),
		next:  make([]float32, d.State),
		hover: make([]float32, d.Action), change: make([]float32, d.Tangent)}
	quadrotor.Action(&quad.Command{Thrust: quad.Gravity}, r.hover)
	return r
}

// Place returns the acceleration in the world, m/s², and the body rates beyond those commanded, rad/s, under z[Z].
func (r *Disturbance) Place(z []float32) (p Place) {
	r.roll.Begin(0, 1, 1, z)
	r.roll.Step(0, r.rest, r.hover, r.next)
	r.system.Minus(1, r.next, len(r.next), r.rest, len(r.rest), r.change)
	at := 0
	for _, span := range r.system.TangentSpans() {
		if span.Name == "position" { // follows from the velocity
			continue
		}
		for j := span.Lo; j < span.Hi; j++ {
			p[at] = float64(r.change[j]) / r.dt
			at++
		}
	}
	return p
}
