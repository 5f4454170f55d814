package logs

import (
	"math"
	"sort"
)

// Alignment is how the clock of the gyro stands to that of the attitude.
type Alignment struct {
	Lag         float64 // s that the gyro's clock is ahead; subtracted from its times, both agree
	Correlation float64 // of the rates at that lag
	Slope       float64 // gyro over turned attitude: 1, or 57.3 where the gyro is in degrees
	Opposed     int     // axis about which both turn against each other, −1 without one
	Wander      float64 // s between the least and the greatest lag of stretches of the flight
	Stretches   int     // whose lag could be told
}

const (
	maxLag       = 0.25   // s, that recordings of one vehicle are apart
	stretch      = 6.0    // s, over which a clock is compared with itself
	alignable    = 0.6    // correlation from which a lag counts
	stillRates   = 0.03   // rad/s rms, below which a stretch says nothing
	minTurn      = 0.0499 // s between the attitudes of a turn
	minIntervals = 40
	maxIntervals = 6000 // that a lag is looked for in
)

// sums is the running integral of the gyro, so that its mean over any time is one difference.
type sums struct {
	s    *Series
	upTo [][3]float64 // at each time of s
	gap  float64
	gaps []int // running count of gaps
}

func integrate(s *Series) *sums {
	g := &sums{s: s, upTo: make([][3]float64, len(s.T)), gaps: make([]int, len(s.T)), gap: max(5*s.step(), 0.05)}
	for i := 1; i < len(s.T); i++ {
		dt := s.T[i] - s.T[i-1]
		a, b := s.Row(i-1), s.Row(i)
		for j := range 3 {
			g.upTo[i][j] = g.upTo[i-1][j] + dt*(a[j]+b[j])/2
		}
		g.gaps[i] = g.gaps[i-1]
		if dt > g.gap {
			g.gaps[i]++
		}
	}
	return g
}

// at is the integral up to t, and the gaps before it.
func (g *sums) at(t float64) (x [3]float64, gaps int, ok bool) {
	i := g.s.before(t)
	if i < 0 || i+1 >= len(g.s.T) {
		return x, 0, false
	}
	dt := g.s.T[i+1] - g.s.T[i]
	u := (t - g.s.T[i]) / dt
	a, b := g.s.Row(i), g.s.Row(i+1)
	for j := range 3 {
		x[j] = g.upTo[i][j] + dt*u*(a[j]+u*(b[j]-a[j])/2)
	}
	return x, g.gaps[i+1], true
}

// interval is the mean turning between two attitudes.
type interval struct {
	from, to float64
	w        [3]float64
}

func (l *Log) intervals() (out []interval) {
	s := &l.Series[Attitude]
	gap := max(3*s.step(), 0.075)
	for i, k := 0, 1; k < len(s.T); k++ {
		if s.T[k]-s.T[i] < minTurn { // rounded attitudes say little about short turns
			continue
		}
		if s.T[k]-s.T[i] <= gap {
			w := l.turned(i, k)
			out = append(out, interval{s.T[i], s.T[k], [3]float64{w.X, w.Y, w.Z}})
		}
		i = k
	}
	return out
}

// agreement sums products of the turning of attitude and gyro, by axis.
type agreement struct {
	n          int
	xy, xx, yy [3]float64
}

func sum3(x [3]float64) float64 { return x[0] + x[1] + x[2] }

// correlation of all axes together; 0 where there is no turning.
func (a *agreement) correlation() float64 {
	if sum3(a.xx) == 0 || sum3(a.yy) == 0 {
		return 0
	}
	return sum3(a.xy) / math.Sqrt(sum3(a.xx)*sum3(a.yy))
}

// slope of the gyro over the attitude.
func (a *agreement) slope() float64 { return sum3(a.xy) / max(sum3(a.xx), 1e-300) }

// opposed is the axis about which the gyro turns against the attitude, −1 without one.
func (a *agreement) opposed() int {
	for j := range a.xy {
		if a.xx[j] > 0.01*sum3(a.xx) && a.xy[j] < -0.5*math.Sqrt(a.xx[j]*a.yy[j]) {
			return j
		}
	}
	return -1
}

// compare puts the gyro at a lag beside the attitude.
func compare(g *sums, all []interval, lag float64) (s agreement) {
	for _, v := range all {
		a, ga, ok := g.at(v.from + lag)
		b, gb, ok2 := g.at(v.to + lag)
		if !ok || !ok2 || ga != gb {
			continue
		}
		s.n++
		for j := range 3 {
			y := (b[j] - a[j]) / (v.to - v.from)
			s.xy[j] += v.w[j] * y
			s.xx[j] += v.w[j] * v.w[j]
			s.yy[j] += y * y
		}
	}
	return s
}

// search finds the lag within middle ± reach of the greatest correlation, to a tenth of a step; at least so many of the
// intervals must lie within the gyro's recording.
func search(g *sums, all []interval, least int, middle, reach, step float64) (lag float64, best agreement) {
	correlation := math.Inf(-1)
	try := func(at float64) {
		s := compare(g, all, at)
		if c := s.correlation(); s.n >= least && s.n > 0 && c > correlation {
			lag, correlation, best = at, c, s
		}
	}
	for at := middle - reach; at <= middle+reach; at += step {
		try(at)
	}
	for fine := step / 4; fine > step/20; fine /= 2 {
		middle := lag
		for k := -4.0; k <= 4; k++ {
			try(middle + k*fine)
		}
	}
	return lag, best
}

// Align compares gyro and attitude; ok is false where there is too little motion, or one of them is missing.
func (l *Log) Align() (a Alignment, ok bool) {
	if !l.Has(Attitude) || len(l.Series[Rates].T) < 2 {
		return a, false
	}
	all := l.moving(l.intervals())
	if len(all) < minIntervals {
		return a, false
	}
	g := integrate(&l.Series[Rates])
	lag, best := search(g, thin(all), minIntervals/2, 0, maxLag, 0.01)
	a = Alignment{Lag: lag, Correlation: best.correlation(), Slope: best.slope(), Opposed: best.opposed()}
	if a.Correlation < alignable {
		return a, true
	}
	least, most := math.Inf(1), math.Inf(-1)
	for from, skip := 0, len(all)/maxIntervals; from < len(all); {
		to := from + sort.Search(len(all)-from, func(i int) bool { return all[from+i].from >= all[from].from+stretch })
		part := all[from:to]
		from = to + skip*len(part)
		if len(part) < minIntervals || excitation(part) < 10*stillRates {
			continue
		}
		if lag, s := search(g, part, minIntervals/2, a.Lag, 0.1, 0.01); s.correlation() > 0.9 {
			least, most = min(least, lag), max(most, lag)
			a.Stretches++
		}
	}
	if a.Stretches > 1 {
		a.Wander = most - least
	}
	return a, true
}

// thin leaves a share of the intervals of a long log.
func thin(all []interval) []interval {
	return every(all, 1+len(all)/maxIntervals)
}

// moving leaves the intervals in flight, and none where the vehicle hardly turns.
func (l *Log) moving(all []interval) []interval {
	var flown []interval
	for _, v := range all {
		if l.flying(v.from) {
			flown = append(flown, v)
		}
	}
	if excitation(flown) < stillRates {
		return nil
	}
	return flown
}

// excitation is the rms of the turning, rad/s.
func excitation(all []interval) float64 {
	sum := 0.0
	for _, v := range all {
		sum += v.w[0]*v.w[0] + v.w[1]*v.w[1] + v.w[2]*v.w[2]
	}
	return math.Sqrt(sum / float64(max(1, len(all))))
}

// Shift moves all that the vehicle measured and commanded onto the clock of the attitude.
func (l *Log) Shift(lag float64) {
	for c := range channels {
		if c == Position || c == Velocity || c == Attitude {
			continue
		}
		for i := range l.Series[c].T {
			l.Series[c].T[i] -= lag
		}
	}
}
