package so3

import "math"

// seriesBelow is the θ² under which the Jacobian coefficients use their Taylor
// series: four terms then leave less than 1e-15, and above it the closed forms
// lose no more than that to cancellation once multiplied by θ².
const seriesBelow = 1e-2

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

// Jr returns the right Jacobian: Exp(φ+δ) ≈ Exp(φ)·Exp(Jr(φ)·δ) for small δ.
func Jr(phi Vec3) Mat3 {
	a, b := jacobianCoefficients(phi)
	return polynomialOfHat(phi, -a, b)
}

// Jl returns the left Jacobian: Exp(φ+δ) ≈ Exp(Jl(φ)·δ)·Exp(φ) for small δ.
func Jl(phi Vec3) Mat3 {
	a, b := jacobianCoefficients(phi)
	return polynomialOfHat(phi, a, b)
}

// JrInv returns Jr(φ)⁻¹: Log(Exp(φ)·Exp(δ)) ≈ φ + Jr(φ)⁻¹·δ. Singular at |φ| = 2π.
func JrInv(phi Vec3) Mat3 { return polynomialOfHat(phi, 0.5, inverseCoefficient(phi)) }

// JlInv returns Jl(φ)⁻¹: Log(Exp(δ)·Exp(φ)) ≈ φ + Jl(φ)⁻¹·δ. Singular at |φ| = 2π.
func JlInv(phi Vec3) Mat3 { return polynomialOfHat(phi, -0.5, inverseCoefficient(phi)) }

// jacobianCoefficients returns (1−cos θ)/θ² and (θ−sin θ)/θ³, eqs. 143 and 145.
func jacobianCoefficients(phi Vec3) (a, b float64) {
	t2 := phi.Dot(phi)
	if t2 < seriesBelow {
		a = 1./2 - t2*(1./24-t2*(1./720-t2/40320))
		b = 1./6 - t2*(1./120-t2*(1./5040-t2/362880))
		return a, b
	}
	theta := math.Sqrt(t2)
	sin, cos := math.Sincos(theta)
	return (1 - cos) / t2, (theta - sin) / (t2 * theta)
}

// inverseCoefficient returns (1 − (θ/2)·cot(θ/2))/θ², equal to the form of
// eqs. 144 and 146 but regular at θ = π, where sin θ vanishes.
func inverseCoefficient(phi Vec3) float64 {
	t2 := phi.Dot(phi)
	if t2 < seriesBelow {
		return 1./12 + t2*(1./720+t2*(1./30240+t2/1209600))
	}
	half := math.Sqrt(t2) / 2
	sin, cos := math.Sincos(half)
	return (1 - half*cos/sin) / t2
}

// polynomialOfHat returns I + a·[φ]× + b·[φ]×², the shape of all four Jacobians.
func polynomialOfHat(phi Vec3, a, b float64) Mat3 {
	x, y, z := phi.X, phi.Y, phi.Z
	xy, xz, yz := b*x*y, b*x*z, b*y*z
	return Mat3{
		{1 - b*(y*y+z*z), xy - a*z, xz + a*y},
		{xy + a*z, 1 - b*(x*x+z*z), yz - a*x},
		{xz - a*y, yz + a*x, 1 - b*(x*x+y*y)},
	}
}
