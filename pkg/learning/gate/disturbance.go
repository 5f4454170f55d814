package gate

import (
	"vnd/pkg/robot"
	"vnd/pkg/vnd"
)

// Disturbance reads latents of a model: what they do to a robot at rest, under the action that keeps it there. It is
// for one goroutine.
type Disturbance struct {
	roll       *vnd.Rollout[float32]
	system     robot.System[float32]
	dt         float64
	rest, next []float32 // [S]
	hold       []float32 // [A]
	change     []float32 // [U]
}

// NewDisturbance prepares for latents of a model at steps of dt seconds.
func NewDisturbance(m *vnd.Model[float32], dt float64) *Disturbance {
	d := m.System.Dims()
	r := &Disturbance{roll: m.NewMeanRollout(1, 1), system: m.System, dt: dt, rest: robot.Settled(m.System),
		next: make([]float32, d.State), hold: make([]float32, d.Action), change: make([]float32, d.Tangent)}
	m.System.Rest(make([]float32, d.Measured), r.hold)
	return r
}

// Place returns how fast the measured state leaves rest under z[Z], less positions: of a quadrotor the acceleration in
// the world, m/s², and the body rates beyond those commanded, rad/s.
func (r *Disturbance) Place(z []float32) (p Place) {
	r.roll.Begin(0, 1, 1, z)
	r.roll.Step(0, r.rest, r.hold, r.next)
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
