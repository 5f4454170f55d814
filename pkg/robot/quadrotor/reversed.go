package quadrotor

import (
	"gonum.org/v1/gonum/stat"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// Axes of body rates, in their order.
var Axes = [3]string{"roll", "pitch", "yaw"}

// Reversed looks for an axis about which a robot turns against its commands: no policy flies it, so that the records
// are wrong. Rows of segments are dt s apart. A tenth of them has to be so at least. It returns the axis, with the
// correlation of its turns in the worst segment; false where there is none, or too little was commanded to say.
func Reversed(dt float64, segments [][]quad.Row) (axis int, correlation float64, found bool) {
	const surely, share = -0.7, 0.1
	rows, against, worst := 0, [3]int{}, [3]float64{}
	for _, s := range segments {
		rows += len(s)
		for i, c := range turnsAsCommanded(dt, s) {
			if worst[i] = min(worst[i], c); c < surely {
				against[i] += len(s)
			}
		}
	}
	for i, n := range against {
		if n > 0 && float64(n) >= share*float64(rows) && worst[i] < correlation {
			axis, correlation, found = i, worst[i], true
		}
	}
	return axis, correlation, found
}

// turnsAsCommanded are the correlations of turns with those commanded, about each axis, at the delay where they are
// largest, of either sign; 0 where that is not known. Turns of 0.3 s are compared: within that most swings are over.
func turnsAsCommanded(dt float64, rows []quad.Row) (c [3]float64) {
	const margin = 0.1 // by which a negative one has to be larger: a swing looks reversed half a period later
	var most, least [3]float64
	for _, late := range [...]float64{0.02, 0.04, 0.06, 0.08, 0.1, 0.12, 0.14, 0.16} { // s
		for i, x := range turnsAfter(dt, int(late/dt+0.5), rows) {
			most[i], least[i] = max(most[i], x), min(least[i], x)
		}
	}
	for i := range c {
		if c[i] = most[i]; -least[i] > most[i]+margin {
			c[i] = least[i]
		}
	}
	return c
}

// turnsAfter are the same for commands of so many rows before.
func turnsAfter(dt float64, late int, rows []quad.Row) (c [3]float64) {
	const (
		span   = 0.3  // s
		fewest = 90   // turns
		least  = 0.02 // rad, standard deviation of those commanded
		widest = 1.5  // rad: of wider ones the axes do not add up
	)
	w := int(span/dt + 0.5)
	var turned, asked [3][]float64
	for k := late; k+w < len(rows); k += max(w/3, 1) {
		turn, sum := so3.Log(rows[k].State.Q.Conj().Mul(rows[k+w].State.Q)), so3.Vec3{}
		for _, r := range rows[k-late : k-late+w] {
			sum = sum.Add(r.Command.Rates.Scale(dt))
		}
		if !(turn.Norm() < widest && sum.Norm() < widest) {
			continue
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
