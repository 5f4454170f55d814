package baseline

import (
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
	"vnd/pkg/robot/quadrotor"
)

// geometric is the geometric law without an integral, with what flatness and the identified drag feed forward: the
// law that disturbance estimates augment. Body rates are those of the reference's attitude (D. Mellinger and V. Kumar,
// "Minimum snap trajectory generation and control for quadrotors", 2011), which guard.Law leaves out.
type geometric struct {
	law    *guard.Law
	limits quad.Limits
	path   guard.Path
	robot  Airframe
	lead   float64 // s, by which body rates are early against their response
}

func newGeometric(g guard.Gains, l quad.Limits, r Airframe, dt float64, path guard.Path) (*geometric, error) {
	g.Integral, g.Lead = 0, 0
	law, err := guard.NewLaw(g, l)
	lead := r.Actuator.RateDelay*dt + r.Actuator.RateLag
	return &geometric{law: law, limits: l, path: path, robot: r, lead: lead}, err
}

// command tracks the path where a push, m/s² in the world, adds to what thrust and gravity do.
func (g *geometric) command(t float64, s *quad.State, push so3.Vec3) quad.Command {
	ref := g.wanted(t, push)
	c := g.law.Track(t, s, &ref)
	turn := flatRates(t+g.lead, func(t float64) quad.Reference { return g.wanted(t, push) })
	c.Thrust /= g.robot.Actuator.ThrustGain
	c.Rates.X += turn.X
	c.Rates.Y += turn.Y // about z the law has the reference's own
	return g.limits.Clip(c)
}

// wanted is the reference with the acceleration that thrust and gravity have to bring.
func (g *geometric) wanted(t float64, push so3.Vec3) quad.Reference {
	r := g.path.At(t)
	r.A = r.A.Add(r.V.Scale(g.robot.Drag)).Sub(push)
	return r
}

// flatRates are the body rates of a reference's attitude at t, rad/s in its own frame.
func flatRates(t float64, at func(t float64) quad.Reference) so3.Vec3 {
	const step = 0.01 // s
	before, after := at(t-step/2), at(t+step/2)
	q := quadrotor.FlatAttitude(&before)
	return so3.Log(q.Conj().Mul(quadrotor.FlatAttitude(&after))).Scale(1 / step)
}
