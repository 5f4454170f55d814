package quadrotor

import (
	"math"

	"gonum.org/v1/gonum/stat"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// Axes of body rates, in their order.
var Axes = [3]string{"roll", "pitch", "yaw"}

// lates are the delays, s, of turns behind their commands that are looked at.
var lates = [...]float64{0.02, 0.04, 0.06, 0.08, 0.1, 0.12, 0.14, 0.16}

// turn is one of a robot in 0.3 s, rad about each axis, with those commanded by its delay. Within that time most swings
// are over.
type turn struct {
	made  [3]float64
	asked [len(lates)][3]float64
}

// Reversed looks for an axis about which a robot turns against its commands: no policy flies it, so that the records
// are wrong. Rows of segments are dt s apart. A tenth of the turns has to be so at least. Segments too short to tell
// are taken together with the next ones such. It returns the axis, with the worst correlation of turns with those
// commanded; false where there is none, or too little was commanded to say.
func Reversed(dt float64, segments [][]quad.Row) (axis int, correlation float64, found bool) {
	const (
		fewest = 90 // turns to tell by
		surely = -0.7
		share  = 0.1
	)
	var short []turn
	all, against, worst := 0, [3]int{}, [3]float64{}
	for _, s := range segments {
		turns := turnsOf(dt, s)
		if len(turns) < fewest {
			if short = append(short, turns...); len(short) < fewest {
				continue
			}
			turns, short = short, nil
		}
		all += len(turns)
		for i, c := range asCommanded(turns) {
			if c < surely {
				against[i], worst[i] = against[i]+len(turns), min(worst[i], c)
			}
		}
	}
	for i, n := range against {
		if n > 0 && float64(n) >= share*float64(all) && worst[i] < correlation {
			axis, correlation, found = i, worst[i], true
		}
	}
	return axis, correlation, found
}

// asCommanded are the correlations of turns with those commanded, about each axis, at the delay where they are
// largest, of either sign; NaN where too little was commanded at one of the delays.
func asCommanded(turns []turn) (c [3]float64) {
	const margin = 0.1 // by which a negative one has to be larger: a swing looks reversed half a period later
	for axis := range c {
		most, least := 0., 0.
		for late := range lates {
			x := correlation(turns, axis, late)
			most, least = max(most, x), min(least, x)
		}
		if c[axis] = most; -least > most+margin {
			c[axis] = least
		}
	}
	return c
}

// correlation is that of turns with those commanded, about an axis and at one of the delays; NaN where too little was.
func correlation(turns []turn, axis, late int) float64 {
	const least = 0.02 // rad, standard deviation of those commanded
	made, asked := make([]float64, len(turns)), make([]float64, len(turns))
	for k := range turns {
		made[k], asked[k] = turns[k].made[axis], turns[k].asked[late][axis]
	}
	if stat.StdDev(asked, nil) < least {
		return math.NaN()
	}
	return stat.Correlation(made, asked, nil)
}

// turnsOf are the turns of rows, three in their time.
func turnsOf(dt float64, rows []quad.Row) (out []turn) {
	const (
		span   = 0.3 // s
		widest = 1.5 // rad: of wider ones the axes do not add up
	)
	steps := func(seconds float64) int { return int(seconds/dt + 0.5) }
	w := steps(span)
	for k := steps(lates[len(lates)-1]); k+w < len(rows); k += max(w/3, 1) {
		made := so3.Log(rows[k].State.Q.Conj().Mul(rows[k+w].State.Q))
		t, most := turn{made: [3]float64{made.X, made.Y, made.Z}}, made.Norm()
		for i, late := range lates {
			var sum so3.Vec3
			for _, r := range rows[k-steps(late):][:w] {
				sum = sum.Add(r.Command.Rates.Scale(dt))
			}
			t.asked[i], most = [3]float64{sum.X, sum.Y, sum.Z}, max(most, sum.Norm())
		}
		if most < widest {
			out = append(out, t)
		}
	}
	return out
}
