package export

import (
	"fmt"
	"strings"
)

func list(names []string) string { return strings.Join(names, ", ") }

// ONNX is one part as a file of ONNX 1.12 (operators of version 17).
//
//	policy   observation [B][O], latent [B][Z] → command [B][4]: thrust in m/s², body rates in rad/s, FLU; or motors
//	encoder  context [B][T][C] → latent [B][Z]
//	model    inputs [B][X], latent [B][Z] → residual [B][U]: the mean of the ensemble
//
// Inputs are raw: normalisers are part of the graph. A network without a latent has no such input.
func (n *Networks) ONNX(part string) ([]byte, error) {
	r, err := n.only([]string{part})
	if err != nil {
		return nil, err
	}
	var g *graph
	switch {
	case r.policy != nil:
		g = r.policy.graph()
	case r.encoder != nil:
		g = r.encoder.graph()
	default:
		g = r.model.graph()
	}
	g.metadata = [][2]string{{"bundle", n.ID}, {"robot", n.Robot}, {"task", n.Task}, {"dt", fmt.Sprint(n.Dt)}}
	return g.encode(), nil
}

func (p *policyNet) graph() *graph {
	what, names := p.command()
	g := &graph{name: Policy, doc: "observation and latent to " + what,
		inputs:  []value{{"observation", list(p.channels), []int{batch, len(p.channels)}}},
		outputs: []value{{"command", list(names), []int{batch, len(p.half)}}}}
	x := "observation"
	if p.latent > 0 {
		g.inputs = append(g.inputs, value{"latent", "", []int{batch, p.latent}})
		x = g.do("Concat", []string{x, "latent"}, attribute{name: "axis", i: 1})
	}
	x = g.normalise(x, Policy, &p.norm)
	last := len(p.layers) - 1
	for i := range p.layers[:last] {
		x = g.gelu(g.dense(x, &p.layers[i]))
	}
	u := g.do("Tanh", []string{g.dense(x, &p.layers[last])})
	scaled := g.do("Mul", []string{u, g.keep("half", p.half, len(p.half))})
	g.set("command", "Add", scaled, g.keep("middle", p.middle, len(p.middle)))
	return g
}

func (e *encoderNet) graph() *graph {
	g := &graph{name: Encoder, doc: "window of rows, eldest first, to the latent of its condition",
		inputs:  []value{{"context", list(e.channels), []int{batch, e.rows, e.features}}},
		outputs: []value{{"latent", "", []int{batch, e.latent}}}}
	x := g.normalise("context", Encoder, &e.norm)
	if !e.gru {
		g.constants = append(g.constants, constant{name: "flat", shape: []int{2},
			ints: []int64{-1, int64(e.rows * e.features)}})
		x = g.do("Reshape", []string{x, "flat"})
		x = g.gelu(g.dense(g.gelu(g.dense(x, &e.first)), &e.hidden))
		g.affine("latent", x, &e.head)
		return g
	}
	x = g.do("Transpose", []string{x}, attribute{name: "perm", list: []int64{1, 0, 2}})
	x = g.gelu(g.dense(x, &e.first))
	h := e.hidden.in
	w := g.keep("gru.w", gates(e.input.w, e.input.in, h), 1, 3*h, e.input.in)
	r := g.keep("gru.r", gates(e.hidden.w, h, h), 1, 3*h, h)
	b := g.keep("gru.b", append(gates(e.input.b, 1, h), gates(e.hidden.b, 1, h)...), 1, 6*h)
	last := g.temporary()
	g.nodes = append(g.nodes, node{"GRU", []string{x, w, r, b}, []string{"", last},
		[]attribute{{name: "hidden_size", i: int64(h)}, {name: "linear_before_reset", i: 1}}})
	g.constants = append(g.constants, constant{name: "first_axis", shape: []int{1}, ints: []int64{0}})
	g.affine("latent", g.do("Squeeze", []string{last, "first_axis"}), &e.head)
	return g
}

// gates turns w [rows][3H] of the gates r, u, n into [3H][rows] in the order of ONNX, which is u, r, n.
func gates(w []float32, rows, h int) []float32 {
	out := make([]float32, 0, len(w))
	for _, gate := range []int{1, 0, 2} {
		for j := range h {
			for i := range rows {
				out = append(out, w[i*3*h+gate*h+j])
			}
		}
	}
	return out
}

func (m *modelNet) graph() *graph {
	g := &graph{name: Model, doc: "what the physics prior misses of a step, in the body's frame: " + list(m.tangent),
		inputs:  []value{{"inputs", list(m.channels), []int{batch, m.inputs}}},
		outputs: []value{{"residual", list(m.tangent), []int{batch, m.outputs}}}}
	x := g.normalise("inputs", Model, &m.norm)
	if m.latent > 0 {
		g.inputs = append(g.inputs, value{"latent", "", []int{batch, m.latent}})
	}
	if m.joins {
		x = g.do("Concat", []string{x, "latent"}, attribute{name: "axis", i: 1})
	}
	var sum string
	for i := range m.members {
		if y := m.members[i].put(g, x); i == 0 {
			sum = y
		} else {
			sum = g.do("Add", []string{sum, y})
		}
	}
	mean := make([]float32, m.outputs)
	for j := range mean {
		mean[j] = m.output[j] / float32(len(m.members))
	}
	g.set("residual", "Mul", sum, g.keep("unit", mean, m.outputs))
	return g
}

func (r *member) put(g *graph, x string) string {
	x = g.gelu(g.dense(x, &r.in))
	for i := range r.blocks {
		u := g.dense(x, &r.blocks[i])
		if len(r.film) > 0 {
			gamma, beta := r.film[i].half(0, ".gamma"), r.film[i].half(1, ".beta")
			factor := g.do("Add", []string{g.number(1), g.dense("latent", &gamma)})
			u = g.do("Add", []string{g.do("Mul", []string{factor, u}), g.dense("latent", &beta)})
		}
		x = g.gelu(u)
	}
	return g.dense(x, &r.head)
}

// half is the first or second half of a layer's outputs.
func (d *dense) half(which int, suffix string) dense {
	n := d.out / 2
	out := dense{d.name + suffix, d.in, n, nil, d.b[which*n:][:n]}
	for i := range d.in {
		out.w = append(out.w, d.w[i*d.out+which*n:][:n]...)
	}
	return out
}

func (g *graph) normalise(x, part string, n *norm) string {
	centred := g.do("Sub", []string{x, g.keep(part+".mean", n.mean, len(n.mean))})
	return g.do("Mul", []string{centred, g.keep(part+".scale", n.scale, len(n.scale))})
}

func (g *graph) product(x string, d *dense) []string {
	y := g.do("MatMul", []string{x, g.keep(d.name+".w", d.w, d.in, d.out)})
	return []string{y, g.keep(d.name+".b", d.b, d.out)}
}

func (g *graph) dense(x string, d *dense) string { return g.do("Add", g.product(x, d)) }

// affine is dense for an output of the graph.
func (g *graph) affine(out, x string, d *dense) { g.set(out, "Add", g.product(x, d)...) }

// Factors of the tanh form of GELU, ½u(1 + tanh(√(2/π)(u + 0.044715u³))).
const (
	geluScale = 0.7978845608028654
	geluCubic = 0.044715
)

func (g *graph) gelu(u string) string {
	cube := g.do("Mul", []string{g.do("Mul", []string{u, u}), u})
	inner := g.do("Add", []string{u, g.do("Mul", []string{g.number(geluCubic), cube})})
	t := g.do("Tanh", []string{g.do("Mul", []string{g.number(geluScale), inner})})
	return g.do("Mul", []string{g.do("Mul", []string{g.number(0.5), u}), g.do("Add", []string{g.number(1), t})})
}
