// Package inertial estimates a state from an IMU and late poses: an error-state Kalman filter on SO(3).
//
// Gyroscope and accelerometer carry the state on at their own rate, and poses correct it at the time that they are of.
// The error is that of Solà (2017), "Quaternion kinematics for the error-state Kalman filter", with the attitude's in
// the body: q_WB is the estimate times Exp(δθ). Biases of both sensors are part of the state, and a delay of the poses
// beyond their stamps (Li and Mourikis 2014). The filter's frame has no jumps (odom of REP-105): where the source of
// poses jumps for good, the frame keeps its place and comes back to the source's slowly.
//
// World W is ENU with z up, body B is FLU; SI units, radians. Times are seconds on one clock, far from an epoch.
package inertial

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// Imu is one sample: means over the time since the one before.
type Imu struct {
	T     float64  // end of that time, s
	Rates so3.Vec3 // ω_B, rad/s
	Force so3.Vec3 // specific force in the body, m/s²; +9.81 along z where the body stands level
}

// Rows of the error state.
const (
	atPosition = 0  // δp_W, m
	atVelocity = 3  // δv_W, m/s
	atTurn     = 6  // δθ_B, rad
	atGyro     = 9  // of the gyroscope's bias, rad/s
	atAccel    = 12 // of the accelerometer's bias, m/s²
	atDelay    = 15 // of the poses' delay, s
	size       = 16
)

// matrix is square in the error state, row-major.
type matrix [size * size]float64

func (m *matrix) general() blas64.General {
	return blas64.General{Rows: size, Cols: size, Stride: size, Data: m[:]}
}

func (m *matrix) row(i int) *[size]float64 { return (*[size]float64)(m[i*size:]) }

// combine adds three rows of m, each by its weight, to a row.
func (m *matrix) combine(to *[size]float64, at int, by *[3]float64) {
	a, b, c := m.row(at), m.row(at+1), m.row(at+2)
	for j := range to {
		to[j] += by[0]*a[j] + by[1]*b[j] + by[2]*c[j]
	}
}

func (m *matrix) transpose() {
	for i := range size {
		for j := range i {
			m[i*size+j], m[j*size+i] = m[j*size+i], m[i*size+j]
		}
	}
}

func (m *matrix) addDiagonal(at, n int, x float64) {
	for i := at; i < at+n; i++ {
		m[i*size+i] += x
	}
}

// symmetric takes the mean of the two halves, which rounding drives apart.
func (m *matrix) symmetric() {
	for i := range size {
		for j := range i {
			x := (m[i*size+j] + m[j*size+i]) / 2
			m[i*size+j], m[j*size+i] = x, x
		}
	}
}

// motion is the state without its uncertainty. P and V are of the IMU.
type motion struct {
	quad.State
	gyroBias  so3.Vec3 // rad/s
	accelBias so3.Vec3 // m/s²
	delay     float64  // of the poses beyond their stamps, s
	rates     so3.Vec3 // ω_B, the newest without its bias, rad/s
	// pushed says that accelBias stands for a push. Its first two numbers are level in the world, as winds are. The
	// third turns with the body, along its z: a load, an empty battery and a worn rotor all take from the thrust.
	pushed bool
}

// leastRise is what a push of 1 along the thrust has of the vertical at least, up or down. Where the body stands on its
// side, no such push explains what acts along the vertical: a drag there would be taken for one without bound.
const leastRise = 0.5

// turnLevel takes the velocity and what of a push is level along, as the frame turns about z.
func (m *motion) turnLevel(turn so3.Quat) {
	m.V = turn.Rotate(m.V)
	if m.pushed {
		m.accelBias = turn.Rotate(m.accelBias)
	}
}

// byBias is what a bias of 1 takes from the acceleration in the world at an attitude.
func (m *motion) byBias(r *so3.Mat3) so3.Mat3 {
	if m.pushed {
		rise := math.Copysign(max(math.Abs(r[2][2]), leastRise), r[2][2])
		return so3.Mat3{{1, 0, r[0][2]}, {0, 1, r[1][2]}, {0, 0, rise}}
	}
	return *r
}

// turning is what an error of the attitude, in the body, takes from the acceleration in the world at attitude r.
func (m *motion) turning(r *so3.Mat3, force so3.Vec3) so3.Mat3 {
	bias := m.accelBias
	if m.pushed {
		bias.X, bias.Y = 0, 0
	}
	turning := r.Mul(so3.Hat(force.Sub(bias)))
	if m.pushed && math.Abs(r[2][2]) < leastRise { // the push keeps its vertical part
		turning[2] = r.Mul(so3.Hat(force))[2]
	}
	return turning
}

// step carries the motion on for dt seconds under one sample, attitude half-way.
func (m *motion) step(s *Imu, dt float64) {
	m.rates = s.Rates.Sub(m.gyroBias)
	halfway := m.Q.Mul(so3.Exp(m.rates.Scale(dt / 2)))
	r := halfway.Mat3()
	lost := m.byBias(&r).MulVec(m.accelBias)
	dv := halfway.Rotate(s.Force).Sub(lost).Sub(so3.Vec3{Z: quad.Gravity}).Scale(dt)
	m.P = m.P.Add(m.V.Scale(dt)).Add(dv.Scale(dt / 2))
	m.V = m.V.Add(dv)
	m.Q = m.Q.Mul(so3.Exp(m.rates.Scale(dt))).Normalize()
}

// transition is F = ∂(error after step)/∂(error before) by its blocks: most of F is zero. What a step adds to the
// position is half of what it adds to the velocity, for its length.
type transition struct {
	dt                      float64
	byTurn, byGyro, byAccel so3.Mat3 // of the velocity
	turned, turnByGyro      so3.Mat3 // of the attitude
}

// jacobian is that of a step at the motion before it.
func (m *motion) jacobian(s *Imu, dt float64) (f transition) {
	rates := s.Rates.Sub(m.gyroBias)
	half := so3.Exp(rates.Scale(dt / 2)).Mat3()
	r := m.Q.Mat3().Mul(half)
	turning := m.turning(&r, s.Force)
	f.dt = dt
	f.byTurn = scaled(-dt, turning.Mul(half.T()))
	f.byGyro = scaled(dt*dt/2, turning.Mul(rightJacobian(rates.Scale(dt/2))))
	f.byAccel = scaled(-dt, m.byBias(&r))
	f.turned = so3.Exp(rates.Scale(-dt)).Mat3()
	f.turnByGyro = scaled(-dt, rightJacobian(rates.Scale(dt)))
	return f
}

func scaled(by float64, m so3.Mat3) so3.Mat3 {
	for i := range m {
		for j := range m[i] {
			m[i][j] *= by
		}
	}
	return m
}

// apply has m be F·m.
func (f *transition) apply(m *matrix) {
	var added [3][size]float64 // to the velocity
	for i := range added {
		m.combine(&added[i], atTurn, &f.byTurn[i])
		m.combine(&added[i], atGyro, &f.byGyro[i])
		m.combine(&added[i], atAccel, &f.byAccel[i])
		p, v := m.row(atPosition+i), m.row(atVelocity+i)
		for j, x := range added[i] {
			p[j] += f.dt * (v[j] + x/2)
			v[j] += x
		}
	}
	var turn [3][size]float64
	for i := range turn {
		m.combine(&turn[i], atTurn, &f.turned[i])
		m.combine(&turn[i], atGyro, &f.turnByGyro[i])
	}
	for i := range turn {
		*m.row(atTurn + i) = turn[i]
	}
}

// carry has a covariance p be F·p·Fᵀ.
func (f *transition) carry(p *matrix) {
	f.apply(p)
	p.transpose() // p·Fᵀ
	f.apply(p)
	p.symmetric()
}

// add moves the motion by an error: x ⊞ δ.
func (m *motion) add(d *[size]float64) {
	v := func(at int) so3.Vec3 { return so3.Vec3{X: d[at], Y: d[at+1], Z: d[at+2]} }
	m.P, m.V = m.P.Add(v(atPosition)), m.V.Add(v(atVelocity))
	m.Q = m.Q.Mul(so3.Exp(v(atTurn))).Normalize()
	m.gyroBias, m.accelBias = m.gyroBias.Add(v(atGyro)), m.accelBias.Add(v(atAccel))
	m.rates = m.rates.Sub(v(atGyro))
	m.delay += d[atDelay]
}

// rightJacobian is Jr(θ): Exp(θ+δ) is Exp(θ)·Exp(Jr(θ)·δ) up to δ².
func rightJacobian(theta so3.Vec3) so3.Mat3 {
	n := theta.Norm()
	a, b := 0.5-n*n/24, 1.0/6-n*n/120
	if n > 1e-3 {
		a, b = (1-math.Cos(n))/(n*n), (n-math.Sin(n))/(n*n*n)
	}
	hat := so3.Hat(theta)
	square := hat.Mul(hat)
	var j so3.Mat3
	for i := range 3 {
		j[i][i] = 1
		for k := range 3 {
			j[i][k] += b*square[i][k] - a*hat[i][k]
		}
	}
	return j
}

// belief is a motion at a time, and the covariance of its error.
type belief struct {
	t float64
	motion
	cov matrix
}

// step carries belief and covariance on for dt seconds under one sample, and returns how.
func (b *belief) step(s *Imu, dt float64, n *Noise) transition {
	f := b.jacobian(s, dt)
	f.carry(&b.cov)
	b.cov.addDiagonal(atPosition, 3, n.Drift*n.Drift*dt)
	b.cov.addDiagonal(atVelocity, 3, n.Accel*n.Accel*dt)
	b.cov.addDiagonal(atTurn, 3, n.Gyro*n.Gyro*dt)
	b.cov.addDiagonal(atGyro, 3, n.GyroWalk*n.GyroWalk*dt)
	b.cov.addDiagonal(atAccel, 3, n.AccelWalk*n.AccelWalk*dt)
	b.motion.step(s, dt)
	b.t += dt
	return f
}

// pushedAnew has the push be uncertain by so many m/s² more, and the velocity by what it gained of that in so
// many s.
func (b *belief) pushedAnew(by, since float64) {
	attitude := b.Q.Mat3()
	r := b.byBias(&attitude)
	gained := scaled(by*by*since*since, r.Mul(r.T()))
	b.cov.addDiagonal(atAccel, 3, by*by)
	for i := range 3 {
		for j := range 3 {
			b.cov[(atVelocity+i)*size+atVelocity+j] += gained[i][j]
			x := -by * by * since * r[i][j]
			b.cov[(atVelocity+i)*size+atAccel+j] += x
			b.cov[(atAccel+j)*size+atVelocity+i] += x
		}
	}
}
