package quadrotor

import (
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/nn/kernel"
	"vnd/pkg/robot"
)

// State layout of the quadrotor.
const (
	iP         = 0  // p_W, m
	iQ         = 3  // q_WB (w, x, y, z)
	iV         = 7  // v_W, m/s
	iT         = 10 // lagged thrust, m/s²
	iW         = 11 // lagged body rates, rad/s
	iD         = 14 // delay line: the last MaxDelay commands (thrust, rates), youngest first
	nS         = iD + 4*MaxDelay
	nM         = 10
	nA         = 4
	nU         = 9 // Δp, Δv, Δξ
	nX         = 30
	nC         = 32
	uP, uV, uR = 0, 3, 6
)

// Quadrotor is the nominal rigid body with its actuator: ṗ = v, v̇ = T z_B − g e₃ by RK4 with the attitude turning at
// the constant body rate, q' = q ⊗ Exp(ω Δt) (paper, "Physics prior and residual head"), where T and ω are the lagged
// commands.
type Quadrotor[F kernel.Float] struct {
	dt       F
	channels [nA]channel[F] // of thrust and of the three body rates
	noPrior  bool
	world    bool // the tangent of the residual, and the features, are in the world frame instead of the body's
}

// channel is one actuator chain in the arithmetic of F.
type channel[F kernel.Float] struct {
	gain, blend F
	tap         int // index into (a, delay line…) of the younger command
	elder       F   // weight of the elder command
}

// NewQuadrotor returns the nominal quadrotor for control steps of dt seconds.
func NewQuadrotor[F kernel.Float](dt float64, a Actuator) *Quadrotor[F] {
	mk := func(gain, delay, lag float64) channel[F] {
		i, f := tap(delay)
		if i < 0 || i >= MaxDelay || math.IsNaN(f) { // as an integer, no number is another one on each processor
			panic("quadrotor: a delay beside the delay line")
		}
		return channel[F]{F(gain), F(blend(lag, dt)), i, F(f)}
	}
	turn := mk(a.RateGain, a.RateDelay, a.RateLag)
	return &Quadrotor[F]{dt: F(dt), channels: [nA]channel[F]{mk(a.ThrustGain, a.ThrustDelay, a.ThrustLag), turn, turn,
		mk(a.RateGain, a.RateDelay, a.RateLag+a.YawLag)}}
}

// WithoutPrior returns the ablation whose f_prior keeps the measured state as it is, so that the residual has to learn
// the whole transition (paper, "w/o residual prior").
func (m Quadrotor[F]) WithoutPrior() *Quadrotor[F] {
	m.noPrior = true
	return &m
}

// InWorld returns the system whose residual and features are vectors of the world instead of the body.
func (m Quadrotor[F]) InWorld() *Quadrotor[F] {
	m.world = true
	return &m
}

// Dims implements System.
func (m *Quadrotor[F]) Dims() robot.Dims {
	return robot.Dims{State: nS, Measured: nM, Action: nA, Tangent: nU, Inputs: nX, Context: nC}
}

// tangentSpans are looked at in flight, where nothing is allocated.
var tangentSpans = []robot.Span{span("position", uP, uV), span("velocity", uV, uR), span("rotation", uR, nU)}

// TangentSpans implements System.
func (m *Quadrotor[F]) TangentSpans() []robot.Span { return tangentSpans }

// GainDrift implements System: thrust follows battery and calibration.
func (m *Quadrotor[F]) GainDrift() robot.Span { return span("thrust", 0, 1) }

// delayed returns the command of channel c, component j, that acts now.
func (c *channel[F]) delayed(s, a []F, j int) F {
	y := a[j]
	if c.tap > 0 {
		y = s[iD+4*(c.tap-1)+j]
	}
	if c.elder == 0 {
		return y
	}
	return y + c.elder*(s[iD+4*c.tap+j]-y)
}

// delayedVJP adds the gradient of delayed.
func (c *channel[F]) delayedVJP(ds, da []F, j int, dy F) {
	young := dy * (1 - c.elder)
	switch {
	case c.tap > 0:
		ds[iD+4*(c.tap-1)+j] += young
	case da != nil:
		da[j] += young
	}
	ds[iD+4*c.tap+j] += dy * c.elder
}

// act writes what the actuator does over this step: e = (thrust, rates).
func (m *Quadrotor[F]) act(s, a []F) (e [nA]F) {
	for j := range e {
		c := &m.channels[j]
		e[j] = s[iT+j] + c.blend*(c.gain*c.delayed(s, a, j)-s[iT+j])
	}
	return e
}

func (m *Quadrotor[F]) actVJP(ds, da []F, de *[nA]F) {
	for j := range de {
		c := &m.channels[j]
		ds[iT+j] += de[j] * (1 - c.blend)
		c.delayedVJP(ds, da, j, de[j]*c.blend*c.gain)
	}
}

// Step implements System.
func (m *Quadrotor[F]) Step(B int, s, a, d, next []F) {
	s, a, d, next = kernel.Need(s, B*nS), kernel.Need(a, B*nA), kernel.Need(d, B*nU), kernel.Need(next, B*nS)
	if !m.world && native[F]() {
		m.stepC(B, kernel.Float32s(s), kernel.Float32s(a), kernel.Float32s(d), kernel.Float32s(next))
		return
	}
	for b := range B {
		m.step(s[b*nS:][:nS], a[b*nA:][:nA], d[b*nU:][:nU], next[b*nS:][:nS])
	}
}

func (m *Quadrotor[F]) step(s, a, d, next []F) {
	e := m.act(s, a)
	q := quatAt(s)
	p, v, dp, dv := vec(s[iP:]), vec(s[iV:]), vec(d[uP:]), vec(d[uV:])
	if !m.world {
		var r matrix[F]
		q.matrix(r[:])
		dp, dv = r.times(dp), r.times(dv)
	}
	if !m.noPrior {
		p, q, v = m.rigid(p, q, v, &e)
	}
	q = q.mul(exp(vec(d[uR:])))
	for j := range 3 {
		next[iP+j] = p[j] + dp[j]
		next[iV+j] = v[j] + dv[j]
	}
	next[iQ], next[iQ+1], next[iQ+2], next[iQ+3] = q.w, q.x, q.y, q.z
	copy(next[iT:iD], e[:])
	copy(next[iD+4:nS], s[iD:nS-4])
	copy(next[iD:iD+4], a)
}

// rigid integrates the rigid body over Δt: RK4 with k₂ = k₃, because v̇ does not depend on v.
func (m *Quadrotor[F]) rigid(p [3]F, q quat[F], v [3]F, e *[4]F) ([3]F, quat[F], [3]F) {
	h := m.dt / 2
	half := exp([3]F{e[1] * h, e[2] * h, e[3] * h})
	q2 := q.mul(half)
	q4 := q2.mul(half)
	z1, z2, z4 := q.zAxis(), q2.zAxis(), q4.zAxis()
	c := e[0] * m.dt / 6
	g := [3]F{0, 0, quad.Gravity * m.dt}
	for j := range 3 {
		p[j] += m.dt*v[j] + m.dt*(c*(z1[j]+2*z2[j])-g[j]/2)
		v[j] += c*(z1[j]+4*z2[j]+z4[j]) - g[j]
	}
	return p, q4, v
}

// StepVJP implements System.
func (m *Quadrotor[F]) StepVJP(B int, s, a, d, dnext, ds, da, dd []F) {
	s, a, d, dnext = kernel.Need(s, B*nS), kernel.Need(a, B*nA), kernel.Need(d, B*nU), kernel.Need(dnext, B*nS)
	ds, da, dd = kernel.Need(ds, B*nS), kernel.Maybe(da, B*nA), kernel.Need(dd, B*nU)
	if !m.world && native[F]() {
		m.stepVJPC(B, kernel.Float32s(s), kernel.Float32s(a), kernel.Float32s(d), kernel.Float32s(dnext),
			kernel.Float32s(ds), kernel.Float32s(da), kernel.Float32s(dd))
		return
	}
	for b := range B {
		var dab []F
		if da != nil {
			dab = da[b*nA:][:nA]
		}
		m.stepVJP(s[b*nS:][:nS], a[b*nA:][:nA], d[b*nU:][:nU], dnext[b*nS:][:nS], ds[b*nS:][:nS], dab, dd[b*nU:][:nU])
	}
}

func (m *Quadrotor[F]) stepVJP(s, a, d, dnext, ds, da, dd []F) {
	e := m.act(s, a)
	q := quatAt(s)
	var dq quat[F]
	gp, gv := vec(dnext[iP:]), vec(dnext[iV:])
	if !m.world {
		var r, dr matrix[F]
		for i := range 3 {
			for j := range 3 {
				dr[3*i+j] = gp[i]*d[uP+j] + gv[i]*d[uV+j]
			}
		}
		q.matrixVJP(dr[:], &dq)
		q.matrix(r[:])
		gp, gv = r.back(gp), r.back(gv)
	}
	for j := range 3 {
		dd[uP+j] += gp[j]
		dd[uV+j] += gv[j]
		ds[iP+j] += dnext[iP+j]
		ds[iV+j] += dnext[iV+j]
	}
	dq1 := quat[F]{dnext[iQ], dnext[iQ+1], dnext[iQ+2], dnext[iQ+3]}
	turn := exp(vec(d[uR:]))
	de := [4]F{dnext[iT], dnext[iW], dnext[iW+1], dnext[iW+2]}
	var half, q2 quat[F]
	q4 := q
	if !m.noPrior {
		h := m.dt / 2
		half = exp([3]F{e[1] * h, e[2] * h, e[3] * h})
		q2 = q.mul(half)
		q4 = q2.mul(half)
	}
	dq4, dturn := mulVJP(q4, turn, dq1)
	dxi := expVJP(vec(d[uR:]), dturn)
	for j := range 3 {
		dd[uR+j] += dxi[j]
	}
	if !m.noPrior {
		dq4 = m.rigidVJP(&[3]quat[F]{q, q2, q4}, half, &e, vec(dnext[iP:]), dq4, vec(dnext[iV:]), &de)
		for j := range 3 {
			ds[iV+j] += m.dt * dnext[iP+j]
		}
	}
	dq.plus(dq4).addTo(ds[iQ:])
	m.actVJP(ds, da, &de)
	for j := range nS - iD - 4 {
		ds[iD+j] += dnext[iD+4+j]
	}
	if da != nil {
		for j := range nA {
			da[j] += dnext[iD+j]
		}
	}
}

// rigidVJP returns the gradient at q and adds that at e. at are the attitudes of the step's beginning, middle and end,
// a turn of half apart.
func (m *Quadrotor[F]) rigidVJP(at *[3]quat[F], half quat[F], e *[4]F, dp [3]F, dq4 quat[F], dv [3]F,
	de *[4]F) quat[F] {
	h := m.dt / 2
	w := [3]F{e[1] * h, e[2] * h, e[3] * h}
	q, q2, q4 := at[0], at[1], at[2]
	z1, z2, z4 := q.zAxis(), q2.zAxis(), q4.zAxis()
	c := e[0] * m.dt / 6
	var dz1, dz2, dz4 [3]F
	var dc F
	for j := range 3 {
		x, y := m.dt*dp[j], dv[j]
		dc += x*(z1[j]+2*z2[j]) + y*(z1[j]+4*z2[j]+z4[j])
		dz1[j] = c * (x + y)
		dz2[j] = c * (2*x + 4*y)
		dz4[j] = c * y
	}
	de[0] += dc * m.dt / 6
	q4.zAxisVJP(dz4, &dq4)
	dq2, dhalf := mulVJP(q2, half, dq4)
	q2.zAxisVJP(dz2, &dq2)
	dq, dhalf2 := mulVJP(q, half, dq2)
	q.zAxisVJP(dz1, &dq)
	dw := expVJP(w, dhalf.plus(dhalf2))
	for j := range 3 {
		de[1+j] += dw[j] * h
	}
	return dq
}

// Minus implements System: Euclidean differences of p and v, Log(q₀⁻¹ ⊗ q₁) for attitude.
func (m *Quadrotor[F]) Minus(B int, s1 []F, stride1 int, s0 []F, stride0 int, e []F) {
	for b := range B {
		x, y, o := s1[b*stride1:][:nM], s0[b*stride0:][:nM], e[b*nU:][:nU]
		for j := range 3 {
			o[uP+j] = x[iP+j] - y[iP+j]
			o[uV+j] = x[iV+j] - y[iV+j]
		}
		r := logQ(quatAt(y).conj().mul(quatAt(x)))
		copy(o[uR:], r[:])
	}
}

// MinusVJP implements System.
func (m *Quadrotor[F]) MinusVJP(B int, s1 []F, stride1 int, s0 []F, stride0 int, de, ds1 []F) {
	for b := range B {
		x, y, g, o := s1[b*stride1:][:nM], s0[b*stride0:][:nM], de[b*nU:][:nU], ds1[b*stride1:][:nM]
		for j := range 3 {
			o[iP+j] += g[uP+j]
			o[iV+j] += g[uV+j]
		}
		q0 := quatAt(y).conj()
		dr := logVJP(q0.mul(quatAt(x)), vec(g[uR:]))
		dx := q0.conj().mul(dr) // the pullback of q ↦ q₀⁻¹ ⊗ q is q₀ ⊗ ·
		dx.addTo(o[iQ:])
	}
}
