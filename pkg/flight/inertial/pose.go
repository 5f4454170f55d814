package inertial

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// Pose is a measured one.
type Pose struct {
	T float64  // stamp, s
	P so3.Vec3 // p_W of the body's origin, m
	Q so3.Quat // q_WB, norm 1 ± 0.01
	Spread
}

// Spread is what a pose may err by: standard deviations along and about the world's axes. Zero is not known: the
// parameters' count.
type Spread struct {
	Position so3.Vec3 // m
	Attitude so3.Vec3 // rad
}

const poseSize = 6 // position, then attitude in the body

// poseWork is the memory of a correction.
type poseWork struct {
	r  [poseSize]float64            // innovation
	y  [poseSize]float64            // it, by the factor of its covariance
	h  [poseSize * size]float64     // ∂r/∂(error), without its sign
	ph [size * poseSize]float64     // P·Hᵀ, then W
	s  [poseSize * poseSize]float64 // its covariance, S, then the factor of that
}

func general(rows, cols int, data []float64) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: data}
}

// expected is the pose of the body at a motion of the IMU, which is mounted at a place in the body.
func (m *motion) expected(mount so3.Vec3) (p so3.Vec3, q so3.Quat) {
	return m.P.Sub(m.Q.Rotate(mount)), m.Q
}

// innovate fills r, y, H, P·Hᵀ and the factor of S for a pose, and returns its Mahalanobis distance, squared: NaN where
// S is none.
func (b *belief) innovate(z *Pose, mount so3.Vec3, w *poseWork) float64 {
	p, q := b.expected(mount)
	dp, turn := z.P.Sub(p), so3.Log(q.Conj().Mul(z.Q))
	w.r = [poseSize]float64{dp.X, dp.Y, dp.Z, turn.X, turn.Y, turn.Z}
	b.measure(mount, &w.h)
	b.noise(&z.Spread, &w.s)
	ph, h, s := general(size, poseSize, w.ph[:]), general(poseSize, size, w.h[:]), general(poseSize, poseSize, w.s[:])
	blas64.Gemm(blas.NoTrans, blas.Trans, 1, b.cov.general(), h, 0, ph)
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, h, ph, 1, s)
	lower, ok := lapack64.Potrf(blas64.Symmetric{Uplo: blas.Lower, N: poseSize, Stride: poseSize, Data: w.s[:]})
	if !ok {
		return math.NaN()
	}
	w.y = w.r
	blas64.Trsv(blas.NoTrans, lower, blas64.Vector{N: poseSize, Inc: 1, Data: w.y[:]})
	sum := 0.0
	for _, x := range w.y {
		sum += x * x
	}
	return sum
}

// measure fills h with ∂(pose)/∂(error); a pose that is later than believed was of where the robot was before.
func (m *motion) measure(mount so3.Vec3, h *[poseSize * size]float64) {
	clear(h[:])
	r := m.Q.Mat3()
	lever := r.Mul(so3.Hat(mount))
	v := m.V.Sub(m.Q.Rotate(m.rates.Cross(mount)))
	for i, late := range [poseSize]float64{-v.X, -v.Y, -v.Z, -m.rates.X, -m.rates.Y, -m.rates.Z} {
		h[i*size+atDelay] = late
	}
	for i := range 3 {
		h[i*size+atPosition+i] = 1
		h[(3+i)*size+atTurn+i] = 1
		for j := range 3 {
			h[i*size+atTurn+j] = lever[i][j]
		}
	}
}

// noise fills R: that of the attitude is given about the world's axes and wanted about the body's.
func (m *motion) noise(s *Spread, out *[poseSize * poseSize]float64) {
	clear(out[:])
	r := m.Q.Mat3()
	p := [3]float64{s.Position.X, s.Position.Y, s.Position.Z}
	a := [3]float64{s.Attitude.X, s.Attitude.Y, s.Attitude.Z}
	for i := range 3 {
		out[i*poseSize+i] = p[i] * p[i]
		for j := range 3 {
			for k := range 3 {
				out[(3+i)*poseSize+3+j] += r[k][i] * a[k] * a[k] * r[k][j]
			}
		}
	}
}

// correct moves the belief by what innovate found: P − W·Wᵀ, where W·Wᵀ is P·Hᵀ·S⁻¹·H·P. While the velocity is hardly
// known it says nothing of the delay, whose own gain is then 0 (Schmidt 1966).
func (b *belief) correct(w *poseWork, moving bool) {
	lower := blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: poseSize, Stride: poseSize, Data: w.s[:]}
	blas64.Trsm(blas.Right, blas.Trans, 1, lower, general(size, poseSize, w.ph[:]))
	unmoved := b.cov[atDelay*(size+1)]
	var d [size]float64
	for i := range size {
		mine := (*[poseSize]float64)(w.ph[i*poseSize:])
		d[i] = dot(mine, &w.y)
		for j := range i + 1 {
			x := b.cov[i*size+j] - dot(mine, (*[poseSize]float64)(w.ph[j*poseSize:]))
			b.cov[i*size+j], b.cov[j*size+i] = x, x
		}
	}
	if !moving {
		d[atDelay], b.cov[atDelay*(size+1)] = 0, unmoved
	}
	b.motion.add(&d)
}

func dot(a, b *[poseSize]float64) float64 {
	return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] + a[3]*b[3] + a[4]*b[4] + a[5]*b[5]
}

// valid reports whether z is a pose at all.
func (z *Pose) valid() bool {
	return z.T*0 == 0 && z.P.Finite() && z.P.Norm() < maxDistance && math.Abs(z.Q.Norm()-1) <= quad.NormSlack
}

// maxDistance is beyond any arena, m: such a position is a mistake of units.
const maxDistance = 1e6
