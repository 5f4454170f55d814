package learned

import (
	"vnd/pkg/kernel"
	"vnd/pkg/model"
)

// Rollout runs a batch of B rollouts through the learned dynamics and back: s_{t+1} = f_prior(s_t, a_t) ⊕
// (D(s_t, a_t, z) + c), with z and the anchor c held (paper, "Variational Neural Dynamics Model"). Its tape keeps what
// Backward needs.
type Rollout[F kernel.Float] struct {
	m      *Model[F]
	tapes  []*model.ResidualTape[F] // one, or one for each member of the ensemble
	B      int
	member int // of tapes[0]
	y      []F // [B][U] scratch, a further member's output
	c      []F // [B][U] anchor, its vectors in the world
	dc     []F // [B][U] its gradient
	steps  []step[F]
	x, dx  []F // [B][X] scratch
	dd     []F // [B][U] scratch
}

// step is what one step of the tape keeps: views of the caller's arrays, and its own d.
type step[F kernel.Float] struct {
	s, a, d []F
}

// NewRollout allocates for up to maxB rollouts of maxH steps of one member of the ensemble. Anchored rollouts need T
// steps more.
func (m *Model[F]) NewRollout(maxB, maxH int) *Rollout[F] { return m.newRollout(maxB, maxH, 1) }

// NewMeanRollout allocates rollouts under the mean residual of the ensemble. They have no Backward.
func (m *Model[F]) NewMeanRollout(maxB, maxH int) *Rollout[F] {
	return m.newRollout(maxB, maxH, m.Net.Members)
}

func (m *Model[F]) newRollout(maxB, maxH, members int) *Rollout[F] {
	d := m.dims()
	r := &Rollout[F]{m: m,
		c: make([]F, maxB*d.Tangent), dc: make([]F, maxB*d.Tangent), steps: make([]step[F], maxH),
		x: make([]F, maxB*d.Inputs), dx: make([]F, maxB*d.Inputs), dd: make([]F, maxB*d.Tangent), y: make([]F, maxB*d.Tangent)}
	for range members {
		r.tapes = append(r.tapes, m.Net.NewResidualTape(maxB, maxH))
	}
	for h := range r.steps {
		r.steps[h].d = make([]F, maxB*d.Tangent)
	}
	return r
}

// Begin starts B rollouts under z[B][Z] with ensemble member `member` (a mean rollout takes all), without an anchor.
func (r *Rollout[F]) Begin(member, B int, z []F) {
	r.member, r.B = member, B
	clear(r.c)
	clear(r.dc)
	for i, tape := range r.tapes {
		r.m.Net.Condition(tape, member+i, B, z)
	}
}

// residual writes d_h = D(s, a, z) in the unit of the tangent and records it as step h of the tape.
func (r *Rollout[F]) residual(h int, s, a []F) []F {
	m, d := r.m, r.m.dims()
	x, out := r.x[:r.B*d.Inputs], r.steps[h].d[:r.B*d.Tangent]
	m.System.Inputs(r.B, s, a, x)
	m.Inputs.Apply(x)
	m.Net.ResidualTape(r.tapes[0], r.member, h, r.B, x, out)
	for k := 1; k < len(r.tapes); k++ {
		y := r.y[:len(out)]
		m.Net.Residual(r.tapes[k], r.member+k, r.B, x, y)
		kernel.Axpy(1, y, out)
	}
	share := 1 / F(len(r.tapes))
	for i := range out {
		out[i] *= m.Output[i%d.Tangent] * share
	}
	r.steps[h].s, r.steps[h].a = s, a
	return out
}

// Step writes next[B][S] of step h from s[B][S] and a[B][A], which must stay untouched until Backward.
func (r *Rollout[F]) Step(h int, s, a, next []F) {
	out := r.residual(h, s, a)
	r.m.System.Carry(r.B, s, r.c, out)
	r.m.System.Step(r.B, s, a, out, next)
}

// Backward pulls dnext[B][S] of step h back: it adds to ds[B][S] and, unless nil, da[B][A].
// Call it for the steps in reverse order.
func (r *Rollout[F]) Backward(h int, dnext, ds, da []F) {
	d := r.m.dims()
	st, dd := &r.steps[h], r.dd[:r.B*d.Tangent]
	clear(dd)
	r.m.System.StepVJP(r.B, st.s, st.a, st.d, dnext, ds, da, dd)
	r.m.System.Fix(r.B, st.s, dd, r.dc)
	r.m.System.CarryVJP(r.B, st.s, r.c, dd, ds)
	r.residualBackward(h, dd, ds, da)
}

// residualBackward pulls the gradient dd of step h's residual through the net; dd is overwritten.
func (r *Rollout[F]) residualBackward(h int, dd, ds, da []F) {
	m, d := r.m, r.m.dims()
	for i := range dd {
		dd[i] *= m.Output[i%d.Tangent]
	}
	if ds == nil {
		m.Net.ResidualBackward(r.tapes[0], r.member, h, dd, nil)
		return
	}
	dx := r.dx[:r.B*d.Inputs]
	m.Net.ResidualBackward(r.tapes[0], r.member, h, dd, dx)
	m.Inputs.pull(dx)
	m.System.InputsVJP(r.B, r.steps[h].s, r.steps[h].a, dx, ds, da)
}

// Leftover measures c from the window: the mean over its rows of what D leaves of the measured residuals, [B][U], with
// vectors in the world. It uses the T steps of the tape from h on. The result is the rollout's own anchor, to be weighed by Anchor.
func (r *Rollout[F]) Leftover(h int, w *Windows[F], lo int) []F {
	d, T := r.m.dims(), r.m.Net.Context
	c := r.c[:r.B*d.Tangent]
	clear(c)
	for t := range T {
		row := t*w.B + lo
		s, left := w.States[row*d.State:][:r.B*d.State], r.dd[:len(c)]
		out := r.residual(h+t, s, w.Actions[row*d.Action:][:r.B*d.Action])
		for i, res := range w.Residuals[row*d.Tangent:][:len(c)] {
			left[i] = (res - out[i]) / F(T)
		}
		r.m.System.Fix(r.B, s, left, c)
	}
	return c
}

// Anchor keeps weight[B] and the model's share per channel of the leftover, to be held over the rollout.
func (r *Rollout[F]) Anchor(weight []F) { r.weigh(r.c, weight) }

// AnchorBackward pulls the gradient at c, gathered by Backward, into the window's steps.
func (r *Rollout[F]) AnchorBackward(h int, weight []F) {
	d := r.m.dims()
	r.weigh(r.dc, weight)
	for t := range r.m.Net.Context {
		dd := r.dd[:r.B*d.Tangent]
		clear(dd)
		r.m.System.Carry(r.B, r.steps[h+t].s, r.dc, dd)
		for i := range dd {
			dd[i] /= -F(r.m.Net.Context)
		}
		r.residualBackward(h+t, dd, nil, nil)
	}
}

func (r *Rollout[F]) weigh(c, weight []F) {
	U := r.m.dims().Tangent
	for b := range r.B {
		for j := range U {
			c[b*U+j] *= weight[b] * r.m.Anchor[j]
		}
	}
}

// Grads adds the gradients of the weights to grad and of the latent to dz[B][Z], after the Backward of steps 0 … H−1.
func (r *Rollout[F]) Grads(H int, z, dz, grad []F) {
	r.m.Net.ResidualGrads(r.tapes[0], r.member, H, z, dz, grad)
}
