package so3

import "math"

// Exp returns the rotation by |φ| radians about φ (a rotation vector).
func Exp(phi Vec3) Quat {
	theta := phi.Norm()
	sin, cos := math.Sincos(theta / 2)
	k := 0.5 // sin(θ/2)/θ → 1/2
	if theta > 1e-8 {
		k = sin / theta
	}
	return Quat{cos, k * phi.X, k * phi.Y, k * phi.Z}
}

// Log returns the rotation vector of q, |Log(q)| ≤ π: of ±q, which are the same
// rotation, the short way. Exp(Log(q)) is q or −q. The scale of q does not matter.
func Log(q Quat) Vec3 {
	if q.W < 0 {
		q = Quat{-q.W, -q.X, -q.Y, -q.Z}
	}
	v := Vec3{q.X, q.Y, q.Z}
	n := v.Norm()
	if n <= 1e-8*q.W {
		return v.Scale(2 / q.W)
	}
	return v.Scale(2 * math.Atan2(n, q.W) / n)
}

// Slerp returns the rotation a share u of the short way from q to p: q at 0, ±p at 1.
func (q Quat) Slerp(p Quat, u float64) Quat {
	return q.Mul(Exp(Log(q.Conj().Mul(p)).Scale(u))).Normalize()
}
