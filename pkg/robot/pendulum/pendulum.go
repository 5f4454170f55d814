// Package pendulum is a damped pendulum under a torque: the smallest robot, which shows what a robot's package has.
// Shapes are those of package robot.
package pendulum

import (
	"encoding/json"
	"fmt"
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/nn/kernel"
	"vnd/pkg/robot"
)

// Name of the kind of robot in bundles.
const Name = "pendulum"

// Reader reads pendulums from bundles.
var Reader = robot.Reader[Robot]{Name: Name, Read: read}

// Robot is what the System of a pendulum is built from: a point mass on a rod of 1 m.
type Robot struct {
	Dt   float64 `json:"-"`    // s
	Mass float64 `json:"mass"` // kg
	Drag float64 `json:"drag"` // 1/s
}

func read(dt float64, config json.RawMessage) (r Robot, err error) {
	if err = robot.Decode(config, &r); err == nil && !(r.Mass > 0 && r.Drag >= 0) {
		err = fmt.Errorf("mass %g, drag %g", r.Mass, r.Drag)
	}
	if err != nil {
		return r, fmt.Errorf("configuration: %w", err)
	}
	r.Dt = dt
	return r, nil
}

// Kind implements robot.Robot.
func (r Robot) Kind() string { return Name }

// Period implements robot.Robot.
func (r Robot) Period() float64 { return r.Dt }

// Config implements robot.Robot.
func (r Robot) Config() any { return r }

// System implements robot.Robot.
func (r Robot) System() robot.System[float32] { return New[float32](r) }

// Pendulum is s' = f(s, a) ⊕ d: s is the angle from hanging, rad, within ±π, and its rate, rad/s; a is the torque, N·m.
type Pendulum[F kernel.Float] struct {
	dt, torque, drag F // torque: 1/(m l²)
}

// Sizes of a state or tangent, and of inputs.
const (
	nS, nX = 2, 4
	nC     = nX + nS
)

// New returns the system of a pendulum.
func New[F kernel.Float](r Robot) *Pendulum[F] {
	return &Pendulum[F]{dt: F(r.Dt), torque: F(1 / r.Mass), drag: F(r.Drag)}
}

// Dims implements System.
func (p *Pendulum[F]) Dims() robot.Dims {
	return robot.Dims{State: nS, Measured: nS, Action: 1, Tangent: nS, Inputs: nX, Context: nC}
}

func span(name string, lo, hi int) robot.Span { return robot.Span{Name: name, Lo: lo, Hi: hi} }

// TangentSpans implements System.
func (p *Pendulum[F]) TangentSpans() []robot.Span {
	return []robot.Span{span("rotation", 0, 1), span("velocity", 1, 2)}
}

// InputSpans implements System.
func (p *Pendulum[F]) InputSpans() []robot.Span {
	return []robot.Span{span("attitude", 0, 2), span("velocity", 2, 3), span("command", 3, nX)}
}

// ContextSpans implements System.
func (p *Pendulum[F]) ContextSpans() []robot.Span {
	return append(p.InputSpans(), span("residual", nX, nC))
}

// Rest implements System: it hangs.
func (p *Pendulum[F]) Rest(m, a []F) {
	clear(m[:nS])
	a[0] = 0
}

// GainDrift implements System: that of no channel.
func (p *Pendulum[F]) GainDrift() robot.Span { return span("none", 0, 0) }

func sincos[F kernel.Float](x F) (sin, cos F) {
	s, c := math.Sincos(float64(x))
	return F(s), F(c)
}

func wrap[F kernel.Float](x F) F { return F(math.Remainder(float64(x), 2*math.Pi)) }

// Step implements System: one step of Euler.
func (p *Pendulum[F]) Step(B int, s, a, d, next []F) {
	for b := range B {
		angle, rate := s[nS*b], s[nS*b+1]
		sin, _ := sincos(angle)
		next[nS*b] = wrap(angle + p.dt*rate + d[nS*b])
		next[nS*b+1] = rate + p.dt*(p.torque*a[b]-quad.Gravity*sin-p.drag*rate) + d[nS*b+1]
	}
}

// StepVJP implements System.
func (p *Pendulum[F]) StepVJP(B int, s, a, d, dnext, ds, da, dd []F) {
	for b := range B {
		_, cos := sincos(s[nS*b])
		g, h := dnext[nS*b], dnext[nS*b+1]
		ds[nS*b] += g - h*p.dt*quad.Gravity*cos
		ds[nS*b+1] += g*p.dt + h*(1-p.dt*p.drag)
		if da != nil {
			da[b] += h * p.dt * p.torque
		}
		dd[nS*b] += g
		dd[nS*b+1] += h
	}
}

// Inputs implements System: sine and cosine of the angle, rate, torque.
func (p *Pendulum[F]) Inputs(B int, s, a, x []F) {
	for b := range B {
		sin, cos := sincos(s[nS*b])
		x[nX*b], x[nX*b+1], x[nX*b+2], x[nX*b+3] = sin, cos, s[nS*b+1], a[b]
	}
}

// InputsVJP implements System.
func (p *Pendulum[F]) InputsVJP(B int, s, a, dx, ds, da []F) {
	for b := range B {
		sin, cos := sincos(s[nS*b])
		ds[nS*b] += dx[nX*b]*cos - dx[nX*b+1]*sin
		ds[nS*b+1] += dx[nX*b+2]
		if da != nil {
			da[b] += dx[nX*b+3]
		}
	}
}

// ToWorld implements System: a plane has one frame.
func (p *Pendulum[F]) ToWorld(B int, s, d, w []F) { kernel.Axpy(1, d[:nS*B], w[:nS*B]) }

// ToBody implements System.
func (p *Pendulum[F]) ToBody(B int, s, w, d []F) { kernel.Axpy(1, w[:nS*B], d[:nS*B]) }

// ToBodyVJP implements System.
func (p *Pendulum[F]) ToBodyVJP(B int, s, w, dd, ds []F) {}

// Minus implements System: the shorter way round, and the difference of the rates.
func (p *Pendulum[F]) Minus(B int, s1 []F, stride1 int, s0 []F, stride0 int, e []F) {
	for b := range B {
		e[nS*b] = wrap(s1[stride1*b] - s0[stride0*b])
		e[nS*b+1] = s1[stride1*b+1] - s0[stride0*b+1]
	}
}

// MinusVJP implements System.
func (p *Pendulum[F]) MinusVJP(B int, s1 []F, stride1 int, s0 []F, stride0 int, de, ds1 []F) {
	for b := range B {
		ds1[stride1*b] += de[nS*b]
		ds1[stride1*b+1] += de[nS*b+1]
	}
}

// Window implements System: there is no actuator part.
func (p *Pendulum[F]) Window(T int, measured, actions, s, ctx, states, r []F) {
	var zero, next, residual [nS]F
	for i := range T {
		now, a := measured[nS*i:][:nS], actions[i:][:1]
		p.Step(1, now, a, zero[:], next[:])
		p.Minus(1, measured[nS*(i+1):], nS, next[:], nS, residual[:])
		if states != nil {
			copy(states[nS*i:], now)
		}
		if r != nil {
			copy(r[nS*i:], residual[:])
		}
		if ctx != nil {
			p.Inputs(1, now, a, ctx[nC*i:])
			copy(ctx[nC*i+nX:][:nS], residual[:])
		}
	}
	copy(s, measured[nS*T:][:nS])
}

var _ robot.System[float32] = (*Pendulum[float32])(nil)
