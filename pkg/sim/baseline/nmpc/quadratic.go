package nmpc

import "math"

// quadratic is the cost to go about a state and command: ½·uᵀ·uu·u + uᵀ·ux·x + uᵀ·u, and so on.
type quadratic struct {
	x  vecX
	u  vecU
	xx matX
	ux [nU]vecX
	uu [nU][nU]float64
}

// through adds the cost to go of the next state, v and vv, through the derivatives of a step.
func (q *quadratic) through(d *node, v *vecX, vv *matX) {
	var va matX // vv·a
	var vb matB // vv·b
	for i := range nX {
		for l := range nX {
			if w := vv[i][l]; w != 0 {
				for j := range nX {
					va[i][j] += w * d.a[l][j]
				}
				for j := range nU {
					vb[i][j] += w * d.b[l][j]
				}
			}
		}
	}
	for l := range nX {
		for i := range nX {
			if a := d.a[l][i]; a != 0 {
				q.x[i] += a * v[l]
				for j := range nX {
					q.xx[i][j] += a * va[l][j]
				}
			}
		}
		for i := range nU {
			if b := d.b[l][i]; b != 0 {
				q.u[i] += b * v[l]
				for j := range nX {
					q.ux[i][j] += b * va[l][j]
				}
				for j := range nU {
					q.uu[i][j] += b * vb[l][j]
				}
			}
		}
	}
}

// solve minimises over the command within bounds by projected Newton steps, for the state as it is, and finds the gain
// by the state of commands that are at no bound. It fails where the matrix is not positive definite.
func (q *quadratic) solve(lo, hi *vecU, d *node) bool {
	d.k, d.gain = vecU{}, [nU]vecX{}
	var free [nU]bool
	for range 8 {
		slope, any := q.u, false
		for i := range nU {
			for j := range nU {
				slope[i] += q.uu[i][j] * d.k[j]
			}
			atLo, atHi := d.k[i] <= lo[i] && slope[i] > 0, d.k[i] >= hi[i] && slope[i] < 0
			free[i] = !atLo && !atHi
			any = any || free[i] && math.Abs(slope[i]) > 1e-9
		}
		if !any {
			break
		}
		down, ok := q.newton(slope, &free)
		if !ok {
			return false
		}
		for i := range nU {
			d.k[i] = min(max(d.k[i]-down[i], lo[i]), hi[i])
		}
	}
	for j := range nX {
		var column vecU
		for i := range nU {
			column[i] = q.ux[i][j]
		}
		down, ok := q.newton(column, &free)
		if !ok {
			return false
		}
		for i := range nU {
			d.gain[i][j] = -down[i]
		}
	}
	return true
}

// newton solves uu·y = r on the free coordinates; the others of y are 0.
func (q *quadratic) newton(r vecU, free *[nU]bool) (y vecU, ok bool) {
	var l [nU][nU]float64 // Cholesky factor
	for i := range nU {
		if !free[i] {
			continue
		}
		for j := range i + 1 {
			if !free[j] {
				continue
			}
			sum := q.uu[i][j]
			for k := range j {
				sum -= l[i][k] * l[j][k]
			}
			if i > j {
				l[i][j] = sum / l[j][j]
			} else if sum > 0 {
				l[i][i] = math.Sqrt(sum)
			} else {
				return y, false
			}
		}
		y[i] = r[i]
		for k := range i {
			y[i] -= l[i][k] * y[k]
		}
		y[i] /= l[i][i]
	}
	for i := nU - 1; i >= 0; i-- {
		if !free[i] {
			continue
		}
		for k := i + 1; k < nU; k++ {
			y[i] -= l[k][i] * y[k]
		}
		y[i] /= l[i][i]
	}
	return y, true
}

// value writes the cost to go of the state, and returns by how much the step lowers it.
func (q *quadratic) value(d *node, v *vecX, vv *matX) (lowers float64) {
	var slope vecU // u + uu·k
	for i := range nU {
		slope[i] = q.u[i]
		for j := range nU {
			slope[i] += q.uu[i][j] * d.k[j]
			lowers -= d.k[i] * q.uu[i][j] * d.k[j] / 2
		}
		lowers -= q.u[i] * d.k[i]
	}
	*v, *vv = q.x, q.xx
	for a := range nX {
		for i := range nU {
			v[a] += q.ux[i][a]*d.k[i] + d.gain[i][a]*slope[i]
		}
	}
	// gain is the minimum's on free coordinates and 0 elsewhere: gainᵀ·uu·gain = −gainᵀ·ux.
	for a := range nX {
		for b := range nX {
			for i := range nU {
				vv[a][b] += (q.ux[i][a]*d.gain[i][b] + d.gain[i][a]*q.ux[i][b]) / 2
			}
		}
	}
	return lowers
}
