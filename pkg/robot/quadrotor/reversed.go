package quadrotor

import (
	"gonum.org/v1/gonum/stat"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// Axes of body rates, in their order.
var Axes = [3]string{"roll", "pitch", "yaw"}

// Reversed looks for a segment in which a robot turns about an axis against its commands: no policy flies it, so that
// the records are wrong. Rows are dt s apart. It returns axis and correlation of the worst; false where there is none,
// or too little was commanded to say. Turns of 0.3 s are compared: within that a delay hardly counts, and a swing is
// over.
func Reversed(dt float64, segments [][]quad.Row) (axis int, correlation float64, found bool) {
	const surely = -0.5
	for _, rows := range segments {
		for i, c := range turnsAsCommanded(dt, rows) {
			if c < surely && c < correlation {
				axis, correlation, found = i, c, true
			}
		}
	}
	return axis, correlation, found
}

// turnsAsCommanded are the correlations of turns with those commanded, about each axis; 0 where that is not known.
func turnsAsCommanded(dt float64, rows []quad.Row) (c [3]float64) {
	const (
		span, late = 0.3, 0.05 // s
		fewest     = 30        // turns
		least      = 0.02      // rad, standard deviation of those commanded
	)
	w, delay := int(span/dt+0.5), int(late/dt+0.5)
	var turned, asked [3][]float64
	for k := delay; k+w < len(rows); k += max(w/3, 1) {
		turn, sum := so3.Log(rows[k].State.Q.Conj().Mul(rows[k+w].State.Q)), so3.Vec3{}
		for _, r := range rows[k-delay : k-delay+w] {
			sum = sum.Add(r.Command.Rates.Scale(dt))
		}
		for i, x := range [3][2]float64{{turn.X, sum.X}, {turn.Y, sum.Y}, {turn.Z, sum.Z}} {
			turned[i], asked[i] = append(turned[i], x[0]), append(asked[i], x[1])
		}
	}
	if len(turned[0]) < fewest {
		return c
	}
	for i := range c {
		if stat.StdDev(asked[i], nil) > least && stat.StdDev(turned[i], nil) > 0 {
			c[i] = stat.Correlation(turned[i], asked[i], nil)
		}
	}
	return c
}
