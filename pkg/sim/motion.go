package sim

import "vnd/pkg/core/so3"

// body is what is integrated.
type body struct {
	p     so3.Vec3   // p_W of the origin, m
	q     so3.Quat   // q_WB
	v     so3.Vec3   // v_W of the origin, m/s
	w     so3.Vec3   // ω_B, rad/s
	rotor [4]float64 // Ω, rad/s
	load  hung       // on a cable
}

// slope is the time derivative of a body, its attitude's as body rates.
type slope struct {
	v, w, a, alpha so3.Vec3
	rotor          [4]float64
	load           hung // velocity and acceleration of the load
}

// motion is a body and all that acts on it during a step.
type motion struct {
	body      body
	mass      massProperties
	cable     cable
	rotors    rotors
	drag      drag
	ground    ground
	wind      so3.Vec3   // w_W, acceleration, m/s²
	air       so3.Vec3   // velocity of the air in the world, m/s
	target    [4]float64 // speeds that the motors are driven to, rad/s
	vibration so3.Vec3   // force of the unbalanced rotor in the body, its mean over the step, N
	voltage   float64    // V
}

// step integrates h seconds with the classic Runge–Kutta method of order 4; attitude in coordinates θ about its start,
// q = q₀·Exp(θ) with θ̇ = Jr⁻¹(θ)·ω (Munthe-Kaas).
func (m *motion) step(h float64) {
	b := m.body
	k1 := m.slope(&b)
	k1.w = b.w
	s2, _ := b.along(&k1, h/2)
	k2 := m.slope(&s2)
	k2.w = fromRates(k1.w.Scale(h/2), s2.w)
	s3, theta3 := b.along(&k2, h/2)
	k3 := m.slope(&s3)
	k3.w = fromRates(theta3, s3.w)
	s4, theta4 := b.along(&k3, h)
	k4 := m.slope(&s4)
	k4.w = fromRates(theta4, s4.w)
	mean := slope{
		v:     simpson(k1.v, k2.v, k3.v, k4.v),
		w:     simpson(k1.w, k2.w, k3.w, k4.w),
		a:     simpson(k1.a, k2.a, k3.a, k4.a),
		alpha: simpson(k1.alpha, k2.alpha, k3.alpha, k4.alpha),
	}
	for i := range mean.rotor {
		mean.rotor[i] = (k1.rotor[i] + 2*(k2.rotor[i]+k3.rotor[i]) + k4.rotor[i]) / 6
	}
	if m.cable.mass > 0 {
		mean.load = hung{simpson(k1.load.p, k2.load.p, k3.load.p, k4.load.p),
			simpson(k1.load.v, k2.load.v, k3.load.v, k4.load.v)}
	}
	m.body, _ = b.along(&mean, h)
	m.body.q = m.body.q.Normalize()
}

// along returns the body after h seconds at a constant slope, and the rotation vector that it has turned.
func (b *body) along(k *slope, h float64) (body, so3.Vec3) {
	theta := k.w.Scale(h)
	next := body{
		p: b.p.Add(k.v.Scale(h)),
		q: b.q.Mul(so3.Exp(theta)),
		v: b.v.Add(k.a.Scale(h)),
		w: b.w.Add(k.alpha.Scale(h)),

		load: hung{b.load.p.Add(k.load.p.Scale(h)), b.load.v.Add(k.load.v.Scale(h))},
	}
	for i := range next.rotor {
		next.rotor[i] = b.rotor[i] + h*k.rotor[i]
	}
	return next, theta
}

// fromRates returns θ̇ = Jr⁻¹(θ)·ω up to θ², which is enough for order 4.
func fromRates(theta, w so3.Vec3) so3.Vec3 {
	c := theta.Cross(w)
	return w.Add(c.Scale(.5)).Add(theta.Cross(c).Scale(1. / 12))
}

func simpson(a, b, c, d so3.Vec3) so3.Vec3 {
	return so3.Vec3{
		X: (a.X + 2*(b.X+c.X) + d.X) / 6,
		Y: (a.Y + 2*(b.Y+c.Y) + d.Y) / 6,
		Z: (a.Z + 2*(b.Z+c.Z) + d.Z) / 6,
	}
}

// slope returns the derivative of b but for w, by the equations of Newton and Euler about the centre of mass:
//
//	m·a_c = F + m·(g + w),  I_c·α = τ_c − ω × (I_c·ω + H),  a = a_c − R·(α × r_c + ω × (ω × r_c))
//
// where the forces F and their torque τ_c are those of rotors, drag, ground and cable, and H is the rotors' own spin.
func (m *motion) slope(b *body) slope {
	r := b.q.Mat3()
	back := r.T()
	u := back.MulVec(b.v.Sub(m.air)) // velocity against the air, in the body
	k := slope{v: b.v}
	load := m.rotors.load(m, b, &r, u)
	k.rotor = load.accelerations
	force, torque := load.force.Add(m.drag.force(u)), load.torque
	if m.ground.near(b) {
		push, turn := m.ground.push(b, &r)
		force, torque = force.Add(back.MulVec(push)), torque.Add(turn)
	}
	if m.cable.mass > 0 {
		pull, a := m.cable.pull(b, &r, m.wind)
		inBody := back.MulVec(pull)
		force, torque = force.Add(inBody), torque.Add(m.cable.at.Cross(inBody))
		k.load = hung{b.load.v, a}
	}
	c := m.mass.centre
	torque = torque.Sub(c.Cross(force))
	spin := m.mass.inertia.MulVec(b.w)
	spin.Z += load.spin
	k.alpha = m.mass.inverse.MulVec(torque.Sub(b.w.Cross(spin)))
	lever := k.alpha.Cross(c).Add(b.w.Cross(b.w.Cross(c)))
	k.a = r.MulVec(force.Scale(1 / m.mass.mass).Sub(lever)).Add(m.wind)
	k.a.Z -= gravity
	return k
}
