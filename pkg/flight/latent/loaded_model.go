package latent

import (
	"fmt"

	"vnd/pkg/core/quad"
	"vnd/pkg/nn/nets"
	"vnd/pkg/robot"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd"
)

// LoadedModel is a model with the buffers to encode one window.
type LoadedModel struct {
	Model *vnd.Model[float32]
	Robot quadrotor.Robot

	every int // ticks per row
	dims  robot.Dims
	rows  *quad.Window

	measured, actions []float32 // [T+1][M], [T][A]
	windows           *vnd.Windows[float32]
	encoder           *nets.EncoderTape[float32]
	z, zero           []float32 // [Z]
	known             bool

	members      []*nets.ResidualTape[float32]
	zs           []float32 // [T][Z] the same in each
	x            []float32 // [T][X]
	y, mean      []float32 // [T][U] of a member, of all
	residuals    []float32 // [T][U] residuals in the world
	novelty      float32
	noveltyKnown bool // novelty is of this window
}

// LoadModel makes a model of the quadrotor q ready to read windows of steps, of which `every` come per row.
func LoadModel(m *vnd.Model[float32], q quadrotor.Robot, every int) (*LoadedModel, error) {
	if every < 1 {
		return nil, fmt.Errorf("latent: %d ticks per row, expected at least 1", every)
	}
	T, Z, d := m.Net.Context, m.Net.Latent, m.System.Dims()
	rows, err := quad.NewWindow(T, q.Dt)
	if err != nil {
		return nil, fmt.Errorf("latent: %w", err)
	}
	f := func(n int) []float32 { return make([]float32, n) }
	r := &LoadedModel{Model: m, Robot: q, every: every, dims: d, rows: rows,
		measured: f((T + 1) * d.Measured), actions: f(T * d.Action), windows: m.NewWindows(1),
		encoder: m.Net.NewEncoderTape(1),
		z:       f(Z), zero: f(Z), zs: f(T * Z), x: f(T * d.Inputs), y: f(T * d.Tangent), mean: f(T * d.Tangent),
		residuals: f(T * d.Tangent)}
	for range m.Net.Members {
		r.members = append(r.members, m.Net.NewResidualTape(T, 0))
	}
	r.windows.Reset(1)
	return r, nil
}

// encode encodes the rows, or takes the prior mean where they are not whole or the model makes no number of them.
func (r *LoadedModel) encode(whole bool) {
	r.known, r.noveltyKnown = whole, false
	if !whole {
		clear(r.z)
		return
	}
	steps := r.rows.Rows()
	for i := range steps {
		s := steps[i].State
		s.P = s.P.Sub(r.Robot.Origin)
		quadrotor.Measured(&s, r.measured[i*r.dims.Measured:])
		if i < len(steps)-1 { // that of the present row is not over yet
			quadrotor.Action(&steps[i].Command, r.actions[i*r.dims.Action:])
		}
	}
	r.windows.Set(0, r.measured, r.actions)
	r.Model.Net.Encode(r.encoder, 1, r.windows.Features, r.z)
	for _, z := range r.z {
		if z*0 != 0 {
			clear(r.z)
			r.known = false
			return
		}
	}
}

// computeNovelty returns the novelty of the window read last. Its rows are one batch: they share the latent.
func (r *LoadedModel) computeNovelty() float32 {
	if r.noveltyKnown {
		return r.novelty
	}
	m, T, U := r.Model, r.Model.Net.Context, r.dims.Tangent
	for t := range T {
		copy(r.zs[t*len(r.z):], r.z)
	}
	m.System.Inputs(T, r.windows.States, r.windows.Actions, r.x)
	m.Inputs.Apply(r.x)
	clear(r.mean)
	for i, tape := range r.members {
		m.Net.Condition(tape, i, T, r.zs)
		m.Net.Residual(tape, i, T, r.x, r.y)
		for k, y := range r.y {
			r.mean[k] += y / float32(len(r.members))
		}
	}
	for k, res := range r.windows.Residuals {
		r.mean[k] = (res - r.mean[k]*m.Output[k%U]) / float32(T)
	}
	clear(r.residuals)
	m.System.ToWorld(T, r.windows.States, r.mean, r.residuals)
	sum := r.residuals[:U]
	for k, l := range r.residuals[U:] {
		sum[k%U] += l
	}
	r.novelty, r.noveltyKnown = m.Novelty(sum), true
	if r.novelty != r.novelty { // no number can be made of this window: nobody knows it
		r.novelty = 1
	}
	return r.novelty
}
