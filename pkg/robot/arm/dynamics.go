package arm

import (
	"math"

	"vnd/pkg/core/so3"
)

// gravity is the acceleration of what falls, m/s².
var gravity = so3.Vec3{Z: -9.81}

// stick is the rate below which friction of Coulomb fades, rad/s.
const stick = 0.1

// Coulomb is the share of its friction that a joint has at a rate v, rad/s.
func Coulomb(v float64) float64 { return math.Tanh(v / stick) }

// Dynamics is the rigid-body dynamics of a chain, M(q) v̇ + b(q, v) = τ. All vectors are in the world, so that a joint
// turns all that is behind it as one body. It is for one goroutine.
type Dynamics struct {
	Pose
	chain   *Chain
	body    []inertia // of a link with what it carries
	weight  []inertia // of it, what gravity pulls and nothing compensates
	mass    []float64 // M, later its Cholesky factor, row-major
	v, a, u []spatial // of each link: velocity, acceleration, and velocity under rates λ
	force   []spatial
}

// NewDynamics makes space for a chain's dynamics.
func NewDynamics(c *Chain) *Dynamics {
	n := len(c.Links)
	six := func() []spatial { return make([]spatial, n) }
	return &Dynamics{Pose: c.NewPose(), chain: c, body: make([]inertia, n), weight: make([]inertia, n),
		mass: make([]float64, n*n), v: six(), a: six(), u: six(), force: six()}
}

// Place brings the chain to angles q. All that follows is of there.
func (d *Dynamics) Place(q []float64) {
	c := d.chain
	c.Place(q, &d.Pose)
	for i := range c.Links {
		d.body[i], d.weight[i] = c.Links[i].Body.in(&d.turn[i], d.at[i]), inertia{}
		if !c.Compensated {
			d.weight[i] = d.body[i]
		}
	}
	if last := len(c.Links) - 1; c.Payload.Mass > 0 {
		p := c.Payload.in(&d.turn[last], d.at[last])
		d.body[last].add(&p)
		d.weight[last].add(&p)
	}
}

// Mass writes M[n][n] by composite rigid bodies, the drives' inertia included.
func (d *Dynamics) Mass(m []float64) {
	n := len(d.axis)
	var all inertia
	for i := n - 1; i >= 0; i-- {
		all.add(&d.body[i])
		f := all.times(d.axis[i])
		for j := range i + 1 {
			m[n*i+j] = f.dot(d.axis[j])
			m[n*j+i] = m[n*i+j]
		}
		m[n*i+i] += d.chain.Links[i].Armature
	}
}

// pull is the wrench of gravity on a link.
func (d *Dynamics) pull(i int) spatial {
	w := &d.weight[i]
	return spatial{w.moment.Cross(gravity), gravity.Scale(w.mass)}
}

// Torques writes tau[n] of rates v and accelerations a, by the recursion of Newton and Euler.
func (d *Dynamics) Torques(v, a, tau []float64) {
	var v0, a0, f spatial
	for i, s := range d.axis {
		a0 = a0.add(s.scale(a[i])).add(v0.cross(s.scale(v[i])))
		v0 = v0.add(s.scale(v[i]))
		b := &d.body[i]
		d.force[i] = b.times(a0).add(v0.crossForce(b.times(v0))).sub(d.pull(i))
	}
	for i := len(d.axis) - 1; i >= 0; i-- {
		f = f.add(d.force[i])
		l := &d.chain.Links[i]
		tau[i] = f.dot(d.axis[i]) + l.Armature*a[i] + l.Damping*v[i] + l.Friction*Coulomb(v[i])
	}
}

// Accelerate writes a[n] under rates v and torques tau, and keeps the factor of M for Solve.
func (d *Dynamics) Accelerate(v, tau, a []float64) {
	clear(a)
	d.Torques(v, a, a)
	for i := range a {
		a[i] = tau[i] - a[i]
	}
	d.Mass(d.mass)
	factor(d.mass, len(a))
	d.Solve(a)
}

// Solve replaces x by M⁻¹x, with the M of the last Accelerate.
func (d *Dynamics) Solve(x []float64) { solve(d.mass, x) }

// solve replaces x[n] by the solution of a system whose factor is l[n][n].
func solve(l, x []float64) {
	n := len(x)
	for i := range n {
		for j := range i {
			x[i] -= l[n*i+j] * x[j]
		}
		x[i] /= l[n*i+i]
	}
	for i := n - 1; i >= 0; i-- {
		for j := i + 1; j < n; j++ {
			x[i] -= l[n*j+i] * x[j]
		}
		x[i] /= l[n*i+i]
	}
}

// factor replaces the lower half of a positive definite m[n][n] by its factor of Cholesky.
func factor(m []float64, n int) {
	for i := range n {
		for j := range i + 1 {
			x := m[n*i+j]
			for k := range j {
				x -= m[n*i+k] * m[n*j+k]
			}
			if i == j {
				m[n*i+i] = math.Sqrt(x)
			} else {
				m[n*i+j] = x / m[n*j+j]
			}
		}
	}
}

// TorquesVJP adds to dq[n] and dv[n] the gradient of λᵀ Torques(v, a), where λ are the gradients of the torques.
//
// As λᵀτ is the power of all forces under the rates λ, it is a sum over links, of ⟨u, I a⟩ + ⟨u × v, I v⟩ less the
// power of gravity. A turn of joint i moves the links behind it, or, which is the same, v, a, u and gravity before it
// the other way.
func (d *Dynamics) TorquesVJP(v, a, lambda, dq, dv []float64) {
	var v0, a0, u0 spatial
	for i, s := range d.axis {
		a0 = a0.add(s.scale(a[i])).add(v0.cross(s.scale(v[i])))
		v0, u0 = v0.add(s.scale(v[i])), u0.add(s.scale(lambda[i]))
		d.v[i], d.a[i], d.u[i] = v0, a0, u0
	}
	var gv, ga, gu spatial // gradients at the link's v, a and u, from it and all behind it
	var gg so3.Vec3        // and at gravity
	for i := len(d.axis) - 1; i >= 0; i-- {
		b, w, s, u, link := &d.body[i], &d.weight[i], d.axis[i], d.u[i], &d.chain.Links[i]
		momentum := b.times(d.v[i])
		gv = gv.add(b.times(u.cross(d.v[i]))).sub(u.crossForce(momentum))
		ga = ga.add(b.times(u))
		gu = gu.add(b.times(d.a[i])).add(d.v[i].crossForce(momentum)).sub(d.pull(i))
		gg = gg.Sub(w.times(u).lin)
		v0, a0, u0 = spatial{}, spatial{}, spatial{}
		if i > 0 {
			v0, a0, u0 = d.v[i-1], d.a[i-1], d.u[i-1]
		}
		t := Coulomb(v[i])
		sv := s.cross(v0)
		dv[i] += gv.dot(s) - ga.dot(sv) + lambda[i]*(link.Damping+link.Friction*(1-t*t)/stick)
		dq[i] -= gv.dot(sv) + ga.dot(s.cross(a0)) + ga.dot(sv.cross(s))*v[i] + gu.dot(s.cross(u0)) +
			gg.Dot(s.ang.Cross(gravity))
		gv = gv.add(s.scale(v[i]).crossForce(ga))
	}
}
