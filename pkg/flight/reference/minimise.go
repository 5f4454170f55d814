package reference

import (
	"errors"

	"gonum.org/v1/gonum/mat"

	"vnd/pkg/core/so3"
)

// minimise returns the curve through the points, legs s apart and at rest at both ends, whose derivative of the given
// order k has the least square over time (k = 4: snap, D. Mellinger, V. Kumar, "Minimum snap trajectory generation and
// control for quadrotors", ICRA 2011). It is the spline of degree 2k−1 with 2k−2 continuous derivatives, so that one
// linear system gives it: N pieces of 2k coefficients, each over its own share of time, and as many conditions.
func minimise(k int, legs []float64, ps []so3.Vec3) ([]piece, error) {
	n, w := len(legs), 2*k
	a, b := mat.NewDense(n*w, n*w, nil), mat.NewDense(n*w, 3, nil)
	row := 0
	passes := func(i, end int, p so3.Vec3) {
		derivative(a, row, i*w, w, 0, end, 1)
		b.SetRow(row, []float64{p.X, p.Y, p.Z})
		row++
	}
	for i := range n {
		passes(i, 0, ps[i])
		passes(i, 1, ps[i+1])
	}
	for d := 1; d < k; d++ { // rest at both ends
		derivative(a, row, 0, w, d, 0, 1)
		derivative(a, row+1, (n-1)*w, w, d, 1, 1)
		row += 2
	}
	for i := range n - 1 { // what one piece ends with the next begins with
		ratio := 1.
		for d := 1; d <= w-2; d++ {
			ratio *= legs[i] / legs[i+1]
			derivative(a, row, i*w, w, d, 1, 1)
			derivative(a, row, (i+1)*w, w, d, 0, -ratio)
			row++
		}
	}
	var x mat.Dense
	if err := x.Solve(a, b); err != nil { // singular, or so nearly that the digits are gone
		return nil, errors.New("points or times are too uneven for one smooth curve, expected legs of similar length")
	}
	pieces := make([]piece, n)
	for i := range pieces {
		pieces[i].duration = legs[i]
		for j := range 3 {
			for m := range w {
				pieces[i].c[j][m] = x.At(i*w+m, j)
			}
		}
	}
	return pieces, nil
}

// derivative writes factor times the d-th derivative at u = end (0 or 1) of a polynomial of w coefficients from column
// col.
func derivative(a *mat.Dense, row, col, w, d, end int, factor float64) {
	for m := d; m < w; m++ {
		if end == 0 && m > d {
			return
		}
		x := factor
		for j := range d {
			x *= float64(m - j)
		}
		a.Set(row, col+m, x)
	}
}
