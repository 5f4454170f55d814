package baseline

import (
	"slices"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/robot/quadrotor"
)

// Airframe is what flights tell of a robot (quadgate.Identify): its response to commands and its drag.
type Airframe struct {
	Actuator quadrotor.Actuator
	Drag     float64 // acceleration against the velocity over the velocity, 1/s
}

// plant is the rigid body behind the identified actuator, without any disturbance. It follows a flight by its rows.
type plant struct {
	system        *quadrotor.Quadrotor[float64]
	dt, drag      float64
	s, next, a, d []float64
}

// lagged is where the state of quadrotor.Quadrotor has what the actuator does: thrust, then body rates.
const lagged = 10

func newPlant(r Airframe, dt float64) *plant {
	p := &plant{system: quadrotor.NewQuadrotor[float64](dt, r.Actuator), dt: dt, drag: r.Drag}
	n := p.system.Dims()
	p.s, p.next = make([]float64, n.State), make([]float64, n.State)
	p.a, p.d = make([]float64, n.Action), make([]float64, n.Tangent)
	p.reset()
	return p
}

// reset has the robot hover for long.
func (p *plant) reset() {
	clear(p.s)
	for i := lagged; i < len(p.s); i += len(p.a) {
		p.s[i] = quad.Gravity
	}
}

// observe takes a row and returns the acceleration that it is expected to bring until the next, m/s² in the world.
func (p *plant) observe(r *quad.Row) so3.Vec3 {
	quadrotor.Measured(&r.State, p.s)
	quadrotor.Action(&r.Command, p.a)
	p.system.Step(1, p.s, p.a, p.d, p.next)
	p.s, p.next = p.next, p.s
	after := quadrotor.State(p.s)
	return after.V.Sub(r.State.V).Scale(1 / p.dt).Sub(r.State.V.Scale(p.drag))
}

// ahead returns the state after n steps under commands that were given already, with what the actuator does there: s
// is the one measured now, push a disturbance, m/s² in the world.
func (p *plant) ahead(s *quad.State, n int, push so3.Vec3) (after quad.State, thrust float64, rates so3.Vec3) {
	now, next := slices.Clone(p.s), make([]float64, len(p.s))
	quadrotor.Measured(s, now)
	for range n {
		before := quadrotor.State(now)
		p.system.Step(1, now, p.a, p.d, next)
		after = quadrotor.State(next)
		off := push.Sub(before.V.Scale(p.drag))
		after.V = after.V.Add(off.Scale(p.dt))
		after.P = after.P.Add(off.Scale(p.dt * p.dt / 2))
		quadrotor.Measured(&after, next)
		now, next = next, now
	}
	l := now[lagged:]
	return quadrotor.State(now), l[0], so3.Vec3{X: l[1], Y: l[2], Z: l[3]}
}
