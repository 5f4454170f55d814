package sim

import (
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

const gravity = quad.Gravity

// Airframe is the rigid body: by default Kolibri, as the paper's "Quadrotor dynamics model" has it.
type Airframe struct {
	Mass    float64   `param:"mass" default:"0.192" min:"0.001" max:"100" unit:"kg" doc:"mass without payload, which the autopilot knows"`
	Inertia []float64 `param:"inertia" default:"1.42e-4,1.65e-4,2.13e-4" min:"1e-9" max:"100" unit:"kg m²" doc:"principal moments about x, y, z of the body"`
	ArmX    float64   `param:"arm_x" default:"0.041" min:"0.001" max:"5" unit:"m" doc:"rotors are this far before and behind the centre"`
	ArmY    float64   `param:"arm_y" default:"0.041" min:"0.001" max:"5" unit:"m" doc:"rotors are this far left and right of the centre"`
}

func (a *Airframe) check() error {
	if err := length("airframe.inertia", len(a.Inertia), 3); err != nil {
		return err
	}
	x, y, z := a.Inertia[0], a.Inertia[1], a.Inertia[2]
	if x+y < z || y+z < x || z+x < y {
		return faulty("airframe.inertia", "%v is no body's, expected each moment to be at most the sum of the "+
			"other two", a.Inertia)
	}
	return nil
}

// arms returns the places of the rotors, front right, rear left, front left, rear right, in the body, m.
func (a *Airframe) arms() [4]so3.Vec3 {
	x, y := a.ArmX, a.ArmY
	return [4]so3.Vec3{{X: x, Y: -y}, {X: -x, Y: y}, {X: x, Y: y}, {X: -x, Y: -y}}
}

// payload is a point mass fixed to the body, or hung on it.
type payload struct {
	mass  float64  // kg
	at    so3.Vec3 // in the body, m
	cable float64  // length of the cable on which it hangs there, m; 0: it is fixed
}

// massProperties are those of body and payload as one rigid body.
type massProperties struct {
	mass    float64  // kg
	centre  so3.Vec3 // r_c, centre of mass in the body, m
	inertia so3.Mat3 // I_c, about the centre of mass in the body, kg m²
	inverse so3.Mat3 // I_c⁻¹
}

// loaded returns the mass properties of an airframe that carries p; what hangs is no part of it. By the parallel axis
// theorem two bodies of masses m and m_p at a distance r add μ·(r²·1 − r·rᵀ) with the reduced mass μ = m·m_p/(m+m_p).
func loaded(a *Airframe, p payload) massProperties {
	if p.cable > 0 {
		p = payload{}
	}
	total := a.Mass + p.mass
	mu := a.Mass * p.mass / total
	hat := so3.Hat(p.at)
	square := hat.Mul(hat) // −(r²·1 − r·rᵀ)
	var inertia so3.Mat3
	for i := range 3 {
		inertia[i][i] = a.Inertia[i]
		for j := range 3 {
			inertia[i][j] -= mu * square[i][j]
		}
	}
	return massProperties{total, p.at.Scale(p.mass / total), inertia, inverse(inertia)}
}

// inverse returns m⁻¹ of a regular matrix, by its adjugate.
func inverse(m so3.Mat3) so3.Mat3 {
	a, b, c := so3.Vec3{X: m[0][0], Y: m[0][1], Z: m[0][2]}, so3.Vec3{X: m[1][0], Y: m[1][1], Z: m[1][2]},
		so3.Vec3{X: m[2][0], Y: m[2][1], Z: m[2][2]}
	x, y, z := b.Cross(c), c.Cross(a), a.Cross(b)
	d := 1 / a.Dot(x)
	return so3.Mat3{
		{d * x.X, d * y.X, d * z.X},
		{d * x.Y, d * y.Y, d * z.Y},
		{d * x.Z, d * y.Z, d * z.Z},
	}
}
