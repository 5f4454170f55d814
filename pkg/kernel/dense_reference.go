package kernel

import "math"

// productGo calls f with each number of x·W and its place, W [k×n] row-major.
func productGo[F Float](rows, k, n int, x, w []F, f func(i, j, at int, sum F)) {
	var few [64]F // columns at a time: the flight way must not allocate
	for i := range rows {
		for from := 0; from < n; from += len(few) {
			sums := few[:min(len(few), n-from)]
			clear(sums)
			for p, v := range x[i*k : (i+1)*k] {
				axpyGo(v, w[p*n+from:p*n+from+len(sums)], sums)
			}
			for j, sum := range sums {
				f(i, from+j, i*n+from+j, sum)
			}
		}
	}
}

// or is x[i], or 0 of a nil x.
func or[F Float](x []F, i int) F {
	if x == nil {
		return 0
	}
	return x[i]
}

func denseGo[F Float](rows, k, n int, x, w, bias, add, y []F) {
	productGo(rows, k, n, x, w, func(_, j, at int, sum F) { y[at] = sum + or(bias, j) + or(add, at) })
}

func denseTanhGo[F Float](rows, k, n int, x, w, bias, y []F) {
	productGo(rows, k, n, x, w, func(_, j, at int, sum F) { y[at] = F(math.Tanh(float64(sum + bias[j]))) })
}

func denseGeluGo[F Float](rows, k, n int, x, w, bias, add, y, slope []F) {
	productGo(rows, k, n, x, w, func(_, j, at int, sum F) {
		u := sum + bias[j] + or(add, at)
		y[at], slope[at] = gelu(u), geluSlope(u)
	})
}

func denseFilmGo[F Float](rows, k, n int, x, w, bias, film, pre, y, slope []F) {
	productGo(rows, k, n, x, w, func(i, j, at int, sum F) {
		p := sum + bias[j]
		u := (1+film[2*i*n+j])*p + film[(2*i+1)*n+j]
		y[at], slope[at] = gelu(u), geluSlope(u)
		if pre != nil {
			pre[at] = p
		}
	})
}

func denseGeluBackwardGo[F Float](rows, k, n int, dy, w, slope []F) {
	productGo(rows, k, n, dy, w, func(_, _, at int, sum F) { slope[at] *= sum })
}

func denseFilmBackwardGo[F Float](rows, k, n int, dy, w, film, pre, slope, dfilm []F) {
	productGo(rows, k, n, dy, w, func(i, j, at int, sum F) {
		du := sum * slope[at]
		if pre != nil {
			dfilm[2*i*n+j] += du * pre[at]
			dfilm[(2*i+1)*n+j] += du
		}
		slope[at] = du * (1 + film[2*i*n+j])
	})
}
