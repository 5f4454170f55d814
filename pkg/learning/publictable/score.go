// Package publictable has the protocols and the published tables of open benchmarks that take rotor flights: what to
// fit to, what to predict, how errors are counted, and what others reached.
package publictable

import (
	"cmp"
	"math"
	"slices"

	"vnd/pkg/learning/rotorfit"
	"vnd/pkg/robot/rotors"
)

// Curve is the mean error of p m, v m/s, R rad and w rad/s after 1 … H steps.
type Curve [][rotorfit.Channels]float64

// Sum is Σ over the first steps.
func (c Curve) Sum(steps int) (sum [rotorfit.Channels]float64) {
	for _, e := range c[:steps] {
		for i, x := range e {
			sum[i] += x
		}
	}
	return sum
}

// Within is the mean over all starts of the errors against the flight's own rows.
func Within(predictions []*rotorfit.Predictions) Curve {
	var curve Curve
	starts := 0.
	for _, p := range predictions {
		for i, start := range p.Starts {
			if curve == nil {
				curve = make(Curve, len(p.States[i]))
			}
			for h := range curve {
				for c, e := range rotorfit.Errors(&p.States[i][h], &p.Flight.State[start+h+1]) {
					curve[h][c] += e
				}
			}
			starts++
		}
	}
	for h := range curve {
		for c := range curve[h] {
			curve[h][c] /= starts
		}
	}
	return curve
}

// PositionRMS is the root mean square of the position's error after h steps, each flight with the same weight.
func PositionRMS(predictions []*rotorfit.Predictions, h int) (rms float64) {
	for _, p := range predictions {
		square := 0.
		for i, start := range p.Starts {
			e := rotorfit.Errors(&p.States[i][h-1], &p.Flight.State[start+h])[0]
			square += e * e
		}
		rms += math.Sqrt(square/float64(len(p.Starts))) / float64(len(predictions))
	}
	return rms
}

// AsPublished counts as the original script of the IDSIA benchmark does: the truths one step after every start lie end
// to end over all flights, and step h is compared with that list shifted by h − 1. The last 49 starts of a flight meet
// the next flight's beginning, the last ones of all meet nothing. Angles run to 2π, by the sign that continues the
// start's quaternion. Every start 0 … N − H − 1 has to be there.
func AsPublished(predictions []*rotorfit.Predictions) Curve {
	sorted := slices.SortedFunc(slices.Values(predictions), func(a, b *rotorfit.Predictions) int {
		return cmp.Compare(a.Flight.Name, b.Flight.Name)
	})
	var truths [][rotors.Measured]float64
	var states [][][rotors.Measured]float64
	for _, p := range sorted {
		for i, start := range p.Starts {
			truths = append(truths, positive(p.Flight.State[start+1]))
			states = append(states, continued(p.States[i], positive(p.Flight.State[start])))
		}
	}
	curve := make(Curve, len(states[0]))
	for h := range curve {
		n := len(states) - h
		for i, s := range states[:n] {
			truth := &truths[i+h]
			e := rotorfit.Errors(&s[h], truth)
			e[2] = rotorfit.Angle([4]float64(s[h][3:7]), [4]float64(truth[3:7]), true)
			for c := range e {
				curve[h][c] += e[c] / float64(n)
			}
		}
	}
	return curve
}

// positive gives a state's quaternion a w of at least 0, as the files have it.
func positive(x [rotors.Measured]float64) [rotors.Measured]float64 {
	if x[3] < 0 {
		return negated(x)
	}
	return x
}

// negated is x with the other quaternion of the same attitude.
func negated(x [rotors.Measured]float64) [rotors.Measured]float64 {
	x[3], x[4], x[5], x[6] = -x[3], -x[4], -x[5], -x[6]
	return x
}

// continued gives the quaternions of a rollout the sign that continues that of its start.
func continued(states [][rotors.Measured]float64, start [rotors.Measured]float64) [][rotors.Measured]float64 {
	out := slices.Clone(states)
	before := [4]float64(start[3:7])
	for h := range out {
		same := 0.
		for i := range before {
			same += before[i] * out[h][3+i]
		}
		if same < 0 {
			out[h] = negated(out[h])
		}
		before = [4]float64(out[h][3:7])
	}
	return out
}
