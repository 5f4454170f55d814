package rotors

import (
	"sync"

	"vnd/pkg/nn/kernel"
	"vnd/pkg/nn/kernel/tape"
	"vnd/pkg/robot"
	"vnd/pkg/robot/quadrotor"
)

// Sizes and places. The tangent is Δp and Δv in the body, Δξ, Δω; residual inputs are v, world z and ω in the body, the
// rotors' speeds and the motors in typical ones.
const (
	nM, nA, nU      = Measured, 4, 12
	uR, uW          = 6, 9
	xUp, xW         = 3, 6
	xRotors, xMotor = 9, 13
	nX              = 17
	nC              = nX + nU
	rigidU          = uW // of a tangent without body rates
)

// System is a Model without a history as learning takes robots: s is the model's state, a its motors in the unit of
// Config.Input, under a battery at the typical voltage. Shapes are those of package robot.
type System[F kernel.Float] struct {
	*circuit
	theta []float64
	hover F                       // motors that hold the robot
	rigid *quadrotor.Quadrotor[F] // manifold of position, attitude and velocity
}

// circuit is a model's step with a residual added, for any parameters.
type circuit struct {
	config   Config
	index    index
	in       inputs
	residual []reg
	prog     *tape.Program
	out      []reg
	memory   sync.Pool // of *scratch
}

// scratch is what a run of the program takes.
type scratch struct{ x, dx, dtheta []float64 }

func newCircuit(c Config) *circuit {
	k := &circuit{config: c, in: layoutOf(&c)}
	for range nU {
		k.residual = append(k.residual, reg(k.in.count))
		k.in.count++
	}
	b := &builder{Program: tape.New(k.in.count)}
	k.out = b.added(b.step(&c, &k.in), k.in.state, k.residual)
	k.prog, k.index = b.Program, b.index
	k.memory.New = func() any {
		n := k.prog.Registers() * Lanes
		return &scratch{make([]float64, n), make([]float64, n), make([]float64, k.prog.Params())}
	}
	return k
}

// added is next ⊕ d, with the vectors of d in the body at a state.
func (b *builder) added(next, state, d []reg) []reg {
	r := b.rotation(quat(state[atQ:atV]))
	p := b.plus(vec(next[atP:]), b.turn(r, vec(d)))
	v := b.plus(vec(next[atV:]), b.turn(r, vec(d[3:])))
	q := b.product(quat(next[atQ:]), b.exp(b.times(.5, vec(d[uR:]))))
	w := b.plus(vec(next[atW:]), vec(d[uW:]))
	var out []reg
	for _, part := range [][]reg{p[:], q[:], v[:], w[:], next[Measured:]} {
		out = append(out, part...)
	}
	return out
}

// NewSystem returns a model as a System. Its history must be 0.
func NewSystem[F kernel.Float](m *Model) *System[F] {
	if m.Config.History != 0 {
		panic("rotors: a system of a model that wants a history")
	}
	s := &System[F]{newCircuit(m.Config), m.Theta, 0,
		quadrotor.NewQuadrotor[F](m.Config.Period, quadrotor.NominalActuator())}
	s.hover = s.hovering()
	return s
}

// hovering is the command to all motors under which a level robot neither climbs nor sinks, by the secant method.
func (m *System[F]) hovering() F {
	climb := func(motor F) F {
		s := make([]F, m.Dims().State)
		s[atQ] = 1
		m.settle(s, []F{motor, motor, motor, motor}, s)
		return s[atV+2]
	}
	at, before := F(m.config.Motor), F(1.1*m.config.Motor)
	y, was := climb(at), climb(before)
	for i := 0; i < 20 && y != was && y-was == y-was; i++ {
		at, before = at-y*(at-before)/(y-was), at
		y, was = climb(at), y
	}
	return at
}

// Dims implements robot.System.
func (m *System[F]) Dims() robot.Dims {
	return robot.Dims{State: m.config.Size(), Measured: nM, Action: nA, Tangent: nU, Inputs: nX, Context: nC}
}

func span(name string, lo, hi int, spread float32) robot.Span {
	return robot.Span{Name: name, Lo: lo, Hi: hi, Spread: spread}
}

var (
	tangentSpans = []robot.Span{span("position", 0, 3, 0), span("velocity", 3, uR, 0), span("rotation", uR, uW, 0),
		span("rates", uW, nU, 0)}
	inputSpans = []robot.Span{span("velocity", 0, xUp, .2), span("attitude", xUp, xW, .05),
		span("rates", xW, xRotors, .2), span("actuator", xRotors, xMotor, .05), span("command", xMotor, nX, .05)}
	contextSpans = append(asRecorded(inputSpans), span("residual", nX, nC, 0))
)

// asRecorded is of spans whose channels vary as little as they were recorded to.
func asRecorded(spans []robot.Span) (out []robot.Span) {
	for _, s := range spans {
		out = append(out, span(s.Name, s.Lo, s.Hi, 0))
	}
	return out
}

// TangentSpans implements robot.System.
func (m *System[F]) TangentSpans() []robot.Span { return tangentSpans }

// InputSpans implements robot.System.
func (m *System[F]) InputSpans() []robot.Span { return inputSpans }

// ContextSpans implements robot.System.
func (m *System[F]) ContextSpans() []robot.Span { return contextSpans }

// GainDrift implements robot.System: thrust follows the battery.
func (m *System[F]) GainDrift() robot.Span { return span("motors", 0, nA, 0) }

// Rest implements robot.System: level at the origin, under the motors that hover.
func (m *System[F]) Rest(measured, a []F) {
	clear(measured[:nM])
	measured[atQ] = 1
	for i := range nA {
		a[i] = m.hover
	}
}

// Step implements robot.System.
func (m *System[F]) Step(B int, s, a, d, next []F) {
	mem := m.memory.Get().(*scratch)
	defer m.memory.Put(mem)
	S := m.config.Size()
	for lo := 0; lo < B; lo += Lanes {
		n := min(Lanes, B-lo)
		m.forward(mem.x, n, s[lo*S:], a[lo*nA:], d[lo*nU:], 0)
		for i, o := range m.out {
			for l, x := range mem.x[int(o)*Lanes:][:n] {
				next[(lo+l)*S+i] = F(x)
			}
		}
	}
}

// settle writes to next what a step leads to from s[M] with motors that have turned as they do for long.
func (m *System[F]) settle(s, a, next []F) {
	mem := m.memory.Get().(*scratch)
	defer m.memory.Put(mem)
	begin := make([]F, m.config.Size())
	copy(begin, s[:nM])
	m.forward(mem.x, 1, begin, a, make([]F, nU), 1)
	for i, o := range m.out {
		next[i] = F(mem.x[int(o)*Lanes])
	}
}

// forward runs the program for n rows. first is 1 where rotors begin settled.
func (m *System[F]) forward(x []float64, n int, s, a, d []F, first float64) {
	scatter(x, m.in.state, s, n)
	scatter(x, m.in.motors, a, n)
	scatter(x, m.residual, d, n)
	for l := range n {
		x[int(m.in.volts)*Lanes+l], x[int(m.in.first)*Lanes+l] = m.config.Volts, first
	}
	m.prog.Forward(m.theta, x)
}

// scatter writes n rows to the lanes of registers that follow one another.
func scatter[F kernel.Float](x []float64, to []reg, rows []F, n int) {
	for l := range n {
		for i, v := range rows[l*len(to):][:len(to)] {
			x[int(to[i])*Lanes+l] = float64(v)
		}
	}
}

// gather adds the lanes of registers to n rows, which may be nil, and sets the registers to 0.
func gather[F kernel.Float](dx []float64, from []reg, rows []F, n int) {
	for i, r := range from {
		lanes := dx[int(r)*Lanes:][:Lanes]
		for l := range n {
			if rows != nil {
				rows[l*len(from)+i] += F(lanes[l])
			}
		}
	}
}

// StepVJP implements robot.System.
func (m *System[F]) StepVJP(B int, s, a, d, dnext, ds, da, dd []F) {
	mem := m.memory.Get().(*scratch)
	defer m.memory.Put(mem)
	S := m.config.Size()
	for lo := 0; lo < B; lo += Lanes {
		n := min(Lanes, B-lo)
		m.forward(mem.x, n, s[lo*S:], a[lo*nA:], d[lo*nU:], 0)
		clear(mem.dx[:m.in.count*Lanes])
		for i, o := range m.out {
			for l := range n {
				mem.dx[int(o)*Lanes+l] += float64(dnext[(lo+l)*S+i])
			}
		}
		m.prog.Backward(m.theta, mem.x, mem.dx, mem.dtheta)
		gather(mem.dx, m.in.state, ds[lo*S:], n)
		gather(mem.dx, m.residual, dd[lo*nU:], n)
		if da != nil {
			gather(mem.dx, m.in.motors, da[lo*nA:], n)
		}
	}
}

// Inputs implements robot.System.
func (m *System[F]) Inputs(B int, s, a, x []F) {
	S, unit := m.config.Size(), F(m.config.Motor)
	for b := range B {
		s, x, r := s[b*S:][:S], x[b*nX:][:nX], [9]F{}
		quadrotor.Rotation(s[atQ:], r[:])
		for j := range 3 {
			x[j] = r[j]*s[atV] + r[3+j]*s[atV+1] + r[6+j]*s[atV+2]
		}
		copy(x[xUp:], r[6:])
		copy(x[xW:], s[atW:][:3])
		copy(x[xRotors:], s[Measured:][:sizeRotors])
		for j := range nA {
			x[xMotor+j] = a[b*nA+j] / unit
		}
	}
}

// InputsVJP implements robot.System.
func (m *System[F]) InputsVJP(B int, s, a, dx, ds, da []F) {
	S, unit := m.config.Size(), F(m.config.Motor)
	for b := range B {
		s, g, y, r, dr := s[b*S:][:S], ds[b*S:][:S], dx[b*nX:][:nX], [9]F{}, [9]F{}
		quadrotor.Rotation(s[atQ:], r[:])
		copy(dr[6:], y[xUp:])
		for i := range 3 {
			for j := range 3 {
				dr[3*i+j] += s[atV+i] * y[j]
				g[atV+i] += r[3*i+j] * y[j]
			}
			g[atW+i] += y[xW+i]
		}
		quadrotor.RotationVJP(s[atQ:], dr[:], g[atQ:])
		for j := range nA {
			g[Measured+j] += y[xRotors+j]
			if da != nil {
				da[b*nA+j] += y[xMotor+j] / unit
			}
		}
	}
}

var _ robot.System[float32] = (*System[float32])(nil)
