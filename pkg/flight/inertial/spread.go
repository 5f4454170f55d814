package inertial

import (
	"math"

	"vnd/pkg/core/so3"
)

// block is the covariance between three of the errors and three others.
func (m *matrix) block(row, column int) (b so3.Mat3) {
	for i := range 3 {
		for j := range 3 {
			b[i][j] = m[(row+i)*size+column+j]
		}
	}
	return b
}

// VelocityDeviation is the standard deviation of the present velocity along its worst axis, m/s.
func (e *Estimator) VelocityDeviation() float64 {
	c := e.present.cov.block(atVelocity, atVelocity)
	return math.Sqrt(max(c[0][0], c[1][1], c[2][2]))
}

// Covariance fills those of the estimate as messages have them, row-major: of position and then turn about the world's
// axes, and of velocity and then rates in the body. What a mount's lever adds is left out.
func (e *Estimator) Covariance(pose, twist *[36]float64) {
	b := &e.present
	r := b.Q.Mat3()
	back := r.T()
	clear(pose[:])
	clear(twist[:])
	p, pt, t := b.cov.block(atPosition, atPosition), b.cov.block(atPosition, atTurn), b.cov.block(atTurn, atTurn)
	turn, across := r.Mul(t).Mul(back), pt.Mul(back)
	crossed := across.T()
	for i, x := range [3]float64{e.rest.X, e.rest.Y, e.rest.Z} {
		p[i][i] += x * x
	}
	put6(pose, 0, 0, &p)
	put6(pose, 0, 3, &across)
	put6(pose, 3, 0, &crossed)
	put6(pose, 3, 3, &turn)
	// v_B = Rᵀ·v_W: δv_B = Rᵀ·δv_W + [v_B]×·δθ
	v, vt := b.cov.block(atVelocity, atVelocity), b.cov.block(atVelocity, atTurn)
	hat := so3.Hat(back.MulVec(b.V))
	linear := back.Mul(v).Mul(r)
	mixed := back.Mul(vt).Mul(hat.T())
	turned := hat.Mul(t).Mul(hat.T())
	for i := range 3 {
		for j := range 3 {
			linear[i][j] += mixed[i][j] + mixed[j][i] + turned[i][j]
		}
	}
	put6(twist, 0, 0, &linear)
	const bandwidth = 50 // Hz, of what the rates are used for
	n := e.params.Noise.Gyro * e.params.Noise.Gyro * bandwidth
	g := b.cov.block(atGyro, atGyro)
	for i := range 3 {
		g[i][i] += n
	}
	put6(twist, 3, 3, &g)
}

func put6(m *[36]float64, row, column int, b *so3.Mat3) {
	for i := range 3 {
		for j := range 3 {
			m[(row+i)*6+column+j] = b[i][j]
		}
	}
}
