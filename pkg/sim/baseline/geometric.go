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
	// By how much body rates and thrust of the reference are early, against their response, s.
	rateLead, thrustLead float64
}

func newGeometric(g guard.Gains, l quad.Limits, r Airframe, dt float64, path guard.Path) (*geometric, error) {
	g.Integral, g.Lead = 0, 0
	law, err := guard.NewLaw(g, l)
	a := r.Actuator
	return &geometric{law: law, limits: l, path: path, robot: r, rateLead: a.RateDelay*dt + a.RateLag,
		thrustLead: a.ThrustDelay*dt + a.ThrustLag}, err
}

// command tracks the path where a push, m/s² in the world, adds to what thrust and gravity do.
func (g *geometric) command(t float64, s *quad.State, push so3.Vec3) quad.Command {
	ref, soon := g.wanted(t, push), g.wanted(t+g.thrustLead, push)
	turn := flatRates(t+g.rateLead, func(t float64) quad.Reference { return g.wanted(t, push) })
	off := s.Q.Conj().Mul(quadrotor.FlatAttitude(&ref)) // the reference's attitude in the body
	ref.YawRate = 0                                     // it is in turn
	c := g.law.Track(t, s, &ref)
	c.Thrust = (c.Thrust + lift(&soon) - lift(&ref)) / g.robot.Actuator.ThrustGain
	c.Rates = c.Rates.Add(off.Rotate(turn))
	return g.limits.Clip(c)
}

// wanted is the reference with the acceleration that thrust and gravity have to bring.
func (g *geometric) wanted(t float64, push so3.Vec3) quad.Reference {
	r := g.path.At(t)
	r.A = r.A.Add(r.V.Scale(g.robot.Drag)).Sub(push)
	return r
}

// lift is the thrust of a reference, m/s².
func lift(r *quad.Reference) float64 { return r.A.Add(so3.Vec3{Z: quad.Gravity}).Norm() }

// flatRates are the body rates of a reference's attitude at t, rad/s in its own frame.
func flatRates(t float64, at func(t float64) quad.Reference) so3.Vec3 {
	const step = 0.01 // s
	before, after := at(t-step/2), at(t+step/2)
	q := quadrotor.FlatAttitude(&before)
	return so3.Log(q.Conj().Mul(quadrotor.FlatAttitude(&after))).Scale(1 / step)
}
