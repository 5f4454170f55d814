package logs

import (
	"fmt"
	"math"
)

// velocityOver is the time on both sides of a position from which its velocity is made, s.
const velocityOver = 0.05

// mostPositions that a velocity is made from.
const mostPositions = 200

// estimateVelocity fills in the velocity where the log has none: the slope of the straight line through the positions
// within ±velocityOver. It looks ahead, as a recording allows.
func (l *Log) estimateVelocity() {
	p, v := &l.Series[Position], &l.Series[Velocity]
	if l.Has(Velocity) || len(p.T) < 3 {
		return
	}
	*v = Series{Source: p.Source + ", its slope", Width: 3}
	over := max(velocityOver, 1.5*p.step())
	lo, hi := 0, 0
	for _, t := range p.T {
		for p.T[lo] < t-over {
			lo++
		}
		for hi < len(p.T) && p.T[hi] <= t+over {
			hi++
		}
		if slope, ok := p.slope(lo, hi, t); ok {
			v.add(t, slope[:])
		}
	}
	l.Notes = append(l.Notes, "velocities are the slope of the positions")
}

// slope is that of the line through rows lo to hi, which must stand on both sides of t.
func (s *Series) slope(lo, hi int, t float64) (slope [3]float64, ok bool) {
	stride := 1 + (hi-lo)/mostPositions
	n := float64((hi - lo + stride - 1) / stride)
	if hi-lo < 3 || s.T[lo] >= t || s.T[hi-1] <= t {
		return slope, false
	}
	var mean, square float64
	for i := lo; i < hi; i += stride {
		mean += (s.T[i] - t) / n
	}
	for i := lo; i < hi; i += stride {
		dt := s.T[i] - t - mean
		square += dt * dt
		for j, x := range s.Row(i) {
			slope[j] += dt * x
		}
	}
	for j := range slope {
		slope[j] /= square
	}
	return slope, square > 0
}

// checkVelocity compares measured velocities with the slope of the positions. Jumps and noise of either pass.
func (l *Log) checkVelocity() (f Finding) {
	if !l.Has(Position) || !l.Has(Velocity) {
		return f
	}
	plain := Log{}
	plain.Series[Position] = l.Series[Position]
	plain.estimateVelocity()
	made, v := &plain.Series[Velocity], &l.Series[Velocity]
	gap := v.gapOf()
	var xy, xx, yy float64
	for i := 0; i < len(made.T); i += 1 + len(made.T)/orderMost {
		var c [3]float64
		if l.flying(made.T[i]) && v.linear(made.T[i], gap, c[:]) {
			x, y := vec(c[:]), vec(made.Row(i))
			xy, xx, yy = xy+x.Dot(y), xx+x.Dot(x), yy+y.Dot(y)
		}
	}
	slope := xy / xx
	if xy > alignable*math.Sqrt(xx*yy) && (slope < 0.2 || slope > 5) {
		return Finding{"units", Wrong, fmt.Sprintf("the position moves %.3g times as fast as the velocity says", slope),
			"one of them has another unit, expected m and m/s"}
	}
	return f
}
