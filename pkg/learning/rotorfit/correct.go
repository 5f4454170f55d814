package rotorfit

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"vnd/pkg/robot/rotors"
)

// Correction is a linear function, for each step h, of what is known at the start and of the motors up to there: the
// mean of what rollouts miss. It is fitted by ridge regression in the heading frame of the start.
type Correction struct {
	// Lags are the rows before the start whose state is known, besides the start's own; none without history.
	Lags    []int `json:"lags,omitempty"`
	Outputs int   `json:"outputs"` // of p, v, R and w, the first so many numbers are corrected
	// Weights are [step − 1][feature][output], the last feature being 1.
	Weights [][][]float64 `json:"weights"`
	Motor   float64       `json:"motor"` // unit of the motors
}

// Sizes of the features.
const (
	moments    = 5  // Legendre moments of the motors' patterns over the steps
	startSize  = 8  // velocity, tilt, rates at the start
	lagSize    = 11 // the same and the displacement, against the start
	pathSize   = 11 // velocity and displacement against the start, tilt, rates of a predicted state
	blockRows  = 10 // of the mean of past motors
	patternSum = 4
)

// What corrections take by default: rows from one start to the next, and the penalty.
const (
	CorrectionStride = 10
	CorrectionRidge  = .01
)

// LagsOf returns the lags that a history of so many rows has.
func LagsOf(history int) (lags []int) {
	for _, lag := range []int{5, 10, 20, 40} {
		if lag <= history {
			lags = append(lags, lag)
		}
	}
	return lags
}

// size is the number of features, the constant one included.
func (c *Correction) size() int {
	n := startSize + 2*pathSize + moments*patternSum + 1
	if len(c.Lags) > 0 {
		n += len(c.Lags)*lagSize + c.blocks()*patternSum
	}
	return n
}

// blocks is how many means of past motors there are.
func (c *Correction) blocks() int { return c.Lags[len(c.Lags)-1] / blockRows }

// History is how many rows before the start are used.
func (c *Correction) History() int {
	if len(c.Lags) == 0 {
		return 0
	}
	return c.Lags[len(c.Lags)-1]
}

// heading is the rotation about z that takes the world to a start's heading.
type heading struct{ cos, sin float64 }

func headingOf(x *[rotors.Measured]float64) heading {
	yaw := math.Atan2(2*(x[4]*x[5]+x[3]*x[6]), 1-2*(x[5]*x[5]+x[6]*x[6]))
	return heading{math.Cos(yaw), math.Sin(yaw)}
}

// into appends v − from in the heading frame.
func (g heading) into(out []float64, v, from []float64) []float64 {
	x, y := v[0]-from[0], v[1]-from[1]
	return append(out, g.cos*x+g.sin*y, -g.sin*x+g.cos*y, v[2]-from[2])
}

// back adds to v what w is in the heading frame.
func (g heading) back(v, w []float64) {
	v[0] += g.cos*w[0] - g.sin*w[1]
	v[1] += g.sin*w[0] + g.cos*w[1]
	v[2] += w[2]
}

// tilt appends the horizontal part of the thrust axis in the heading frame.
func (g heading) tilt(out []float64, q []float64) []float64 {
	x, y := 2*(q[1]*q[3]+q[0]*q[2]), 2*(q[2]*q[3]-q[0]*q[1])
	return append(out, g.cos*x+g.sin*y, -g.sin*x+g.cos*y)
}

// patterns appends the sum of the motors and their roll, pitch and yaw parts.
func patterns(out []float64, m *[4]float64) []float64 {
	return append(out, m[0]+m[1]+m[2]+m[3], -m[0]-m[1]+m[2]+m[3], -m[0]+m[1]+m[2]-m[3], -m[0]+m[1]-m[2]+m[3])
}

var zero [3]float64

// known appends the features that do not depend on the step.
func (c *Correction) known(out []float64, f *rotors.Flight, row int) []float64 {
	x := &f.State[row]
	g := headingOf(x)
	out = append(g.tilt(g.into(out, x[7:10], zero[:]), x[3:7]), x[10:13]...)
	if len(c.Lags) == 0 {
		return out
	}
	for _, lag := range c.Lags {
		y := &f.State[row-lag]
		out = append(g.tilt(g.into(out, y[7:10], x[7:10]), y[3:7]), y[10:13]...)
		out = g.into(out, x[:3], y[:3])
	}
	for b := range c.blocks() {
		var mean [4]float64
		for k := 1; k <= blockRows; k++ {
			for i, m := range f.Motors[row-b*blockRows-k] {
				mean[i] += m / blockRows / c.Motor
			}
		}
		out = patterns(out, &mean)
	}
	return out
}

// features appends those of step h: of the prediction at h and half of it, of the motors before h, and 1.
func (c *Correction) features(out []float64, f *rotors.Flight, row, h int,
	states [][rotors.Measured]float64) []float64 {
	x := &f.State[row]
	g := headingOf(x)
	for _, at := range []int{h, max(h/2, 1)} {
		y := &states[at-1]
		out = append(g.tilt(g.into(g.into(out, y[7:10], x[7:10]), y[:3], x[:3]), y[3:7]), y[10:13]...)
	}
	var sums [moments][4]float64
	for k, m := range f.Motors[row : row+h] {
		p := legendre(2*(float64(k)+.5)/float64(h) - 1)
		for i := range sums {
			for j := range m {
				sums[i][j] += p[i] * m[j] / float64(h) / c.Motor
			}
		}
	}
	for i := range sums {
		out = patterns(out, &sums[i])
	}
	return append(out, 1)
}

// legendre are the polynomials of degree 0 … 4 at t.
func legendre(t float64) [moments]float64 {
	p := [moments]float64{1, t}
	for n := 1; n+1 < moments; n++ {
		p[n+1] = (float64(2*n+1)*t*p[n] - float64(n)*p[n-1]) / float64(n+1)
	}
	return p
}

// missed appends truth ⊖ prediction: p and v in the heading frame of the start, rotation vector and rates in the body.
func missed(out []float64, g heading, x, truth *[rotors.Measured]float64) []float64 {
	out = g.into(g.into(out, truth[:3], x[:3]), truth[7:10], x[7:10])
	d := difference([4]float64(x[3:7]), [4]float64(truth[3:7]))
	out = append(out, d[:]...)
	return append(out, truth[10]-x[10], truth[11]-x[11], truth[12]-x[12])
}

// apply corrects the predictions of one flight.
func (c *Correction) apply(p *Predictions) {
	steps := len(c.Weights)
	var x []float64
	for i, row := range p.Starts {
		g := headingOf(&p.Flight.State[row])
		x = c.known(x[:0], p.Flight, row)
		known := len(x)
		raw := append([][rotors.Measured]float64{}, p.States[i]...)
		for h := 1; h <= min(steps, len(raw)); h++ {
			x = c.features(x[:known], p.Flight, row, h, raw)
			var add [12]float64
			for j, w := range c.Weights[h-1] {
				for k, weight := range w {
					add[k] += weight * x[j]
				}
			}
			y := &p.States[i][h-1]
			g.back(y[:3], add[:3])
			g.back(y[7:10], add[3:6])
			turn(y, [3]float64(add[6:9]))
			for k := range 3 {
				y[10+k] += add[9+k]
			}
		}
	}
}

// turn multiplies the attitude by the rotation vector d, of the body.
func turn(x *[rotors.Measured]float64, d [3]float64) {
	w, i, j, k := x[3], x[4], x[5], x[6]
	a, b, c := d[0]/2, d[1]/2, d[2]/2
	x[3], x[4], x[5], x[6] = w-i*a-j*b-k*c, i+w*a+j*c-k*b, j+w*b+k*a-i*c, k+w*c+i*b-j*a
	unit(x)
}

// Correct fits a correction to what models miss on flights, from every stride rows. ridge is the penalty on weights,
// in units of the features' own sum of squares.
func Correct(ctx context.Context, models []*rotors.Model, flights []*rotors.Flight, steps, stride, outputs int,
	lags []int, ridge float64) (*Correction, error) {
	c := &Correction{Lags: lags, Outputs: outputs, Motor: models[0].Config.Motor}
	var all []*Predictions
	rows := 0
	for _, f := range flights {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		starts := f.Starts(max(models[0].Config.History, c.History()), stride, steps)
		all = append(all, rollOut(models, f, starts, steps))
		rows += len(starts)
	}
	if rows == 0 {
		return nil, fmt.Errorf("no flight has %d rows without a gap", steps+1)
	}
	n := c.size()
	x, y := mat.NewDense(rows, n, nil), mat.NewDense(rows, outputs, nil)
	for h := 1; h <= steps; h++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		at := 0
		for _, p := range all {
			for i, row := range p.Starts {
				c.features(c.known(x.RawRowView(at)[:0], p.Flight, row), p.Flight, row, h, p.States[i])
				g := headingOf(&p.Flight.State[row])
				var e [12]float64
				missed(e[:0], g, &p.States[i][h-1], &p.Flight.State[row+h])
				copy(y.RawRowView(at), e[:])
				at++
			}
		}
		w, err := ridgeOf(x, y, ridge)
		if err != nil {
			return nil, fmt.Errorf("correction of step %d: %w", h, err)
		}
		c.Weights = append(c.Weights, w)
	}
	return c, nil
}

// ridgeOf solves for weights [feature][output]. The last feature is 1 and bears no penalty beside its own; the others
// are centred and scaled first.
func ridgeOf(x, y *mat.Dense, ridge float64) ([][]float64, error) {
	rows, n := x.Dims()
	_, outputs := y.Dims()
	mean, deviation := make([]float64, n), make([]float64, n)
	for i := range rows {
		for j, v := range x.RawRowView(i) {
			mean[j] += v / float64(rows)
		}
	}
	for i := range rows {
		for j, v := range x.RawRowView(i) {
			deviation[j] += square(v-mean[j]) / float64(rows)
		}
	}
	mean[n-1], deviation[n-1] = 0, 1
	for j := range deviation {
		deviation[j] = math.Sqrt(deviation[j]) + 1e-9
	}
	for i := range rows {
		r := x.RawRowView(i)
		for j := range r {
			r[j] = (r[j] - mean[j]) / deviation[j]
		}
	}
	var gram mat.SymDense
	gram.SymOuterK(1, x.T())
	for j := range n {
		gram.SetSym(j, j, gram.At(j, j)+ridge*float64(rows))
	}
	var factor mat.Cholesky
	if !factor.Factorize(&gram) {
		return nil, fmt.Errorf("%d features of %d rows are not independent", n, rows)
	}
	var right, solved mat.Dense
	right.Mul(x.T(), y)
	if err := factor.SolveTo(&solved, &right); err != nil {
		return nil, err
	}
	weights := make([][]float64, n)
	for j := range weights {
		weights[j] = make([]float64, outputs)
		for k := range weights[j] {
			weights[j][k] = solved.At(j, k) / deviation[j]
			if j < n-1 {
				solved.Set(n-1, k, solved.At(n-1, k)-mean[j]*weights[j][k])
			}
		}
	}
	return weights, nil
}
