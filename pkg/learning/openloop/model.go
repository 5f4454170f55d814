package openloop

import (
	"fmt"
	"slices"

	"vnd/pkg/core/quad"
	"vnd/pkg/learning/effects"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// Model is a model out of a bundle, ready to predict.
type Model struct {
	*vnd.Model[float32]
	Robot     quadrotor.Robot
	ID        string  // of the bundle
	Dt        float64 // s
	predictor *vnd.Predictor[quad.Row, quad.Command, quad.State]
	Spread    []float32 // of every prediction so far, if the model is an ensemble
	Interval  *Interval // of its predictions; nil: the bundle has none
}

// LoadModel reads a bundle and refuses one that reads further back than predictions start.
func LoadModel(path string) (*Model, error) {
	b, err := bundle.Read(path)
	if err != nil {
		return nil, err
	}
	m, q, err := vnd.FromBundle(b, quadrotor.Reader)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if m.Net.Context > Context {
		return nil, fmt.Errorf("%s: the model reads %d past rows, predictions start after %d (parameter model.context)",
			path,
			m.Net.Context, Context)
	}
	in, err := intervalOf(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &Model{Model: m, Robot: q, predictor: vnd.NewPredictor(m, q), ID: b.ID, Dt: q.Dt, Interval: in}, nil
}

// Predict implements Predictor.
func (m *Model) Predict(windows [][]quad.Row, future [][]quad.Command, out [][]quad.State) error {
	if err := m.predictor.Predict(windows, future, out); err != nil {
		return err
	}
	if m.Net.Members > 1 {
		m.Spread = append(m.Spread, m.predictor.Spread()...)
	}
	return nil
}

// Latents encodes the windows that end at every stride-th row of a flight.
func (m *Model) Latents(f *quad.Flight, stride int) [][]float64 {
	var out [][]float64
	all := vnd.Latents(m.Model, m.Robot, f.Segments, stride)
	for z := range slices.Chunk(all, m.Net.Latent) {
		one := make([]float64, len(z))
		for i, v := range z {
			one[i] = float64(v)
		}
		out = append(out, one)
	}
	return out
}

// Samples compares samples of the latent prior with the windows that end at every stride-th row of each flight.
func (m *Model) Samples(flights []quad.Flight, stride int) effects.Figures {
	const seed = 1
	conditions := make([][]float32, len(flights))
	for i, f := range flights {
		conditions[i] = vnd.Latents(m.Model, m.Robot, f.Segments, stride)
	}
	return effects.Compare(m.Model, m.Robot, conditions, m.Sample, seed)
}

// residualSteps is the time over which residual accelerations are averaged: of single steps one sees the noise of the
// measured velocities alone.
const residualSteps = 5

// Residuals are accelerations along a stretch of a flight, in the world, by axis, m/s².
type Residuals struct {
	Flight    string
	Seconds   float64      // that they are means of
	T         []float64    // s
	Measured  [3][]float64 // that the rigid body misses
	Predicted [3][]float64 // that the model says of it
}

// Residuals compares, over the longest unbroken stretch of the flights, what the rigid body misses with what the model
// says of it.
func (m *Model) Residuals(flights []quad.Flight) (*Residuals, error) {
	name, seg := "", []quad.Row(nil)
	for _, f := range flights {
		for _, s := range f.Segments {
			if len(s) > len(seg) {
				name, seg = f.Name, s
			}
		}
	}
	n := len(seg) - Context - residualSteps // starts with a context before and the steps after
	if n < 2 {
		return nil, fmt.Errorf("the longest unbroken stretch has %d rows, expected at least %d", len(seg),
			Context+residualSteps+2)
	}
	windows, future := make([][]quad.Row, n), make([][]quad.Command, n)
	rigid, learned := make([][]quad.State, n), make([][]quad.State, n)
	for i := range n {
		k := Context + i
		windows[i] = seg[k-Context : k+1]
		for h := range residualSteps {
			future[i] = append(future[i], seg[k+h].Command)
		}
		rigid[i], learned[i] = make([]quad.State, residualSteps), make([]quad.State, residualSteps)
	}
	if err := (Prior{Dt: m.Dt}).Predict(windows, future, rigid); err != nil {
		return nil, err
	}
	if err := m.Predict(windows, future, learned); err != nil {
		return nil, err
	}
	r := &Residuals{Flight: name, Seconds: residualSteps * m.Dt}
	for i := range n {
		k, end := Context+i, residualSteps-1
		r.T = append(r.T, seg[k].T)
		missed := seg[k+residualSteps].State.V.Sub(rigid[i][end].V).Scale(1 / (residualSteps * m.Dt))
		said := learned[i][end].V.Sub(rigid[i][end].V).Scale(1 / (residualSteps * m.Dt))
		for axis, x := range [3][2]float64{{missed.X, said.X}, {missed.Y, said.Y}, {missed.Z, said.Z}} {
			r.Measured[axis], r.Predicted[axis] = append(r.Measured[axis], x[0]), append(r.Predicted[axis], x[1])
		}
	}
	return r, nil
}

// Windows counts the starts of predictions of n steps in flights.
func Windows(flights []quad.Flight, n, stride int) (count int) {
	for _, f := range flights {
		for _, s := range f.Segments {
			for k := Context; k+n < len(s); k += stride {
				count++
			}
		}
	}
	return count
}
