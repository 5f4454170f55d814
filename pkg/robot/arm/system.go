package arm

import (
	"vnd/pkg/nn/kernel"
	"vnd/pkg/robot"
)

// Sizes of a state or tangent, of actions, of inputs and of a row of the window.
const (
	nS, nA = 2 * Joints, Joints
	nX     = nS + nA
	nC     = nX + nS
)

// Arm is s' = f(s, a) ⊕ d: s has angles, rad, and rates, rad/s; a is torques, N·m. In each of the integrator's steps
// accelerations are constant. Its arithmetic is in float64, or in the float32 of the C kernels.
type Arm[F kernel.Float] struct {
	chain *Chain
	steps int
	h     float64 // s, of one of them
}

// New returns the system of an arm.
func New[F kernel.Float](r Robot) *Arm[F] {
	n := max(r.Steps, 1)
	return &Arm[F]{r.Chain(), n, r.Dt / float64(n)}
}

// Dims implements System.
func (m *Arm[F]) Dims() robot.Dims {
	return robot.Dims{State: nS, Measured: nS, Action: nA, Tangent: nS, Inputs: nX, Context: nC}
}

func span(name string, lo, hi int) robot.Span { return robot.Span{Name: name, Lo: lo, Hi: hi} }

// TangentSpans implements System.
func (m *Arm[F]) TangentSpans() []robot.Span {
	return []robot.Span{span("rotation", 0, Joints), span("velocity", Joints, nS)}
}

// wrist is the first joint with a small drive.
const wrist = 4

// InputSpans implements System. Spreads are about a third of what joints have either way. An arm that goes along one
// smooth path varies by a tenth of them: a policy that leaves it a little must not be many deviations away, where a net
// says anything.
func (m *Arm[F]) InputSpans() []robot.Span {
	return []robot.Span{
		{Name: "angles", Lo: 0, Hi: Joints, Spread: 0.6},
		{Name: "velocity", Lo: Joints, Hi: nS, Spread: 0.8},
		{Name: "command", Lo: nS, Hi: nS + wrist, Spread: 30},
		{Name: "command of the wrist", Lo: nS + wrist, Hi: nX, Spread: 4},
	}
}

// ContextSpans implements System.
func (m *Arm[F]) ContextSpans() []robot.Span { return append(m.InputSpans(), span("residual", nX, nC)) }

// Rest implements System: it stands ready.
func (m *Arm[F]) Rest(s, a []F) {
	clear(s[:nS])
	for j, q := range Home {
		s[j] = F(q)
	}
	clear(a[:nA])
}

// GainDrift implements System: that of no channel.
func (m *Arm[F]) GainDrift() robot.Span { return span("none", 0, 0) }

// pass is a step of one arm: its dynamics, and where it was before each of the integrator's steps.
type pass struct {
	*Dynamics
	q, v   [][Joints]float64
	tau, a [Joints]float64
}

func (m *Arm[F]) newPass() *pass {
	return &pass{Dynamics: NewDynamics(m.chain), q: make([][Joints]float64, m.steps+1),
		v: make([][Joints]float64, m.steps+1)}
}

// forward takes the steps from s[S] under a[A].
func (m *Arm[F]) forward(p *pass, s, a []F) {
	for j := range Joints {
		p.q[0][j], p.v[0][j], p.tau[j] = float64(s[j]), float64(s[Joints+j]), float64(a[j])
	}
	for k := range m.steps {
		q, v := &p.q[k], &p.v[k]
		p.Place(q[:])
		p.Accelerate(v[:], p.tau[:], p.a[:])
		for j, acc := range p.a {
			p.q[k+1][j] = q[j] + m.h*(v[j]+m.h/2*acc)
			p.v[k+1][j] = v[j] + m.h*acc
		}
	}
}

// Step implements System.
func (m *Arm[F]) Step(B int, s, a, d, next []F) {
	s, a, d, next = kernel.Need(s, B*nS), kernel.Need(a, B*nA), kernel.Need(d, B*nS), kernel.Need(next, B*nS)
	if native[F]() {
		m.stepC(B, kernel.Float32s(s), kernel.Float32s(a), kernel.Float32s(d), kernel.Float32s(next))
		return
	}
	p := m.newPass()
	for b := range B {
		m.forward(p, s[b*nS:][:nS], a[b*nA:][:nA])
		q, v, d, out := &p.q[m.steps], &p.v[m.steps], d[b*nS:][:nS], next[b*nS:][:nS]
		for j := range Joints {
			out[j], out[Joints+j] = F(q[j])+d[j], F(v[j])+d[Joints+j]
		}
	}
}

// StepVJP implements System.
func (m *Arm[F]) StepVJP(B int, s, a, d, dnext, ds, da, dd []F) {
	s, a, dnext = kernel.Need(s, B*nS), kernel.Need(a, B*nA), kernel.Need(dnext, B*nS)
	ds, da, dd = kernel.Need(ds, B*nS), kernel.Maybe(da, B*nA), kernel.Need(dd, B*nS)
	if native[F]() {
		m.stepVJPC(B, kernel.Float32s(s), kernel.Float32s(a), kernel.Float32s(dnext), kernel.Float32s(ds),
			kernel.Float32s(da), kernel.Float32s(dd))
		return
	}
	p := m.newPass()
	for b := range B {
		m.forward(p, s[b*nS:][:nS], a[b*nA:][:nA])
		g := dnext[b*nS:][:nS]
		var gq, gv, gtau [Joints]float64
		for j := range Joints {
			gq[j], gv[j] = float64(g[j]), float64(g[Joints+j])
		}
		for k := m.steps - 1; k >= 0; k-- {
			m.back(p, k, &gq, &gv, &gtau)
		}
		kernel.Axpy(1, g, dd[b*nS:][:nS])
		for j := range Joints {
			ds[b*nS+j] += F(gq[j])
			ds[b*nS+Joints+j] += F(gv[j])
			if da != nil {
				da[b*nA+j] += F(gtau[j])
			}
		}
	}
}

// back turns the gradients behind the integrator's step k into those before it, and adds that of the torques. As
// a = M⁻¹(τ − b), the gradient λ = M⁻¹ ga of what M a + b leaves of τ leads on to q and v.
func (m *Arm[F]) back(p *pass, k int, gq, gv, gtau *[Joints]float64) {
	q, v := &p.q[k], &p.v[k]
	if m.steps > 1 { // else forward has left it there
		p.Place(q[:])
		p.Accelerate(v[:], p.tau[:], p.a[:])
	}
	var lambda [Joints]float64
	for j := range Joints {
		lambda[j] = m.h * (gv[j] + m.h/2*gq[j])
		gv[j] += m.h * gq[j]
	}
	p.Solve(lambda[:])
	for j := range Joints {
		gtau[j] += lambda[j]
		lambda[j] = -lambda[j]
	}
	p.TorquesVJP(v[:], p.a[:], lambda[:], gq[:], gv[:])
}

// Inputs implements System: angles, rates, torques.
func (m *Arm[F]) Inputs(B int, s, a, x []F) {
	for b := range B {
		copy(x[b*nX:], s[b*nS:][:nS])
		copy(x[b*nX+nS:], a[b*nA:][:nA])
	}
}

// InputsVJP implements System.
func (m *Arm[F]) InputsVJP(B int, s, a, dx, ds, da []F) {
	for b := range B {
		kernel.Axpy(1, dx[b*nX:][:nS], ds[b*nS:][:nS])
		if da != nil {
			kernel.Axpy(1, dx[b*nX+nS:][:nA], da[b*nA:][:nA])
		}
	}
}

// ToWorld implements System: joints have no frame.
func (m *Arm[F]) ToWorld(B int, s, d, w []F) { kernel.Axpy(1, d[:nS*B], w[:nS*B]) }

// ToBody implements System.
func (m *Arm[F]) ToBody(B int, s, w, d []F) { kernel.Axpy(1, w[:nS*B], d[:nS*B]) }

// ToBodyVJP implements System.
func (m *Arm[F]) ToBodyVJP(B int, s, w, dd, ds []F) {}

// Minus implements System. Limits keep angles within a turn.
func (m *Arm[F]) Minus(B int, s1 []F, stride1 int, s0 []F, stride0 int, e []F) {
	for b := range B {
		for j, x := range s1[b*stride1:][:nS] {
			e[b*nS+j] = x - s0[b*stride0+j]
		}
	}
}

// MinusVJP implements System.
func (m *Arm[F]) MinusVJP(B int, s1 []F, stride1 int, s0 []F, stride0 int, de, ds1 []F) {
	for b := range B {
		kernel.Axpy(1, de[b*nS:][:nS], ds1[b*stride1:][:nS])
	}
}

// Window implements System: there is no actuator part.
func (m *Arm[F]) Window(T int, measured, actions, s, ctx, states, r []F) {
	zero, next := make([]F, T*nS), make([]F, T*nS)
	if states != nil {
		copy(states, measured[:T*nS])
	}
	if r != nil || ctx != nil {
		m.Step(T, measured, actions, zero, next)
		m.Minus(T, measured[nS:], nS, next, nS, zero)
	}
	if r != nil {
		copy(r, zero)
	}
	if ctx != nil {
		for i := range T {
			row := ctx[nC*i:][:nC]
			m.Inputs(1, measured[nS*i:], actions[nA*i:], row)
			copy(row[nX:], zero[nS*i:][:nS])
		}
	}
	copy(s, measured[nS*T:][:nS])
}

var _ robot.System[float32] = (*Arm[float32])(nil)
