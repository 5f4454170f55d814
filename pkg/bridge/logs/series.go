package logs

import (
	"math"
	"slices"
	"sort"
)

// Series is one channel: rows of Width numbers at times that ascend.
type Series struct {
	Source string // topic in the log
	Width  int
	T      []float64 // s
	V      []float64 // Width per time
	hint   int       // row that was asked for last
	known  int       // rows that median is of
	median float64   // time from row to row, s
}

// Row returns the numbers at index i.
func (s *Series) Row(i int) []float64 { return s.V[i*s.Width : (i+1)*s.Width : (i+1)*s.Width] }

// Rate is the median number of rows a second.
func (s *Series) Rate() float64 {
	if step := s.step(); step > 0 {
		return 1 / step
	}
	return 0
}

// step is the median time from row to row, s.
func (s *Series) step() float64 {
	if len(s.T) < 2 {
		return 0
	}
	if s.known != len(s.T) { // of a long log it takes a second
		steps := make([]float64, len(s.T)-1)
		for i := range steps {
			steps[i] = s.T[i+1] - s.T[i]
		}
		s.known, s.median = len(s.T), median(steps)
	}
	return s.median
}

// add appends a row. Capacity is doubled: a quarter more at a time would copy a long log again and again.
func (s *Series) add(t float64, row []float64) {
	if n := len(s.T); n == cap(s.T) {
		s.T, s.V = slices.Grow(s.T, n), slices.Grow(s.V, len(s.V))
	}
	s.T = append(s.T, t)
	s.V = append(s.V, row...)
}

// keep leaves only the rows that pass.
func (s *Series) keep(pass func(i int) bool) {
	n := 0
	for i := range s.T {
		if pass(i) {
			s.T[n] = s.T[i]
			copy(s.V[n*s.Width:], s.Row(i))
			n++
		}
	}
	s.T, s.V = s.T[:n], s.V[:n*s.Width]
}

// before is the index of the last row at or before t, −1 without one. Times mostly ascend from call to call.
func (s *Series) before(t float64) int {
	for i := s.hint; i < min(s.hint+4, len(s.T)); i++ {
		if s.T[i] <= t && (i+1 == len(s.T) || s.T[i+1] > t) {
			s.hint = i
			return i
		}
	}
	i := sort.Search(len(s.T), func(i int) bool { return s.T[i] > t }) - 1
	s.hint = max(0, i)
	return i
}

// around are the rows on both sides of t and t's place between them, 0…1; false beyond the ends and in gaps.
func (s *Series) around(t, gap float64) (i, k int, share float64, ok bool) {
	i = s.before(t)
	if i >= 0 && s.T[i] == t {
		return i, i, 0, true
	}
	if i < 0 || i+1 >= len(s.T) || s.T[i+1]-s.T[i] > gap {
		return 0, 0, 0, false
	}
	return i, i + 1, (t - s.T[i]) / (s.T[i+1] - s.T[i]), true
}

// linear interpolates at t into out.
func (s *Series) linear(t, gap float64, out []float64) bool {
	i, k, share, ok := s.around(t, gap)
	if !ok {
		return false
	}
	a, b := s.Row(i), s.Row(k)
	for j := range out {
		out[j] = a[j] + share*(b[j]-a[j])
	}
	return true
}

// held copies the last row at or before t, if it is no older than gap.
func (s *Series) held(t, gap float64, out []float64) bool {
	i := s.before(t)
	if i < 0 || t-s.T[i] > gap {
		return false
	}
	copy(out, s.Row(i))
	return true
}

// mean is the time-weighted mean of what is held over [t, t+over).
func (s *Series) mean(t, over, gap float64, out []float64) bool {
	i := s.before(t)
	if i < 0 || t-s.T[i] > gap {
		return false
	}
	clear(out)
	for from := t; from < t+over; i++ {
		to := t + over
		if i+1 < len(s.T) {
			to = min(to, s.T[i+1])
		}
		if to-s.T[i] > gap+over {
			return false
		}
		for j, x := range s.Row(i) {
			out[j] += x * (to - from) / over
		}
		from = to
	}
	return true
}

// median sorts x.
func median(x []float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	slices.Sort(x)
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}
