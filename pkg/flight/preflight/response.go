package preflight

import (
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// The grids in time. Poses are looked at every grid seconds, commands every step.
const (
	step  = 0.005 // s
	fine2 = 2     // steps per grid
	grid  = fine2 * step
	turnW = 5 // grids over which a turn is measured: 50 ms
	liftW = 8 // grids of a second difference of height
	most  = 60
)

// record is a hover on a grid.
type record struct {
	q      []so3.Quat // [K]
	z      []float64  // [K] height, m
	whole  []bool     // [K] a pose was near
	thrust []float64  // [K·fine2] as held
	rate   [3][]float64
}

// resample puts a hover on the grid, and returns how long it is, gaps not counted, s. Poses count at their stamps where
// those are of the clock of their arrival.
func resample(h *Hover) (*record, float64) {
	const other, far = 5.0, 0.03 // s
	at := func(s *Sample) float64 {
		if math.Abs(s.Arrival-s.Stamp) < other {
			return s.Stamp
		}
		return s.Arrival
	}
	p, c := h.Poses, h.Commands
	begin := math.Max(at(&p[0]), c[0].Arrival)
	end := math.Min(at(&p[len(p)-1]), c[len(c)-1].Arrival)
	n := int((end - begin) / grid)
	r := &record{}
	i, j, good := 0, 0, 0
	for k := range n {
		for f := range fine2 {
			t := begin + float64(k)*grid + float64(f)*step
			for j+1 < len(c) && c[j+1].Arrival <= t {
				j++
			}
			w := c[j].Rates
			r.thrust = append(r.thrust, c[j].Thrust)
			r.rate[0], r.rate[1], r.rate[2] = append(r.rate[0], w.X), append(r.rate[1], w.Y), append(r.rate[2], w.Z)
		}
		t := begin + float64(k)*grid
		for i+1 < len(p) && at(&p[i+1]) <= t {
			i++
		}
		q, z := p[i].Q.Normalize(), p[i].P.Z
		whole := math.Abs(at(&p[i])-t) < far
		if i+1 < len(p) {
			if d := at(&p[i+1]) - at(&p[i]); d > 0 && d < 2*far {
				x := min(1, max(0, (t-at(&p[i]))/d))
				q = q.Slerp(p[i+1].Q.Normalize(), x)
				z += x * (p[i+1].P.Z - z)
			}
		}
		if q.Norm() != q.Norm() || z != z {
			whole, q, z = false, so3.Identity(), 0
		}
		if whole {
			good++
		}
		r.q, r.z, r.whole = append(r.q, q), append(r.z, z), append(r.whole, whole)
	}
	return r, float64(good) * grid
}

// response is a fit of gain, delay and first-order lag. Of thrust there is a slope, too.
type response struct{ gain, delay, lag, slope float64 }

// lags that are tried, s.
var lags = [...]float64{0, 0.005, 0.01, 0.015, 0.02, 0.025, 0.03, 0.035, 0.04, 0.05, 0.06, 0.07, 0.08, 0.1, 0.12, 0.15,
	0.2, 0.25}

// lagged is u after a first-order lag.
func lagged(u []float64, lag float64) []float64 {
	y, b := make([]float64, len(u)), 1.
	if lag > 0 {
		b = 1 - math.Exp(-step/lag)
	}
	x := u[0]
	for i, v := range u {
		x += b * (v - x)
		y[i] = x
	}
	return y
}

// sums are the running integrals of u: the mean of u over steps i … j is (s[j] − s[i])/(j − i).
func sums(u []float64) []float64 {
	s := make([]float64, len(u)+1)
	for i, v := range u {
		s[i+1] = s[i] + v
	}
	return s
}

// turns are the measured mean body rates over turnW grids from each one on; ok where both ends are whole.
func (r *record) turns() (w [3][]float64, ok []bool) {
	n := len(r.q) - turnW
	ok = make([]bool, n)
	for i := range w {
		w[i] = make([]float64, n)
	}
	for k := range n {
		v := so3.Log(r.q[k].Conj().Mul(r.q[k+turnW])).Scale(1 / (turnW * grid))
		w[0][k], w[1][k], w[2][k] = v.X, v.Y, v.Z
		ok[k] = r.whole[k] && r.whole[k+turnW]
	}
	return w, ok
}

// moments of pairs.
type moments struct{ n, x, y, xx, xy, yy float64 }

func (m *moments) add(x, y float64) {
	m.n, m.x, m.y, m.xx, m.xy, m.yy = m.n+1, m.x+x, m.y+y, m.xx+x*x, m.xy+x*y, m.yy+y*y
}

func (m *moments) centred() (xx, xy, yy float64) {
	return m.xx - m.x*m.x/m.n, m.xy - m.x*m.y/m.n, m.yy - m.y*m.y/m.n
}

func (m *moments) correlation() float64 {
	xx, xy, yy := m.centred()
	if !(xx > 0 && yy > 0) {
		return 0
	}
	return xy / math.Sqrt(xx*yy)
}

// delayed is the mean of what s sums, delayed by d steps, over w grids from grid k on.
func delayed(s []float64, k, d, w int) float64 {
	i, j := k*fine2-d, (k+w)*fine2-d
	return (s[j] - s[i]) / float64(j-i)
}

// momentsOf returns those of a commanded rate, with its sign and delayed by d steps, and of a measured one. Grids that
// are not ok are left out.
func momentsOf(commanded []float64, sign float64, d int, measured []float64, ok []bool) (m moments) {
	for k := most; k < len(ok); k++ {
		if ok[k] {
			m.add(sign*delayed(commanded, k, d, turnW), measured[k])
		}
	}
	return m
}

// rateAxes finds which commanded rate each measured one follows, and how surely: the correlation of each.
func (r *record) rateAxes() (axes, [3]float64) {
	w, ok := r.turns()
	best, top := straight, math.Inf(-1)
	var sure [3]float64
	for _, lag := range [...]float64{0.02, 0.08} {
		var s [3][]float64
		for j := range s {
			s[j] = sums(lagged(r.rate[j], lag))
		}
		for d := 0; d < most; d += 4 {
			var c [3][3]float64
			for n := range 9 {
				i, j := n/3, n%3
				m := momentsOf(s[j], 1, d, w[i], ok)
				c[i][j] = m.correlation()
			}
			for _, a := range allAxes {
				var each [3]float64
				sum := 0.0
				for i := range each {
					each[i] = a.sign[i] * c[i][a.of[i]]
					sum += each[i]
				}
				if sum > top+1e-9 {
					top, best, sure = sum, a, each
				}
			}
		}
	}
	return best, sure
}

// fitRates fits one gain, delay and lag to the rates of some axes.
func (r *record) fitRates(a axes, of ...int) response {
	w, ok := r.turns()
	return search(func(lag float64) func(d int) (xx, xy, yy float64) {
		var s [3][]float64
		for _, i := range of {
			s[i] = sums(lagged(r.rate[a.of[i]], lag))
		}
		return func(d int) (xx, xy, yy float64) {
			for _, i := range of {
				m := momentsOf(s[i], a.sign[i], d, w[i], ok)
				x, c, y := m.centred()
				xx, xy, yy = xx+x, xy+c, yy+y
			}
			return xx, xy, yy
		}
	})
}

// fitThrust fits the vertical acceleration that lies in second differences of the height, and returns the correlation
// too.
func (r *record) fitThrust() (response, float64) {
	n := len(r.q) - liftW
	specific := make([]float64, n) // along the body's z
	ok := make([]bool, n)
	const span = liftW * grid
	for k := liftW; k < n; k++ {
		up := r.q[k].ZAxis().Z
		a := (r.z[k+liftW] - 2*r.z[k] + r.z[k-liftW]) / (span * span)
		specific[k] = (a + quad.Gravity) / up
		ok[k] = r.whole[k] && r.whole[k+liftW] && r.whole[k-liftW] && up > 0.5
	}
	correlation := 0.0
	fit := search(func(lag float64) func(d int) (xx, xy, yy float64) {
		s := sums(sums(lagged(r.thrust, lag))[1:])
		const f = liftW * fine2
		return func(d int) (xx, xy, yy float64) {
			var m moments
			for k := max(most, liftW+most/fine2+1); k < n; k++ {
				if ok[k] {
					i := k*fine2 - d
					m.add((s[i+f]-2*s[i]+s[i-f])/(f*f), specific[k])
				}
			}
			xx, xy, yy = m.centred()
			if c := m.correlation(); math.Abs(c) > math.Abs(correlation) {
				correlation = c
			}
			return xx, xy, yy
		}
	})
	return fit, correlation
}

// search finds the lag and the delay that leave least of the measurement; under gives the moments of prediction and
// measurement of each delay in steps. Between the lags that are tried it follows a parabola.
func search(under func(lag float64) func(d int) (xx, xy, yy float64)) response {
	var tried [len(lags)]response
	var left [len(lags)]float64
	least := 0
	for l, lag := range lags {
		tried[l], left[l] = searchDelay(under(lag))
		tried[l].lag = lag
		if left[l] < left[least] {
			least = l
		}
	}
	if least == 0 || least == len(lags)-1 {
		return tried[least]
	}
	a, b, c := tried[least-1], tried[least], tried[least+1]
	up, down := (left[least+1]-left[least])/(c.lag-b.lag), (left[least]-left[least-1])/(b.lag-a.lag)
	if !(up > down) || math.IsInf(up, 0) {
		return b
	}
	// Where the slope, which is known in the middles of both intervals, is zero.
	lag := (a.lag+b.lag)/2 - down*(c.lag-a.lag)/2/(up-down)
	near, x := c, (lag-b.lag)/(c.lag-b.lag)
	if lag < b.lag {
		near, x = a, (b.lag-lag)/(b.lag-a.lag)
	}
	return response{gain: b.gain + x*(near.gain-b.gain), delay: b.delay + x*(near.delay-b.delay), lag: lag}
}

// searchDelay finds the delay that leaves least of the measurement, and what it leaves. Between two steps it follows a
// parabola.
func searchDelay(of func(d int) (xx, xy, yy float64)) (best response, least float64) {
	var left [most]float64
	least, at := math.Inf(1), 0
	for d := range left {
		left[d] = math.Inf(1)
		xx, xy, yy := of(d)
		if !(xx > 0) {
			continue
		}
		if left[d] = yy - xy*xy/xx; left[d] < least {
			least, at, best = left[d], d, response{gain: xy / xx, delay: float64(d) * step}
		}
	}
	if at > 0 && at < most-1 {
		before, after := left[at-1]-least, left[at+1]-least
		if curve := before + after; curve > 0 && !math.IsInf(curve, 0) {
			best.delay += step * (before - after) / (2 * curve)
			least -= (before - after) * (before - after) / (8 * curve)
		}
	}
	return best, least
}
