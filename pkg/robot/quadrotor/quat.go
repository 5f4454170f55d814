package quadrotor

import (
	"math"

	"vnd/pkg/nn/kernel"
)

// quat is a quaternion in the arithmetic of F; gradients with respect to it live in R⁴. A struct: the compiler keeps it
// in registers, an array it does not.
type quat[F kernel.Float] struct{ w, x, y, z F }

func vec[F kernel.Float](x []F) [3]F { return [3]F{x[0], x[1], x[2]} }

func quatAt[F kernel.Float](s []F) quat[F] { return quat[F]{s[iQ], s[iQ+1], s[iQ+2], s[iQ+3]} }

// addTo adds a quaternion of gradients to the four numbers at d.
func (a quat[F]) addTo(d []F) {
	d = d[:4]
	d[0] += a.w
	d[1] += a.x
	d[2] += a.y
	d[3] += a.z
}

func (a quat[F]) plus(b quat[F]) quat[F] { return quat[F]{a.w + b.w, a.x + b.x, a.y + b.y, a.z + b.z} }

func (a quat[F]) conj() quat[F] { return quat[F]{a.w, -a.x, -a.y, -a.z} }

func (a quat[F]) mul(b quat[F]) quat[F] {
	return quat[F]{
		a.w*b.w - a.x*b.x - a.y*b.y - a.z*b.z,
		a.w*b.x + a.x*b.w + a.y*b.z - a.z*b.y,
		a.w*b.y - a.x*b.z + a.y*b.w + a.z*b.x,
		a.w*b.z + a.x*b.y - a.y*b.x + a.z*b.w,
	}
}

// mulVJP pulls dc back through c = a ⊗ b: da = dc ⊗ b̄, db = ā ⊗ dc.
func mulVJP[F kernel.Float](a, b, dc quat[F]) (da, db quat[F]) {
	return dc.mul(b.conj()), a.conj().mul(dc)
}

// zAxis is the third column of R(q).
func (a quat[F]) zAxis() [3]F {
	w, x, y, z := a.w, a.x, a.y, a.z
	return [3]F{2 * (x*z + w*y), 2 * (y*z - w*x), 1 - 2*(x*x+y*y)}
}

func (a quat[F]) zAxisVJP(dz [3]F, da *quat[F]) {
	w, x, y, z := a.w, a.x, a.y, a.z
	da.w += 2 * (dz[0]*y - dz[1]*x)
	da.x += 2*(dz[0]*z-dz[1]*w) - 4*dz[2]*x
	da.y += 2*(dz[0]*w+dz[1]*z) - 4*dz[2]*y
	da.z += 2 * (dz[0]*x + dz[1]*y)
}

// rotate takes a vector of the body to the world: R(q) u.
func (a quat[F]) rotate(u [3]F) (v [3]F) {
	var r matrix[F]
	a.matrix(r[:])
	return r.times(u)
}

// matrix is a rotation, row-major.
type matrix[F kernel.Float] [9]F

func (r *matrix[F]) times(u [3]F) [3]F {
	return [3]F{r[0]*u[0] + r[1]*u[1] + r[2]*u[2], r[3]*u[0] + r[4]*u[1] + r[5]*u[2], r[6]*u[0] + r[7]*u[1] + r[8]*u[2]}
}

// back is the product with the transpose: it takes a vector of the world to the body.
func (r *matrix[F]) back(u [3]F) [3]F {
	return [3]F{r[0]*u[0] + r[3]*u[1] + r[6]*u[2], r[1]*u[0] + r[4]*u[1] + r[7]*u[2], r[2]*u[0] + r[5]*u[1] + r[8]*u[2]}
}

// rotateVJP adds the gradient of R(q) u with respect to q.
func (a quat[F]) rotateVJP(u, dv [3]F, da *quat[F]) {
	var dr [9]F
	for i := range 3 {
		for j := range 3 {
			dr[3*i+j] = dv[i] * u[j]
		}
	}
	a.matrixVJP(dr[:], da)
}

// matrix writes R(q), row-major.
func (a quat[F]) matrix(r []F) {
	w, x, y, z := a.w, a.x, a.y, a.z
	r[0], r[1], r[2] = 1-2*(y*y+z*z), 2*(x*y-w*z), 2*(x*z+w*y)
	r[3], r[4], r[5] = 2*(x*y+w*z), 1-2*(x*x+z*z), 2*(y*z-w*x)
	r[6], r[7], r[8] = 2*(x*z-w*y), 2*(y*z+w*x), 1-2*(x*x+y*y)
}

func (a quat[F]) matrixVJP(d []F, da *quat[F]) {
	w, x, y, z := a.w, a.x, a.y, a.z
	da.w += 2 * (z*(d[3]-d[1]) + y*(d[2]-d[6]) + x*(d[7]-d[5]))
	da.x += 2 * (y*(d[1]+d[3]) + z*(d[2]+d[6]) + w*(d[7]-d[5]) - 2*x*(d[4]+d[8]))
	da.y += 2 * (x*(d[1]+d[3]) + z*(d[5]+d[7]) + w*(d[2]-d[6]) - 2*y*(d[0]+d[8]))
	da.z += 2 * (x*(d[2]+d[6]) + y*(d[5]+d[7]) + w*(d[3]-d[1]) - 2*z*(d[0]+d[4]))
}

// half2 returns cos(θ/2), sin(θ/2)/θ and d(sin(θ/2)/θ)/dθ / θ for θ² = t; series below 0.25 rad², where they are exact
// to float64 rounding with these terms.
func half2[F kernel.Float](t F) (c, s, k F) {
	if t < 0.25 {
		// Products with what the compiler divides out: a division takes as long as all of a series' products.
		c = 1 - t*(1./8)*(1-t*(1./48)*(1-t*(1./120)*(1-t*(1./224)*(1-t*(1./360)))))
		s = 0.5 - t*(1./48)*(1-t*(1./80)*(1-t*(1./168)*(1-t*(1./288))))
		k = -1.0/24 + t*(1./960)*(1-t*(1./112)*(1-t*(1./216)*(1-t*(1./352))))
		return c, s, k
	}
	th := math.Sqrt(float64(t))
	sin, cos := math.Sincos(th / 2)
	s = F(sin / th)
	return F(cos), s, F((cos/2 - sin/th) / (th * th))
}

// exp takes a rotation vector to its unit quaternion.
func exp[F kernel.Float](v [3]F) quat[F] {
	c, s, _ := half2(v[0]*v[0] + v[1]*v[1] + v[2]*v[2])
	return quat[F]{c, s * v[0], s * v[1], s * v[2]}
}

func expVJP[F kernel.Float](v [3]F, dq quat[F]) [3]F {
	_, s, k := half2(v[0]*v[0] + v[1]*v[1] + v[2]*v[2])
	// dw/dv = −s/2 v, d(s v)/dv = s I + k v vᵀ
	f := -s/2*dq.w + k*(v[0]*dq.x+v[1]*dq.y+v[2]*dq.z)
	return [3]F{s*dq.x + f*v[0], s*dq.y + f*v[1], s*dq.z + f*v[2]}
}

// logScale returns f with Log(q) = f·(x, y, z) for w ≥ 0, and its derivatives: f depends on n = |(x, y, z)| and w.
func logScale[F kernel.Float](w, n2 F) F {
	if n2 < 1e-12 {
		return 2 / w
	}
	n := math.Sqrt(float64(n2))
	return F(2 * math.Atan2(n, float64(w)) / n)
}

// logQ takes a unit quaternion to its rotation vector, |φ| ≤ π.
func logQ[F kernel.Float](q quat[F]) [3]F {
	if q.w < 0 {
		q = quat[F]{-q.w, -q.x, -q.y, -q.z}
	}
	f := logScale(q.w, q.x*q.x+q.y*q.y+q.z*q.z)
	return [3]F{f * q.x, f * q.y, f * q.z}
}

// logVJP pulls dφ back to R⁴ through φ = 2 atan2(n, w)/n · u with u = (x, y, z), n = |u|.
func logVJP[F kernel.Float](q quat[F], dphi [3]F) quat[F] {
	sign := F(1)
	if q.w < 0 {
		sign = -1
		q = quat[F]{-q.w, -q.x, -q.y, -q.z}
	}
	n2 := q.x*q.x + q.y*q.y + q.z*q.z
	w := q.w
	f := logScale(w, n2)
	ud := q.x*dphi[0] + q.y*dphi[1] + q.z*dphi[2]
	r2 := w*w + n2
	dw := -2 / r2 * ud // df/dw = −2/(w² + n²), times n/n
	var g F            // (df/dn)/n
	if n2 < 1e-6 {
		g = -4 / (3 * w * w * w)
	} else {
		g = (2*w/r2 - f) / n2
	}
	return quat[F]{sign * dw, sign * (f*dphi[0] + g*ud*q.x), sign * (f*dphi[1] + g*ud*q.y),
		sign * (f*dphi[2] + g*ud*q.z)}
}
