package logs

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
