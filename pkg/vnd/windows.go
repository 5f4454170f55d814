package vnd

import "vnd/pkg/nn/kernel"

// Windows is a batch of context windows, read from recorded rows: what the encoder sees, where a rollout starts, and
// what the prior left over in each row.
type Windows[F kernel.Float] struct {
	B         int
	Start     []F // [B][S] state at the window's end, its actuator filtered from the window's commands
	Features  []F // [T][B][C] normalised, time-major
	States    []F // [T][B][S] of every row
	Actions   []F // [T][B][A]
	Residuals []F // [T][B][U] one-step residuals r_i = s_{i+1} ⊖ f_prior(s_i, a_i)

	m             *Model[F]
	ctx, state, r []F // one window, row after row
}

// NewWindows allocates for up to maxB windows.
func (m *Model[F]) NewWindows(maxB int) *Windows[F] {
	d, T := m.dims(), m.Net.Context
	return &Windows[F]{m: m,
		Start: make([]F, maxB*d.State), Features: make([]F, T*maxB*d.Context), States: make([]F, T*maxB*d.State),
		Actions: make([]F, T*maxB*d.Action), Residuals: make([]F, T*maxB*d.Tangent),
		ctx: make([]F, T*d.Context), state: make([]F, T*d.State), r: make([]F, T*d.Tangent)}
}

// Reset begins a batch of B windows.
func (w *Windows[F]) Reset(B int) { w.B = B }

// Set reads window b from measured[T+1][M] and actions[T][A].
func (w *Windows[F]) Set(b int, measured, actions []F) {
	m, d, T := w.m, w.m.dims(), w.m.Net.Context
	m.System.Window(T, measured, actions, w.Start[b*d.State:][:d.State], w.ctx, w.state, w.r)
	m.Context.Apply(w.ctx)
	for t := range T {
		row := t*w.B + b
		copy(w.Features[row*d.Context:][:d.Context], w.ctx[t*d.Context:])
		copy(w.States[row*d.State:][:d.State], w.state[t*d.State:])
		copy(w.Actions[row*d.Action:][:d.Action], actions[t*d.Action:])
		copy(w.Residuals[row*d.Tangent:][:d.Tangent], w.r[t*d.Tangent:])
	}
}
