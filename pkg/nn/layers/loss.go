package layers

import "vnd/pkg/nn/kernel"

// Huber is scale·Σ w_b·ℓ(y - target) over y, target [B×O] with the Huber
// function ℓ(e) = ½e² for |e| < δ and δ(|e| - ½δ) beyond. weight [B] may be nil
// for ones. It writes the gradient to dy.
func Huber[F kernel.Float](rows, n int, y, target, weight []F, delta, scale float64, dy []F) float64 {
	d, sum := F(delta), 0.0
	for b := range rows {
		w := rowWeight(weight, b) * F(scale)
		for i := b * n; i < (b+1)*n; i++ {
			e := y[i] - target[i]
			switch {
			case e > d:
				sum += float64(w) * delta * (float64(e) - delta/2)
				dy[i] = w * d
			case e < -d:
				sum += float64(w) * delta * (-float64(e) - delta/2)
				dy[i] = -w * d
			default: // a NaN passes
				sum += float64(w) * float64(e) * float64(e) / 2
				dy[i] = w * e
			}
		}
	}
	return sum
}

// SquaredError is scale·Σ w_b·(y - target)² over y, target [B×O]. weight [B] may
// be nil for ones. It writes the gradient to dy.
func SquaredError[F kernel.Float](rows, n int, y, target, weight []F, scale float64, dy []F) float64 {
	sum := 0.0
	for b := range rows {
		w := rowWeight(weight, b) * F(scale)
		for i := b * n; i < (b+1)*n; i++ {
			e := y[i] - target[i]
			sum += float64(w) * float64(e) * float64(e)
			dy[i] = 2 * w * e
		}
	}
	return sum
}

func rowWeight[F kernel.Float](weight []F, b int) F {
	if weight == nil {
		return 1
	}
	return weight[b]
}

// mmdTile is the number of rows of the kernel matrix held at a time: 64 rows of
// 2048 points are half a MiB.
const mmdTile = 64

// MMD computes the biased squared maximum mean discrepancy between encoded and
// sampled latents under the Gaussian kernel k(x,y) = exp(-|x-y|²/2σ²):
//
//	1/N² Σ k(z_i,z_j) + 1/N² Σ k(s_i,s_j) - 2/N² Σ k(z_i,s_j)
//
// It owns scratch for one caller at a time.
type MMD[F kernel.Float] struct {
	dim    int
	gram   []F // [mmdTile × maxN] k(x_i,y_j)
	sums   []F // [mmdTile] its row sums
	pulled []F // [mmdTile × dim] Σ_j k_ij·y_j
	z2, s2 []F // [maxN] squared norms
}

// NewMMD makes scratch for up to maxN points of dim numbers.
func NewMMD[F kernel.Float](maxN, dim int) *MMD[F] {
	return &MMD[F]{
		dim: dim, gram: make([]F, mmdTile*maxN), sums: make([]F, mmdTile), pulled: make([]F, mmdTile*dim),
		z2: make([]F, maxN), s2: make([]F, maxN),
	}
}

// Rows returns scale times the part of the loss of rows lo ≤ i < hi of the
// double sums over N points z, samples [N×Z], and adds scale times the gradient
// of the whole loss to those rows of dz [N×Z]. Parts over disjoint ranges that
// cover 0…N add up to the loss, so workers may share it.
func (m *MMD[F]) Rows(n, lo, hi int, z, samples []F, sigma, scale float64, dz []F) float64 {
	squaredNorms(n, m.dim, z, m.z2)
	squaredNorms(n, m.dim, samples, m.s2)
	c, each := 1/(2*sigma*sigma), scale/(float64(n)*float64(n))
	sum := 0.0
	for i := lo; i < hi; i += mmdTile {
		rows := min(mmdTile, hi-i)
		zi, si, dzi := z[i*m.dim:], samples[i*m.dim:], dz[i*m.dim:]
		sum += m.kernelSum(rows, n, zi, m.z2[i:], z, m.z2, c)
		m.pull(rows, n, zi, z, -4*c*each, dzi)
		sum -= 2 * m.kernelSum(rows, n, zi, m.z2[i:], samples, m.s2, c)
		m.pull(rows, n, zi, samples, 4*c*each, dzi)
		sum += m.kernelSum(rows, n, si, m.s2[i:], samples, m.s2, c)
	}
	return sum * each
}

// kernelSum fills gram [rows×n] with k(x_i,y_j) and sums with its row sums, and
// returns the total.
func (m *MMD[F]) kernelSum(rows, n int, x, x2, y, y2 []F, c float64) float64 {
	kernel.Gemm(false, true, rows, n, m.dim, x, m.dim, y, m.dim, 0, m.gram, n)
	kernel.Rbf(rows, n, m.gram, x2, y2, F(c), m.sums)
	total := 0.0
	for _, s := range m.sums[:rows] {
		total += float64(s)
	}
	return total
}

// pull adds factor·Σ_j k_ij·(x_i - y_j) to dx_i: the gradient of Σ_j k(x_i,y_j)
// is -2c times that sum, and by symmetry twice it where y is x.
func (m *MMD[F]) pull(rows, n int, x, y []F, factor float64, dx []F) {
	f := F(factor)
	kernel.Gemm(false, false, rows, m.dim, n, m.gram, n, y, m.dim, 0, m.pulled, m.dim)
	for i := range rows {
		for d := i * m.dim; d < (i+1)*m.dim; d++ {
			dx[d] += f * (m.sums[i]*x[d] - m.pulled[d])
		}
	}
}

func squaredNorms[F kernel.Float](n, dim int, x, out []F) {
	for i := range n {
		var sum F
		for _, v := range x[i*dim : (i+1)*dim] {
			sum += v * v
		}
		out[i] = sum
	}
}
