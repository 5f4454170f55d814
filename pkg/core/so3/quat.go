package so3

import "math"

// Identity returns the rotation that changes nothing. The zero Quat is not a rotation.
func Identity() Quat { return Quat{W: 1} }

// Mul returns the Hamilton product q·p: rotate by p first, then by q.
// In monogram notation q_AC = q_AB.Mul(q_BC).
func (q Quat) Mul(p Quat) Quat {
	return Quat{
		W: q.W*p.W - q.X*p.X - q.Y*p.Y - q.Z*p.Z,
		X: q.W*p.X + q.X*p.W + q.Y*p.Z - q.Z*p.Y,
		Y: q.W*p.Y - q.X*p.Z + q.Y*p.W + q.Z*p.X,
		Z: q.W*p.Z + q.X*p.Y - q.Y*p.X + q.Z*p.W,
	}
}

// Conj returns the conjugate, which for a unit quaternion is the inverse.
func (q Quat) Conj() Quat { return Quat{q.W, -q.X, -q.Y, -q.Z} }

// Norm returns |q|; 1 for a rotation.
func (q Quat) Norm() float64 {
	return math.Sqrt(q.W*q.W + q.X*q.X + q.Y*q.Y + q.Z*q.Z)
}

// Normalize returns q/|q|. The zero quaternion has no direction and gives NaN:
// whoever reads quaternions from outside checks Norm first.
func (q Quat) Normalize() Quat {
	s := 1 / q.Norm()
	return Quat{s * q.W, s * q.X, s * q.Y, s * q.Z}
}

// Rotate returns R(q)·v: with q_WB it takes v_B to v_W.
func (q Quat) Rotate(v Vec3) Vec3 {
	u := Vec3{q.X, q.Y, q.Z}
	t := u.Cross(v).Scale(2)
	return v.Add(t.Scale(q.W)).Add(u.Cross(t))
}

// ZAxis returns R(q)·e_z: with q_WB it is the thrust direction in the world.
func (q Quat) ZAxis() Vec3 {
	return Vec3{
		2 * (q.X*q.Z + q.W*q.Y),
		2 * (q.Y*q.Z - q.W*q.X),
		1 - 2*(q.X*q.X+q.Y*q.Y),
	}
}

// Mat3 returns the rotation matrix R(q).
func (q Quat) Mat3() Mat3 {
	xx, yy, zz := q.X*q.X, q.Y*q.Y, q.Z*q.Z
	xy, xz, yz := q.X*q.Y, q.X*q.Z, q.Y*q.Z
	wx, wy, wz := q.W*q.X, q.W*q.Y, q.W*q.Z
	return Mat3{
		{1 - 2*(yy+zz), 2 * (xy - wz), 2 * (xz + wy)},
		{2 * (xy + wz), 1 - 2*(xx+zz), 2 * (yz - wx)},
		{2 * (xz - wy), 2 * (yz + wx), 1 - 2*(xx+yy)},
	}
}

// FromMat3 returns the unit quaternion of the rotation matrix m. It divides by
// the largest component (Shepperd's method), so no rotation is badly conditioned;
// of ±q it returns the one whose largest component is positive.
func FromMat3(m Mat3) Quat {
	trace := m[0][0] + m[1][1] + m[2][2]
	var q Quat
	switch {
	case trace >= m[0][0] && trace >= m[1][1] && trace >= m[2][2]:
		q = Quat{1 + trace, m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1]}
	case m[0][0] >= m[1][1] && m[0][0] >= m[2][2]:
		q = Quat{m[2][1] - m[1][2], 1 + 2*m[0][0] - trace, m[0][1] + m[1][0], m[0][2] + m[2][0]}
	case m[1][1] >= m[2][2]:
		q = Quat{m[0][2] - m[2][0], m[0][1] + m[1][0], 1 + 2*m[1][1] - trace, m[1][2] + m[2][1]}
	default:
		q = Quat{m[1][0] - m[0][1], m[0][2] + m[2][0], m[1][2] + m[2][1], 1 + 2*m[2][2] - trace}
	}
	return q.Normalize()
}

// FromEuler returns the rotation Rz(yaw)·Ry(pitch)·Rx(roll) (ZYX, intrinsic); radians.
func FromEuler(roll, pitch, yaw float64) Quat {
	sr, cr := math.Sincos(roll / 2)
	sp, cp := math.Sincos(pitch / 2)
	sy, cy := math.Sincos(yaw / 2)
	return Quat{
		W: cr*cp*cy + sr*sp*sy,
		X: sr*cp*cy - cr*sp*sy,
		Y: cr*sp*cy + sr*cp*sy,
		Z: cr*cp*sy - sr*sp*cy,
	}
}

// gimbalCos is the cosine of pitch below which roll and yaw cannot be told apart:
// at 1e-7 rounding alone turns them by about 1e-9 rad.
const gimbalCos = 1e-7

// Euler returns the ZYX angles: roll and yaw in [−π, π], pitch in [−π/2, π/2].
// At pitch ±π/2 only their sum or difference exists; there roll is 0 and yaw has it all.
func (q Quat) Euler() (roll, pitch, yaw float64) {
	m := q.Mat3()
	cp := math.Hypot(m[0][0], m[1][0])
	pitch = math.Atan2(-m[2][0], cp)
	if cp < gimbalCos {
		return 0, pitch, math.Atan2(-m[0][1], m[1][1])
	}
	return math.Atan2(m[2][1], m[2][2]), pitch, math.Atan2(m[1][0], m[0][0])
}

// Tilt returns the angle of the body's z axis from the vertical, 0 to π rad; NaN where q is not finite.
func (q Quat) Tilt() float64 { return math.Acos(min(max(q.ZAxis().Z, -1), 1)) }

// Yaw returns the heading of the body x axis about world z, the third of Euler; radians.
func (q Quat) Yaw() float64 {
	_, _, yaw := q.Euler()
	return yaw
}
