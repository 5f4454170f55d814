package preflight

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"vnd/pkg/core/quad"
)

// Figure is a number with half the width of its 95 % interval.
type Figure struct{ Value, Margin float64 }

// FirstOrder is a response of gain, delay (s) and first-order lag (s). Slope is of thrust alone: how it grows with the
// command about a hover over how great it is there, 1 where both are in proportion.
type FirstOrder struct{ Gain, Delay, Lag, Slope Figure }

// String is for people to read.
func (f FirstOrder) String() string {
	ms := func(x Figure) string { return fmt.Sprintf("%.0f ± %.0f ms", 1000*x.Value, 1000*x.Margin) }
	return fmt.Sprintf("gain %.3f ± %.3f, delay %s, lag %s", f.Gain.Value, f.Gain.Margin, ms(f.Delay), ms(f.Lag))
}

// Intervals are responses by axis, as a hover tells them: thrust, roll, pitch and yaw rate.
type Intervals [4]FirstOrder

// blocks are left out of a hover in turn.
const blocks = 10

// Measure returns responses by axis of a hover that Fly knows. Their margins are from a delete-a-block jackknife
// (Künsch, 1989), with Student's quantile: blocks of some seconds are independent of each other, samples are not. A
// margin is half a step of what was tried at least.
func Measure(h *Hover) (all Intervals) {
	r, _ := resample(h)
	turn, _ := r.rateAxes()
	whole := r.byAxis(turn)
	var less [blocks][len(whole)]response
	seen := r.whole
	for b := range less {
		r.whole = slices.Clone(seen)
		clear(r.whole[b*len(seen)/blocks : (b+1)*len(seen)/blocks])
		less[b] = r.byAxis(turn)
	}
	for i, f := range whole {
		figure := func(value, least float64, of func(response) float64) Figure {
			var left [blocks]float64
			for b := range less {
				left[b] = of(less[b][i])
			}
			return Figure{value, max(jackknife(left[:]), least)}
		}
		all[i] = FirstOrder{
			Gain:  figure(f.gain, 0, func(r response) float64 { return r.gain }),
			Delay: figure(f.delay, step/2, func(r response) float64 { return r.delay }),
			Lag:   figure(f.lag, step/2, func(r response) float64 { return r.lag }),
			Slope: figure(f.slope, 0, func(r response) float64 { return r.slope }),
		}
	}
	return all
}

// byAxis fits thrust and the rate of each axis.
func (r *record) byAxis(a axes) (f [4]response) {
	f[0] = r.thrustResponse()
	for i := range 3 {
		f[1+i] = r.fitRates(a, i)
	}
	return f
}

// thrustResponse has the gain of the whole thrust, and its slope.
func (r *record) thrustResponse() response {
	f, _ := r.fitThrust()
	level := quad.Gravity / r.hoverThrust()
	f.gain, f.slope = level, f.gain/level
	return f
}

// jackknife is half the width of the 95 % interval of what was estimated without each of the blocks.
func jackknife(left []float64) float64 {
	n := float64(len(left))
	_, v := stat.PopMeanVariance(left, nil)
	student := distuv.StudentsT{Sigma: 1, Nu: n - 1}
	return student.Quantile(0.975) * math.Sqrt((n-1)*v)
}
