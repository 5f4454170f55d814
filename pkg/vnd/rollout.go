package vnd

import (
	"math"

	"vnd/pkg/nn/kernel"
	"vnd/pkg/nn/nets"
)

// Rollout runs a batch of B rollouts through the learned dynamics and back: s_{t+1} = f_prior(s_t, a_t) ⊕ (D(s_t, a_t,
// z) + c), with z and the bias correction c held (paper, "Variational Neural Dynamics Model"), or with z pulled to the
// prior mean as it ages. Its tape keeps what Backward needs.
type Rollout[F kernel.Float] struct {
	m      *Model[F]
	taped  bool // keeps what the way back through the nets needs
	kept   bool // keeps what the way back around the nets needs
	phases []phase[F]
	length int // steps of a phase
	now    int // phase that the tapes are conditioned for, without a way back
	B, H   int
	member int  // of the first tape
	y      []F  // [B][U] scratch, a member's output
	spread []F  // [B] summed variance of the members' outputs, in units of the output
	counts int  // steps in spread
	held   bool // there is a bias correction
	c      []F  // [B][U] bias correction, its vectors in the world
	dc     []F  // [B][U] its gradient
	steps  []step[F]
	x, dx  []F // [B][X] scratch
	dd     []F // [B][U] scratch
}

// phase is a stretch of the rollout under one age of the latent.
type phase[F kernel.Float] struct {
	tapes []*nets.ResidualTape[F] // one, or one for each member of the ensemble
	keep  F                       // share of z that is left
	z, dz []F                     // [B][Z]
}

// step is what one step of the tape keeps: views of the caller's arrays, and its own d.
type step[F kernel.Float] struct {
	s, a, d []F
}

// phaseSteps is how often an ageing latent is conditioned anew.
const phaseSteps = 10

// NewRollout allocates for up to maxB rollouts of maxH steps, with a bias correction, of one member of the ensemble.
func (m *Model[F]) NewRollout(maxB, maxH int) *Rollout[F] {
	return m.newRollout(maxB, maxH, 1, true, m.Net.NewResidualTape)
}

// NewPassRollout allocates rollouts of one member of the ensemble whose gradients pass through D to states and actions:
// the model is frozen, and they have no Grads.
func (m *Model[F]) NewPassRollout(maxB, maxH int) *Rollout[F] {
	return m.newRollout(maxB, maxH, 1, true, m.Net.NewPassTape)
}

// NewFrozenRollout allocates rollouts under the mean residual of the ensemble whose Backward takes D for a constant:
// gradients flow through the prior alone. They have no Grads.
func (m *Model[F]) NewFrozenRollout(maxB, maxH int) *Rollout[F] {
	return m.newRollout(maxB, maxH, m.Net.Members, true, nil)
}

// NewMeanRollout allocates rollouts under the mean residual of the ensemble. They have no Backward, and their memory
// does not grow with maxH.
func (m *Model[F]) NewMeanRollout(maxB, maxH int) *Rollout[F] {
	return m.newRollout(maxB, maxH, m.Net.Members, false, nil)
}

// newRollout makes tapes by newTape; nil: none keeps what the way back through the nets needs.
func (m *Model[F]) newRollout(maxB, maxH, members int, kept bool,
	newTape func(maxB, maxH int) *nets.ResidualTape[F]) *Rollout[F] {
	d, T, taped := m.dims(), m.Net.Context, newTape != nil
	if !taped {
		newTape = func(maxB, _ int) *nets.ResidualTape[F] { return m.Net.NewPassTape(maxB, 0) }
	}
	r := &Rollout[F]{m: m, taped: taped, kept: kept, length: maxH,
		c: make([]F, maxB*d.Tangent), dc: make([]F, maxB*d.Tangent), steps: make([]step[F], 1),
		x: make([]F, maxB*d.Inputs), dx: make([]F, maxB*d.Inputs), dd: make([]F, maxB*d.Tangent),
		y: make([]F, maxB*d.Tangent), spread: make([]F, maxB)}
	if m.Age > 0 && m.Net.Latent > 0 {
		r.length = phaseSteps
	}
	for lo := 0; lo < maxH; lo += r.length {
		p := phase[F]{keep: 1}
		if lo > 0 {
			p.keep = F(math.Exp(-float64(lo) / float64(m.Age)))
		}
		n := min(r.length, maxH-lo)
		if lo == 0 {
			n += T // the window's rows, see ResidualMean
		}
		if !taped && lo > 0 {
			p.tapes = r.phases[0].tapes
		}
		for len(p.tapes) < members {
			p.tapes = append(p.tapes, newTape(maxB, n))
		}
		p.z, p.dz = make([]F, maxB*m.Net.Latent), make([]F, maxB*m.Net.Latent)
		r.phases = append(r.phases, p)
	}
	if kept {
		r.steps = make([]step[F], maxH+T)
	}
	for h := range r.steps {
		r.steps[h].d = make([]F, maxB*d.Tangent)
	}
	return r
}

// Begin starts B rollouts of H steps under z[B][Z] with ensemble member `member` (a mean rollout takes all), without a
// bias correction.
func (r *Rollout[F]) Begin(member, B, H int, z []F) {
	r.member, r.B, r.H = member, B, H
	r.held = false
	clear(r.dc)
	clear(r.spread)
	r.counts = 0
	for k := range r.phases {
		p := &r.phases[k]
		for i := range z {
			p.z[i] = p.keep * z[i]
		}
		if r.taped || k == 0 {
			r.condition(p)
		}
	}
	r.now = 0
}

// condition sets the phase's tapes to its latents.
func (r *Rollout[F]) condition(p *phase[F]) {
	for i, tape := range p.tapes {
		r.m.Net.Condition(tape, r.member+i, r.B, p.z[:r.B*r.m.Net.Latent])
	}
}

// at returns the phase of step h and the step's place on its tape. Steps H … H+T−1 are the window's rows, which share
// the first phase.
func (r *Rollout[F]) at(h int) (*phase[F], int) {
	if h >= r.H {
		return &r.phases[0], min(r.length, r.H) + h - r.H
	}
	return &r.phases[h/r.length], h % r.length
}

// residual writes d_h = D(s, a, z) in the unit of the tangent and records it as step h of the tape, if there is one.
func (r *Rollout[F]) residual(h int, s, a []F) []F {
	m, d := r.m, r.m.dims()
	p, k := r.at(h)
	st := &r.steps[0]
	if r.kept {
		st = &r.steps[h]
	}
	x, out := r.x[:r.B*d.Inputs], st.d[:r.B*d.Tangent]
	m.System.Inputs(r.B, s, a, x)
	m.Inputs.Apply(x)
	if r.taped {
		m.Net.ResidualTape(p.tapes[0], r.member, k, r.B, x, out)
	} else {
		if h < r.H && h/r.length != r.now {
			r.now = h / r.length
			r.condition(p)
		}
		r.ensemble(p, x, out)
	}
	kernel.ScaleRows(r.B, m.Output, out)
	st.s, st.a = s, a
	return out
}

// ensemble writes the mean of the members' residuals and adds up their variance.
func (r *Rollout[F]) ensemble(p *phase[F], x, out []F) {
	clear(out)
	y, n, U := r.y[:len(out)], F(len(p.tapes)), r.m.dims().Tangent
	square := r.dd[:len(out)]
	clear(square)
	for i, tape := range p.tapes {
		r.m.Net.Residual(tape, i, r.B, x, y)
		for k, v := range y {
			out[k] += v / n
			square[k] += v * v / n
		}
	}
	for k, mean := range out {
		r.spread[k/U] += max(0, square[k]-mean*mean) / F(U)
	}
	r.counts++
}

// Spread returns, for each of the B rollouts of an ensemble so far, the RMS deviation of the members from their mean,
// in units of the residual's outputs: how much they disagree about where the robot went.
func (r *Rollout[F]) Spread() []F {
	out := make([]F, r.B)
	for b := range out {
		out[b] = F(math.Sqrt(float64(r.spread[b]) / float64(max(r.counts, 1))))
	}
	return out
}

// Step writes next[B][S] of step h from s[B][S] and a[B][A], which must stay untouched until Backward.
func (r *Rollout[F]) Step(h int, s, a, next []F) {
	out := r.residual(h, s, a)
	if r.held {
		r.m.System.ToBody(r.B, s, r.c, out)
	}
	r.m.System.Step(r.B, s, a, out, next)
}

// Backward pulls dnext[B][S] of step h back: it adds to ds[B][S] and, unless nil, da[B][A].
// Call it for the steps in reverse order.
func (r *Rollout[F]) Backward(h int, dnext, ds, da []F) {
	d := r.m.dims()
	st, dd := &r.steps[h], r.dd[:r.B*d.Tangent]
	clear(dd)
	r.m.System.StepVJP(r.B, st.s, st.a, st.d, dnext, ds, da, dd)
	if r.held {
		r.m.System.ToWorld(r.B, st.s, dd, r.dc)
		r.m.System.ToBodyVJP(r.B, st.s, r.c, dd, ds)
	}
	if r.taped {
		r.residualBackward(h, dd, ds, da)
	}
}

// residualBackward pulls the gradient dd of step h's residual through the net; dd is overwritten.
func (r *Rollout[F]) residualBackward(h int, dd, ds, da []F) {
	m, d := r.m, r.m.dims()
	kernel.ScaleRows(r.B, m.Output, dd)
	p, k := r.at(h)
	if ds == nil {
		m.Net.ResidualBackward(p.tapes[0], r.member, k, dd, nil)
		return
	}
	dx := r.dx[:r.B*d.Inputs]
	m.Net.ResidualBackward(p.tapes[0], r.member, k, dd, dx)
	m.Inputs.Pull(dx)
	m.System.InputsVJP(r.B, r.steps[h].s, r.steps[h].a, dx, ds, da)
}

// ResidualMean measures c from the window: the mean over its rows of what D leaves of the measured residuals, [B][U],
// with vectors in the world, for windows lo … lo+B−1. The result is the rollout's own bias correction, to be weighed by
// CorrectBias.
func (r *Rollout[F]) ResidualMean(w *Windows[F], lo int) []F {
	d, T := r.m.dims(), r.m.Net.Context
	c := r.c[:r.B*d.Tangent]
	clear(c)
	for t := range T {
		row := t*w.B + lo
		s, left := w.States[row*d.State:][:r.B*d.State], r.dd[:len(c)]
		out := r.residual(r.H+t, s, w.Actions[row*d.Action:][:r.B*d.Action])
		for i, res := range w.Residuals[row*d.Tangent:][:len(c)] {
			left[i] = (res - out[i]) / F(T)
		}
		r.m.System.ToWorld(r.B, s, left, c)
	}
	clear(r.spread) // of the rollout alone
	r.counts = 0
	return c
}

// CorrectBias keeps weight[B] and the model's share per channel of the residual mean, to be held over the rollout.
func (r *Rollout[F]) CorrectBias(weight []F) {
	r.held = true
	r.weigh(r.c, weight)
}

// CorrectBiasBackward pulls the gradient at c, gathered by Backward, into the window's steps.
func (r *Rollout[F]) CorrectBiasBackward(weight []F) {
	d := r.m.dims()
	r.weigh(r.dc, weight)
	for t := range r.m.Net.Context {
		dd := r.dd[:r.B*d.Tangent]
		clear(dd)
		r.m.System.ToBody(r.B, r.steps[r.H+t].s, r.dc, dd)
		for i := range dd {
			dd[i] /= -F(r.m.Net.Context)
		}
		r.residualBackward(r.H+t, dd, nil, nil)
	}
}

func (r *Rollout[F]) weigh(c, weight []F) {
	U := r.m.dims().Tangent
	for b := range r.B {
		for j := range U {
			c[b*U+j] *= weight[b] * r.m.BiasShare[j]
		}
	}
}

// Grads adds the gradients of the weights to grad and of the latent to dz[B][Z], after the Backward of all steps and,
// if corrected, CorrectBiasBackward.
func (r *Rollout[F]) Grads(corrected bool, dz, grad []F) {
	for k := range r.phases {
		p := &r.phases[k]
		n := min(r.length, r.H-k*r.length)
		if n <= 0 {
			break
		}
		if k == 0 && corrected {
			n += r.m.Net.Context
		}
		own := p.dz[:len(dz)]
		clear(own)
		r.m.Net.ResidualGrads(p.tapes[0], r.member, n, p.z[:len(dz)], own, grad)
		kernel.Axpy(p.keep, own, dz)
	}
}
