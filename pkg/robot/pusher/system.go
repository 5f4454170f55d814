package pusher

import (
	"math"

	"vnd/pkg/nn/kernel"
	"vnd/pkg/robot"
)

// Sizes of a state or tangent, of actions, of inputs and of a row of the window.
const (
	nS, nA, nX = 10, 2, 10
	nC         = nX + nS
)

// Pusher is s' = f(s, a) ⊕ d. A state is the tool's place, the box's, its heading within ±π, the tool's velocity, the
// box's and its rate: in the table's frame, m, rad, m/s, rad/s. A tangent is the same in the box's frame, as what the
// prior lacks turns with the box. a is the tool's commanded velocity, m/s. Its arithmetic is in float64.
type Pusher[F kernel.Float] struct{ prior }

// New returns the system of a pusher.
func New[F kernel.Float](r Robot) *Pusher[F] { return &Pusher[F]{newPrior(r)} }

// Dims implements System.
func (m *Pusher[F]) Dims() robot.Dims {
	return robot.Dims{State: nS, Measured: nS, Action: nA, Tangent: nS, Inputs: nX, Context: nC}
}

func span(name string, lo, hi int) robot.Span { return robot.Span{Name: name, Lo: lo, Hi: hi} }

// TangentSpans implements System.
func (m *Pusher[F]) TangentSpans() []robot.Span {
	return []robot.Span{span("position", 0, 4), span("rotation", 4, 5), span("velocity", 5, nS)}
}

// InputSpans implements System. Of a box that was pushed straight on alone a model must not tell small turns from huge
// ones: each varies by a tenth of what pushes usually show.
func (m *Pusher[F]) InputSpans() []robot.Span {
	all := []robot.Span{span("place", 0, 2), span("velocity", 2, 6), span("rate", 6, 7), span("command", 7, 9),
		span("contact", 9, nX)}
	for i, least := range []float32{0.01, 0.02, 0.1, 0.03, 0.0005} {
		all[i].Spread = least
	}
	return all
}

// ContextSpans implements System.
func (m *Pusher[F]) ContextSpans() []robot.Span {
	return append(m.InputSpans(), span("residual", nX, nC))
}

// Rest implements System: the tool stands behind the box.
func (m *Pusher[F]) Rest(s, a []F) {
	clear(s[:nS])
	clear(a[:nA])
	s[0] = -Side
}

// GainDrift implements System: that of no channel.
func (m *Pusher[F]) GainDrift() robot.Span { return span("none", 0, 0) }

func take[F kernel.Float](x []F) vector { return vector{float64(x[0]), float64(x[1])} }

func unpack[F kernel.Float](s []F) planar {
	return planar{tool: take(s), box: take(s[2:]), heading: float64(s[4]), toolVelocity: take(s[5:]),
		boxVector: take(s[7:]), rate: float64(s[9])}
}

// numbers are those of a state or tangent in their order.
func (x *planar) numbers() [nS]float64 {
	return [nS]float64{x.tool[0], x.tool[1], x.box[0], x.box[1], x.heading, x.toolVelocity[0], x.toolVelocity[1],
		x.boxVector[0], x.boxVector[1], x.rate}
}

func put[F kernel.Float](x [nS]float64, s []F) {
	for i, v := range x {
		s[i] = F(v)
	}
}

func accumulate[F kernel.Float](x [nS]float64, s []F) {
	for i, v := range x {
		s[i] += F(v)
	}
}

// turned returns the tangent with its vectors turned.
func (x *planar) turned(by func(vector) vector) planar {
	return planar{by(x.tool), by(x.box), x.heading, by(x.toolVelocity), by(x.boxVector), x.rate}
}

// swing is the derivative by the heading of g · x, with x's vectors turned by r.
func (x *planar) swing(r rotation, g *planar) float64 {
	return g.tool.dot(r.on(x.tool.left())) + g.box.dot(r.on(x.box.left())) +
		g.toolVelocity.dot(r.on(x.toolVelocity.left())) + g.boxVector.dot(r.on(x.boxVector.left()))
}

func wrap(x float64) float64 { return math.Remainder(x, 2*math.Pi) }

// Step implements System.
func (m *Pusher[F]) Step(B int, s, a, d, next []F) {
	var u push
	for b := range B {
		now, tangent := unpack(s[nS*b:]), unpack(d[nS*b:])
		m.step(&now, take(a[nA*b:]), &u)
		in := tangent.turned(turn(u.next.heading).on)
		sum, more := u.next.numbers(), in.numbers()
		for i := range sum {
			sum[i] += more[i]
		}
		sum[4] = wrap(sum[4])
		put(sum, next[nS*b:])
	}
}

// StepVJP implements System.
func (m *Pusher[F]) StepVJP(B int, s, a, d, dnext, ds, da, dd []F) {
	var u push
	for b := range B {
		now, tangent, g := unpack(s[nS*b:]), unpack(d[nS*b:]), unpack(dnext[nS*b:])
		m.step(&now, take(a[nA*b:]), &u)
		r := turn(u.next.heading)
		in := g.turned(r.back)
		accumulate(in.numbers(), dd[nS*b:])
		g.heading += tangent.swing(r, &g)
		gs, ga := m.pull(&u, &g)
		accumulate(gs.numbers(), ds[nS*b:])
		if da != nil {
			da[nA*b] += F(ga[0])
			da[nA*b+1] += F(ga[1])
		}
	}
}

// nearby is the width over which the input that tells of contact sets in, m.
const nearby = 0.003

// Inputs implements System: in the box's frame where the tool is, all velocities and the command, and by how much the
// tool would overlap the box if that gave way.
func (m *Pusher[F]) Inputs(B int, s, a, x []F) {
	for b := range B {
		now, command, row := unpack(s[nS*b:]), take(a[nA*b:]), x[nX*b:][:nX]
		r := turn(now.heading)
		for i, v := range []vector{r.back(now.tool.add(-1, now.box)), r.back(now.toolVelocity), r.back(now.boxVector)} {
			row[2*i], row[2*i+1] = F(v[0]), F(v[1])
		}
		row[6] = F(now.rate)
		command = r.back(command)
		row[7], row[8] = F(command[0]), F(command[1])
		_, p := m.free(&now, take(a[nA*b:]))
		distance, _, _ := gap(p)
		touch, _ := soft(-distance, nearby)
		row[9] = F(touch)
	}
}

// InputsVJP implements System.
func (m *Pusher[F]) InputsVJP(B int, s, a, dx, ds, da []F) {
	for b := range B {
		now, command, g := unpack(s[nS*b:]), take(a[nA*b:]), dx[nX*b:][:nX]
		r := turn(now.heading)
		var sum planar
		place := now.tool.add(-1, now.box)
		sum.tool = r.on(take(g))
		sum.box = vector{}.add(-1, sum.tool)
		sum.toolVelocity, sum.boxVector, sum.rate = r.on(take(g[2:])), r.on(take(g[4:])), float64(g[6])
		commands := r.on(take(g[7:]))
		for i, v := range []vector{place, now.toolVelocity, now.boxVector} {
			sum.heading -= r.back(v).left().dot(take(g[2*i:]))
		}
		sum.heading -= r.back(command).left().dot(take(g[7:]))
		_, p := m.free(&now, command)
		distance, n, _ := gap(p)
		_, slope := soft(-distance, nearby)
		before := sum.tool
		m.pullPlace(r, p, vector{}.add(-slope*float64(g[9]), n), &sum)
		commands = commands.add(m.dt-m.way, sum.tool.add(-1, before))
		accumulate(sum.numbers(), ds[nS*b:])
		if da != nil {
			da[nA*b] += F(commands[0])
			da[nA*b+1] += F(commands[1])
		}
	}
}

// ToWorld implements System: what the prior lacks turns with the box.
func (m *Pusher[F]) ToWorld(B int, s, d, w []F) { kernel.Axpy(1, d[:nS*B], w[:nS*B]) }

// ToBody implements System.
func (m *Pusher[F]) ToBody(B int, s, w, d []F) { kernel.Axpy(1, w[:nS*B], d[:nS*B]) }

// ToBodyVJP implements System.
func (m *Pusher[F]) ToBodyVJP(B int, s, w, dd, ds []F) {}

// Minus implements System: in the frame of the box at s0.
func (m *Pusher[F]) Minus(B int, s1 []F, stride1 int, s0 []F, stride0 int, e []F) {
	for b := range B {
		from, to := unpack(s0[stride0*b:]), unpack(s1[stride1*b:])
		a, c := to.numbers(), from.numbers()
		for i := range a {
			a[i] -= c[i]
		}
		a[4] = wrap(a[4])
		off := unpack(a[:])
		in := off.turned(turn(from.heading).back)
		put(in.numbers(), e[nS*b:])
	}
}

// MinusVJP implements System.
func (m *Pusher[F]) MinusVJP(B int, s1 []F, stride1 int, s0 []F, stride0 int, de, ds1 []F) {
	for b := range B {
		g := unpack(de[nS*b:])
		out := g.turned(turn(float64(s0[stride0*b+4])).on)
		accumulate(out.numbers(), ds1[stride1*b:])
	}
}

// Window implements System: there is no actuator part.
func (m *Pusher[F]) Window(T int, measured, actions, s, ctx, states, r []F) {
	var zero, next, residual [nS]F
	for i := range T {
		now, a := measured[nS*i:][:nS], actions[nA*i:][:nA]
		m.Step(1, now, a, zero[:], next[:])
		m.Minus(1, measured[nS*(i+1):], nS, next[:], nS, residual[:])
		if states != nil {
			copy(states[nS*i:], now)
		}
		if r != nil {
			copy(r[nS*i:], residual[:])
		}
		if ctx != nil {
			m.Inputs(1, now, a, ctx[nC*i:])
			copy(ctx[nC*i+nX:][:nS], residual[:])
		}
	}
	copy(s, measured[nS*T:][:nS])
}

var _ robot.System[float32] = (*Pusher[float32])(nil)
