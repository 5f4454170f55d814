package openloop

import (
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// Sizes of the linear baselines: n features in, m channels out.
const (
	nLin, mLin     = 12, 3
	nRidge, mRidge = 13, 9
)

// Ridge penalties λ, relative to the mean variance of the features; chosen on development flights.
const (
	lambdaLin   = 1e-2
	lambdaRidge = 1e-3
)

// normalEquations accumulates XᵀX, XᵀY and the features' total variance.
type normalEquations struct {
	n, m     int
	xx, xy   []float64 // n×n and n×m, row-major
	variance []float64 // Σ over flights of Σ over rows of (x − its flight's mean)², per feature
}

func newNormalEquations(n, m int) *normalEquations {
	return &normalEquations{n, m, make([]float64, n*n), make([]float64, n*m), make([]float64, n)}
}

// add takes one flight's rows of features x and targets y.
func (e *normalEquations) add(x, y [][]float64) {
	mean := columnMeans(x, e.n)
	for k := range x {
		for i, xi := range x[k] {
			for j, xj := range x[k] {
				e.xx[i*e.n+j] += xi * xj
			}
			for j, yj := range y[k] {
				e.xy[i*e.m+j] += xi * yj
			}
			e.variance[i] += (xi - mean[i]) * (xi - mean[i])
		}
	}
}

// solve returns W = (XᵀX + λ·mean variance·I)⁻¹ XᵀY, n×m.
func (e *normalEquations) solve(lambda float64) (*mat.Dense, error) {
	penalty := 0.0
	for _, v := range e.variance {
		penalty += lambda * v / float64(e.n)
	}
	a := mat.NewSymDense(e.n, e.xx)
	for i := range e.n {
		a.SetSym(i, i, a.At(i, i)+penalty)
	}
	var chol mat.Cholesky
	if !chol.Factorize(a) {
		return nil, errors.New("flights to fit on: not enough movement for a linear fit")
	}
	w := mat.NewDense(e.n, e.m, nil)
	if err := chol.SolveTo(w, mat.NewDense(e.n, e.m, e.xy)); err != nil {
		return nil, fmt.Errorf("flights to fit on: %w", err)
	}
	return w, nil
}

// columnMeans returns the mean of each of n columns.
func columnMeans(x [][]float64, n int) []float64 {
	mean := make([]float64, n)
	for _, row := range x {
		for i, v := range row {
			mean[i] += v / float64(len(x))
		}
	}
	return mean
}

// demean subtracts from each of n columns its mean.
func demean(x [][]float64, n int) {
	mean := columnMeans(x, n)
	for _, row := range x {
		for i := range row {
			row[i] -= mean[i]
		}
	}
}

// apply writes xᵀW to y.
func apply(w *mat.Dense, x, y []float64) {
	raw := w.RawMatrix()
	for j := range y {
		y[j] = 0
	}
	for i, xi := range x {
		for j, wij := range raw.Data[i*raw.Stride : i*raw.Stride+raw.Cols] {
			y[j] += xi * wij
		}
	}
}

// LinRecentMean is the rigid body, one linear map from state and command to the residual acceleration
// that all flights share, and the mean over the window of what that leaves over.
type LinRecentMean struct {
	dt float64
	w  *mat.Dense // nLin×mLin, residual acceleration in m/s²
}

// FitLinRecentMean fits the map by ridge regression; every flight's mean is taken out first, because
// wind and thrust gain differ from flight to flight.
func FitLinRecentMean(dt float64, dev []quad.Flight) (*LinRecentMean, error) {
	eq := newNormalEquations(nLin, mLin)
	for _, f := range dev {
		var x, y [][]float64
		for _, seg := range f.Segments {
			for k := range len(seg) - 1 {
				var row [nLin]float64
				linFeatures(&seg[k].State, &seg[k].Command, &row)
				r := velocityResidual(seg[k:k+2], dt)
				x = append(x, row[:])
				y = append(y, []float64{r.X / dt, r.Y / dt, r.Z / dt})
			}
		}
		demean(x, nLin)
		demean(y, mLin)
		eq.add(x, y)
	}
	w, err := eq.solve(lambdaLin)
	return &LinRecentMean{dt, w}, err
}

// linFeatures writes v, T·z_B, T²·z_B/10 and z_B.
func linFeatures(s *quad.State, a *quad.Command, x *[nLin]float64) {
	z, T := s.Q.ZAxis(), a.Thrust
	x[0], x[1], x[2] = s.V.X, s.V.Y, s.V.Z
	x[3], x[4], x[5] = T*z.X, T*z.Y, T*z.Z
	x[6], x[7], x[8] = 0.1*T*T*z.X, 0.1*T*T*z.Y, 0.1*T*T*z.Z
	x[9], x[10], x[11] = z.X, z.Y, z.Z
}

// residual is the map's residual acceleration, m/s².
func (p *LinRecentMean) residual(s *quad.State, a *quad.Command) so3.Vec3 {
	var x [nLin]float64
	var y [mLin]float64
	linFeatures(s, a, &x)
	apply(p.w, x[:], y[:])
	return so3.Vec3{X: y[0], Y: y[1], Z: y[2]}
}

// Predict implements Predictor.
func (p *LinRecentMean) Predict(windows [][]quad.Row, future [][]quad.Command, out [][]quad.State) error {
	for i, w := range windows {
		var sum so3.Vec3
		for k := range Context {
			r := velocityResidual(w[k:k+2], p.dt).Scale(1 / p.dt)
			sum = sum.Add(r.Sub(p.residual(&w[k].State, &w[k].Command)))
		}
		left := sum.Scale(1.0 / Context)
		s := w[Context].State
		for h, a := range future[i] {
			d := p.residual(&s, &a).Add(left).Scale(p.dt)
			s = push(rigidStep(s, a, p.dt), d, p.dt)
			out[i][h] = s
		}
	}
	return nil
}

// Ridge is the rigid body and one linear one-step residual of all nine channels. It holds nothing of
// the window; it is meant for commands that went through the identified actuator.
type Ridge struct {
	dt float64
	w  *mat.Dense // nRidge×mRidge: Δp in m, Δv in m/s, rotation vector in rad, per step
}

// FitRidge fits the residual by ridge regression on the flights as the actuator passes their commands.
func FitRidge(dt float64, dev []quad.Flight, act CommandFilter) (*Ridge, error) {
	eq := newNormalEquations(nRidge, mRidge)
	for _, f := range dev {
		var x, y [][]float64
		for _, seg := range f.Segments {
			seg = act.Filter(seg)
			for k := range len(seg) - 1 {
				var row [nRidge]float64
				ridgeFeatures(&seg[k].State, &seg[k].Command, &row)
				x = append(x, row[:])
				y = append(y, stateResidual(seg[k:k+2], dt))
			}
		}
		eq.add(x, y)
	}
	w, err := eq.solve(lambdaRidge)
	return &Ridge{dt, w}, err
}

// stateResidual is by how much the rigid body misses the second of two rows: Δp, Δv, rotation vector.
func stateResidual(rows []quad.Row, dt float64) []float64 {
	got, want := rigidStep(rows[0].State, rows[0].Command, dt), rows[1].State
	p, v, r := want.P.Sub(got.P), want.V.Sub(got.V), so3.Log(got.Q.Conj().Mul(want.Q))
	return []float64{p.X, p.Y, p.Z, v.X, v.Y, v.Z, r.X, r.Y, r.Z}
}

// ridgeFeatures writes velocity, tilt, heading, command, thrust along the body axis and one.
func ridgeFeatures(s *quad.State, a *quad.Command, x *[nRidge]float64) {
	z := s.Q.ZAxis()
	*x = [nRidge]float64{
		s.V.X, s.V.Y, s.V.Z, z.X, z.Y, so3.Log(s.Q).Z,
		a.Thrust/10 - 1, a.Rates.X, a.Rates.Y, a.Rates.Z,
		(a.Thrust - 9) * z.X / 5, (a.Thrust - 9) * z.Y / 5, 1,
	}
}

// Predict implements Predictor.
func (p *Ridge) Predict(windows [][]quad.Row, future [][]quad.Command, out [][]quad.State) error {
	var x [nRidge]float64
	var d [mRidge]float64
	for i, w := range windows {
		s := w[Context].State
		for h, a := range future[i] {
			ridgeFeatures(&s, &a, &x)
			apply(p.w, x[:], d[:])
			s = rigidStep(s, a, p.dt)
			s.P = s.P.Add(so3.Vec3{X: d[0], Y: d[1], Z: d[2]})
			s.V = s.V.Add(so3.Vec3{X: d[3], Y: d[4], Z: d[5]})
			s.Q = s.Q.Mul(so3.Exp(so3.Vec3{X: d[6], Y: d[7], Z: d[8]})).Normalize()
			out[i][h] = s
		}
	}
	return nil
}
