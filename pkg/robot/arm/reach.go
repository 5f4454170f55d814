package arm

import (
	"errors"
	"fmt"

	"vnd/pkg/core/so3"
)

// Reach is inverse kinematics: it turns q into the angles nearest to others, by least squares, whose tool is at x with
// axes turn. It begins where q is, and refuses what is out of reach or beyond the joints' limits.
func (c *Chain) Reach(x so3.Vec3, turn so3.Mat3, near, q []float64) error {
	const most, exact = 200, 1e-9
	p, n := c.NewPose(), len(q)
	j, jj, left, dq := make([]float64, 6*n), make([]float64, 36), make([]float64, 6), make([]float64, n)
	for range most {
		c.Place(q, &p)
		d, r := x.Sub(p.Tool), so3.Log(so3.FromMat3(turn.Mul(p.Turn.T())))
		copy(left, []float64{d.X, d.Y, d.Z, r.X, r.Y, r.Z})
		for i := range q {
			lin, ang := p.Jacobian(i)
			dq[i] = near[i] - q[i]
			for k, g := range []float64{lin.X, lin.Y, lin.Z, ang.X, ang.Y, ang.Z} {
				j[n*k+i] = g
				left[k] -= g * dq[i]
			}
		}
		product(j, jj, n)
		factor(jj, 6)
		solve(jj, left) // the step is dq + J⁺(error − J dq)
		var square float64
		for i := range q {
			for k, y := range left {
				dq[i] += j[n*k+i] * y
			}
			q[i] += dq[i]
			square += dq[i] * dq[i]
		}
		if square < exact*exact {
			return c.allowed(q)
		}
	}
	return fmt.Errorf("the tool does not reach %.3f, %.3f, %.3f m with its axes", x.X, x.Y, x.Z)
}

// product writes j jᵀ of j[6][n].
func product(j, jj []float64, n int) {
	for a := range 6 {
		for b := range 6 {
			var sum float64
			for i := range n {
				sum += j[n*a+i] * j[n*b+i]
			}
			jj[6*a+b] = sum
		}
	}
}

// allowed refuses angles beyond the joints' limits.
func (c *Chain) allowed(q []float64) (err error) {
	for i, l := range c.Links {
		if !(q[i] >= l.Min && q[i] <= l.Max) {
			err = errors.Join(err, fmt.Errorf("joint %d at %.2f rad, expected %.2f to %.2f", i+1, q[i], l.Min, l.Max))
		}
	}
	return err
}
