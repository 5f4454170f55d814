package kernel

import "math"

// productGo calls f with each number of x·W and its place.
func productGo[F Float](rows int, w *Weights[F], x []F, f func(i, j, at int, sum F)) {
	var few [64]F // columns at a time: the flight way must not allocate
	k, n := w.K, w.N
	for i := range rows {
		for from := 0; from < n; from += len(few) {
			sums := few[:min(len(few), n-from)]
			clear(sums)
			for p, v := range x[i*k : (i+1)*k] {
				if w.reduced {
					v = rounded(v)
				}
				axpyGo(v, w.panels[p*n+from:p*n+from+len(sums)], sums)
			}
			for j, sum := range sums {
				f(i, from+j, i*n+from+j, sum)
			}
		}
	}
}

func gruSequenceGo[F Float](steps int, gi, bi []F, w *Weights[F], gh, bh, h []F) {
	n := w.K
	now, next := h[:n], h[n:]
	clear(now)
	for t := range steps {
		denseGo(1, w, now, nil, nil, gh)
		gruGatesGo(1, n, gi[t*3*n:], bi, gh, bh, now, next)
		now, next = next, now
	}
}

// rounded is x in bfloat16: the upper half of its bits, to the nearest, of two the even one. Subnormal numbers become
// 0.
func rounded[F Float](x F) F {
	bits := math.Float32bits(float32(x))
	switch exponent := bits >> 23 & 0xff; {
	case exponent == 0:
		return F(math.Float32frombits(bits & (1 << 31)))
	case exponent == 0xff: // infinite, or not a number
		return x
	}
	bits += 0x7fff + bits>>16&1
	return F(math.Float32frombits(bits &^ 0xffff))
}

// or is x[i], or 0 of a nil x.
func or[F Float](x []F, i int) F {
	if x == nil {
		return 0
	}
	return x[i]
}

func denseGo[F Float](rows int, w *Weights[F], x, bias, add, y []F) {
	productGo(rows, w, x, func(_, j, at int, sum F) { y[at] = sum + or(bias, j) + or(add, at) })
}

func denseTanhGo[F Float](rows int, w *Weights[F], x, bias, y []F) {
	productGo(rows, w, x, func(_, j, at int, sum F) { y[at] = F(math.Tanh(float64(sum + bias[j]))) })
}

func denseGeluGo[F Float](rows int, w *Weights[F], x, bias, add, y, slope []F) {
	productGo(rows, w, x, func(_, j, at int, sum F) {
		u := sum + bias[j] + or(add, at)
		y[at], slope[at] = gelu(u), geluSlope(u)
	})
}

func denseFilmGo[F Float](rows int, w *Weights[F], x, bias, film, pre, y, slope []F) {
	n := w.N
	productGo(rows, w, x, func(i, j, at int, sum F) {
		p := sum + bias[j]
		u := (1+film[2*i*n+j])*p + film[(2*i+1)*n+j]
		y[at], slope[at] = gelu(u), geluSlope(u)
		if pre != nil {
			pre[at] = p
		}
	})
}

func denseGeluBackwardGo[F Float](rows int, w *Weights[F], dy, slope []F) {
	productGo(rows, w, dy, func(_, _, at int, sum F) { slope[at] *= sum })
}

func denseFilmBackwardGo[F Float](rows int, w *Weights[F], dy, film, pre, slope, dfilm []F) {
	n := w.N
	productGo(rows, w, dy, func(i, j, at int, sum F) {
		du := sum * slope[at]
		if pre != nil {
			dfilm[2*i*n+j] += du * pre[at]
			dfilm[(2*i+1)*n+j] += du
		}
		slope[at] = du * (1 + film[2*i*n+j])
	})
}
