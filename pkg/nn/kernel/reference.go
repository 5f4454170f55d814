package kernel

import "math"

// gemmGo walks k outermost of the two inner loops, so that both inner streams
// are contiguous in every case but A·Bᵀ, which is a dot product.
func gemmGo[F Float](transA, transB bool, m, n, k int, a []F, lda int, b []F, ldb int, beta F, c []F, ldc int) {
	ai, ak := lda, 1 // strides of op(A) along its rows and columns
	if transA {
		ai, ak = 1, lda
	}
	for i := range m {
		row := c[i*ldc : i*ldc+n]
		scale(beta, row)
		if k == 0 {
			continue
		}
		if transB {
			for j := range row {
				row[j] += dot(k, a[i*ai:], ak, b[j*ldb:j*ldb+k])
			}
			continue
		}
		for p := range k {
			axpyGo(a[i*ai+p*ak], b[p*ldb:p*ldb+n], row)
		}
	}
}

// scale computes x *= beta; beta = 0 clears x whatever it holds.
func scale[F Float](beta F, x []F) {
	switch beta {
	case 0:
		clear(x)
	case 1:
	default:
		for i := range x {
			x[i] *= beta
		}
	}
}

// dot is the sum of x[0], x[stride], … times y over k elements.
func dot[F Float](k int, x []F, stride int, y []F) F {
	var sum F
	for p := range k {
		sum += x[p*stride] * y[p]
	}
	return sum
}

func columnSumsGo[F Float](rows, n int, x, sum []F) {
	for i := range rows {
		axpyGo(1, x[i*n:i*n+n], sum)
	}
}

// √(2/π) and the cubic factor of the tanh form of GELU.
const (
	geluScale = 0.7978845608028654
	geluCubic = 0.044715
)

// gelu and geluSlope compute in float64: 1 - tanh² cancels where it is small.
func gelu[F Float](v F) F {
	x := float64(v)
	return F(0.5 * x * (1 + math.Tanh(geluScale*(x+geluCubic*x*x*x))))
}

func geluSlope[F Float](v F) F {
	x := float64(v)
	t := math.Tanh(geluScale * (x + geluCubic*x*x*x))
	return F(0.5*(1+t) + 0.5*x*(1-t*t)*geluScale*(1+3*geluCubic*x*x))
}

func sigmoid[F Float](x F) F { return F(1 / (1 + math.Exp(-float64(x)))) }

func gruGatesGo[F Float](rows, n int, gi, bi, gh, bh, h, next []F) {
	for i := range rows {
		gir, ghr := gi[3*i*n:3*(i+1)*n], gh[3*i*n:3*(i+1)*n]
		for j := range n {
			r := sigmoid(gir[j] + bi[j] + ghr[j] + bh[j])
			u := sigmoid(gir[n+j] + bi[n+j] + ghr[n+j] + bh[n+j])
			ghn := ghr[2*n+j] + bh[2*n+j]
			c := F(math.Tanh(float64(gir[2*n+j] + bi[2*n+j] + r*ghn)))
			next[i*n+j] = (1-u)*c + u*h[i*n+j]
			gir[j], gir[n+j], gir[2*n+j], ghr[2*n+j] = r, u, c, ghn
		}
	}
}

func gruGatesBackwardGo[F Float](rows, n int, gi, gh, h, dnext, dh []F) {
	for i := range rows {
		gir, ghr := gi[3*i*n:3*(i+1)*n], gh[3*i*n:3*(i+1)*n]
		for j := range n {
			r, u, c, d := gir[j], gir[n+j], gir[2*n+j], dnext[i*n+j]
			dn := d * (1 - u) * (1 - c*c)
			du := d * (h[i*n+j] - c) * u * (1 - u)
			dr := dn * ghr[2*n+j] * r * (1 - r)
			gir[j], gir[n+j], gir[2*n+j] = dr, du, dn
			ghr[j], ghr[n+j], ghr[2*n+j] = dr, du, dn*r
			dh[i*n+j] = d * u
		}
	}
}

func axpyGo[F Float](a F, x, y []F) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] += a * v
	}
}

func squaredNormGo[F Float](x []F) float64 {
	var sum float64
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return sum
}

func rbfGo[F Float](rows, n int, dot, x2, y2 []F, c F, sums []F) {
	for i := range rows {
		row := dot[i*n : i*n+n]
		var sum float64
		for j, xy := range row {
			d := x2[i] + y2[j] - 2*xy
			if d < 0 { // rounding; a NaN passes
				d = 0
			}
			row[j] = F(math.Exp(-float64(c * d)))
			sum += float64(row[j])
		}
		sums[i] = F(sum)
	}
}

func adamGo[F Float](s AdamStep, p, g, m, v []F) {
	b1, b2, rate, eps := F(s.Beta1), F(s.Beta2), F(s.Rate), F(s.Epsilon)
	correct, keep, gs := F(s.Correct2), F(1-s.Decay), F(s.GradScale)
	for i := range p {
		gi := gs * g[i]
		m[i] = b1*m[i] + (1-b1)*gi
		v[i] = b2*v[i] + (1-b2)*gi*gi
		p[i] = keep*p[i] - rate*m[i]/(F(math.Sqrt(float64(correct*v[i])))+eps)
	}
}

func normaliseGo[F Float](rows, n int, mean, scale, x []F) {
	for i := range rows {
		row := x[i*n : (i+1)*n]
		for j := range row {
			row[j] = (row[j] - mean[j]) * scale[j]
		}
	}
}

func scaleRowsGo[F Float](rows, n int, scale, x []F) {
	for i := range rows {
		row := x[i*n : (i+1)*n]
		for j := range row {
			row[j] *= scale[j]
		}
	}
}
