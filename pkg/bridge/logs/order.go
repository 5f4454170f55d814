package logs

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"vnd/pkg/core/so3"
)

// place is where a motor stands: forward and to the left of the centre; only the signs count.
type place struct{ x, y float64 }

// corners are the places of our four motors.
var corners = [4]place{{1, -1}, {-1, -1}, {-1, 1}, {1, 1}}

var cornerNames = [4]string{"front right", "rear right", "rear left", "front left"}

// corner is the number of our motor at a place, −1 on an axis.
func (p place) corner() int {
	for i, c := range corners {
		if p.x*c.x > 0 && p.y*c.y > 0 {
			return i
		}
	}
	return -1
}

// reorder puts motors that stand at these places into our order. It reports false, and does nothing, where they are
// not one in each corner.
func reorder(s *Series, places [4]place) bool {
	var from [4]int
	seen := 0
	for i, p := range places {
		c := p.corner()
		if c < 0 {
			return false
		}
		from[c] = i
		seen |= 1 << c
	}
	if seen != 15 {
		return false
	}
	for i := range s.T {
		row := s.Row(i)
		old := [4]float64(row)
		for c := range row {
			row[c] = old[from[c]]
		}
	}
	return true
}

// Order is what a regression of the angular acceleration on the motor commands says about their order.
type Order struct {
	Lag     float64 // s from a command to the acceleration, of the best fit
	R2      float64 // share of roll and pitch acceleration that the motors explain
	Corners [4]int  // our corner of each column of the log, −1 where the signs say none
}

// Right reports whether the columns stand in our order.
func (o *Order) Right() bool { return o.Corners == [4]int{0, 1, 2, 3} }

// Known reports whether the columns are one in each corner.
func (o *Order) Known() bool {
	seen := 0
	for _, c := range o.Corners {
		if c >= 0 {
			seen |= 1 << c
		}
	}
	return seen == 15
}

// String names the corner of each column.
func (o *Order) String() string {
	text := ""
	for i, c := range o.Corners {
		name := "unclear"
		if c >= 0 {
			name = cornerNames[c]
		}
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("m%d %s", i+1, name)
	}
	return text
}

// Least and greatest number of samples, and least share of explained acceleration, that a motor order is read from.
const (
	orderSamples = 100
	orderMost    = 20000
	orderR2      = 0.2
	orderLeast   = 0.02 // where all quarters of the log agree
)

// MotorOrder regresses roll and pitch acceleration, from the measured rates, on the four motor commands, at the lag of
// 0 to 0.1 s that explains most. ok is false where there are too few rows, or too little is explained.
//
// With x forward and y to the left a motor at (x, y) that pushes up turns the body by (y, −x): the signs of the two
// gains are its corner.
func (l *Log) MotorOrder() (best Order, ok bool) {
	gyro, motors := &l.Series[Rates], &l.Series[Motors]
	if !l.Has(Rates) || !l.Has(Motors) {
		return best, false
	}
	step := max(gyro.step(), motors.step(), 0.004)
	first, last := gyro.T[0], gyro.T[len(gyro.T)-1]
	for lag := 0.0; lag <= 0.1; lag += 0.01 {
		if o, fits := l.regress(first, last, lag, step); fits && o.R2 > best.R2 {
			best = o
		}
	}
	return best, best.R2 > orderR2 || best.R2 > orderLeast && l.agree(&best, first, last, step)
}

// agree reports whether each quarter of the log has the same order: little is explained where the gyro is noisy.
func (l *Log) agree(o *Order, first, last, step float64) bool {
	quarter := (last - first) / 4
	for i := range 4 {
		from := first + float64(i)*quarter
		part, ok := l.regress(from, from+quarter, o.Lag, step)
		if !ok || part.Corners != o.Corners {
			return false
		}
	}
	return true
}

// regress fits the accelerations between two times at one lag.
func (l *Log) regress(first, last, lag, step float64) (o Order, ok bool) {
	gyro, motors := &l.Series[Rates], &l.Series[Motors]
	half, gap := max(step, 0.015), max(5*step, 0.02)
	var xtx [5][5]float64
	var xty [5][2]float64
	var sum, squares [2]float64
	n := 0
	for t := first + half; t < last-half; t += max(step, (last-first)/orderMost) {
		var a, b, m [4]float64
		if !l.flying(t) || !gyro.linear(t-half, gap, a[:3]) || !gyro.linear(t+half, gap, b[:3]) ||
			!motors.mean(t-half-lag, 2*half, gap, m[:]) {
			continue
		}
		x := [5]float64{m[0], m[1], m[2], m[3], 1}
		y := [2]float64{(b[0] - a[0]) / (2 * half), (b[1] - a[1]) / (2 * half)}
		for i := range x {
			for j := range x {
				xtx[i][j] += x[i] * x[j]
			}
			for j := range y {
				xty[i][j] += x[i] * y[j]
			}
		}
		for j := range y {
			sum[j] += y[j]
			squares[j] += y[j] * y[j]
		}
		n++
	}
	if n < orderSamples {
		return o, false
	}
	gain, explained, ok := solve(xtx, xty, n)
	if !ok {
		return o, false
	}
	spread := squares[0] + squares[1] - (sum[0]*sum[0]+sum[1]*sum[1])/float64(n)
	o = Order{Lag: lag, R2: 1 - (squares[0]+squares[1]-explained)/spread}
	for i := range o.Corners {
		o.Corners[i] = place{x: -gain[i][1], y: gain[i][0]}.corner()
	}
	return o, spread > 0
}

// solve returns the gains of a least-squares fit and the squares that it explains. A slight ridge keeps motors apart
// that always move together.
func solve(xtx [5][5]float64, xty [5][2]float64, n int) (gain [5][2]float64, explained float64, ok bool) {
	a := mat.NewSymDense(5, nil)
	b := mat.NewDense(5, 2, nil)
	for i := range xtx {
		for j := i; j < 5; j++ {
			a.SetSym(i, j, xtx[i][j])
		}
		a.SetSym(i, i, xtx[i][i]+1e-6*float64(n))
		b.SetRow(i, xty[i][:])
	}
	var c mat.Cholesky
	var x mat.Dense
	if !c.Factorize(a) || c.SolveTo(&x, b) != nil {
		return gain, 0, false
	}
	for i := range gain {
		for j := range gain[i] {
			gain[i][j] = x.At(i, j)
			explained += gain[i][j] * xty[i][j]
		}
	}
	return gain, explained, !math.IsNaN(explained)
}

// flying reports whether the vehicle is in the air at t, as far as the log says.
func (l *Log) flying(t float64) bool {
	s := &l.Series[Flying]
	if i := s.before(t); i >= 0 {
		return s.V[i] != 0
	}
	return len(s.T) == 0
}

// turned is the mean body rate between two attitudes, rad/s.
func (l *Log) turned(i, k int) so3.Vec3 {
	s := &l.Series[Attitude]
	return so3.Log(quat(s.Row(i)).Conj().Mul(quat(s.Row(k)))).Scale(1 / (s.T[k] - s.T[i]))
}

func quat(x []float64) so3.Quat { return so3.Quat{W: x[0], X: x[1], Y: x[2], Z: x[3]}.Normalize() }
