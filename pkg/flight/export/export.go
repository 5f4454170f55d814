// Package export writes the networks of a bundle for programs of others: as ONNX, and as C for microcontrollers.
//
// Shapes: B batch, O observation, Z latent, A action, T window rows, C context features, X residual inputs, U tangent.
package export

import (
	"fmt"
	"maps"
	"slices"

	"vnd/pkg/flight/policy"
	"vnd/pkg/nn/nets"
	"vnd/pkg/robot"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/robot/rotors"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// Networks are those of a bundle, as plain layers.
type Networks struct {
	ID, Robot, Task string
	Dt              float64 // s

	policy  *policyNet  // nil: the bundle has none; of thrust and body rates, or of motors
	encoder *encoderNet // nil: it has no model, or one without a latent
	model   *modelNet   // nil: it has none
}

// dense is y = x·W + b, with W [in][out].
type dense struct {
	name    string
	in, out int
	w, b    []float32
}

// norm is x̂ = (x − mean)·scale.
type norm struct{ mean, scale []float32 }

// policyNet is observation and latent to a command.
type policyNet struct {
	observation  policy.Observation
	channels     []string // [O]
	latent       int
	norm         norm // [O+Z]
	layers       []dense
	middle, half []float32  // [A]
	hover        [4]float32 // in half ranges
	motors       bool       // commands are shares of the motors' full ones
}

// encoderNet is a window to its latent.
type encoderNet struct {
	rows, features, latent int
	channels               []string // [C]
	norm                   norm     // [C]
	gru                    bool
	first                  dense // gru: of a row; else of the whole window
	input, hidden          dense // gru: the gates r, u, n of a row and of the hidden state; else hidden alone
	head                   dense
}

// modelNet is residual inputs and latent to the mean residual of the ensemble.
type modelNet struct {
	inputs, outputs, latent int
	channels, tangent       []string // [X], [U]
	norm                    norm     // [X]
	joins                   bool     // the latent joins the inputs; else it modulates the blocks, if there is any
	members                 []member
	output                  []float32 // [U] unit of the outputs
}

// member is one residual network.
type member struct {
	in     dense // joins: of inputs and latent
	blocks []dense
	film   []dense // of each block; γ, then β
	head   dense
}

// Of takes the networks of a bundle apart.
func Of(b *bundle.Bundle) (*Networks, error) {
	n := &Networks{ID: b.ID, Robot: b.Robot, Task: b.Task, Dt: b.Dt}
	if policy.In(b) {
		p, err := policyIn(b)
		if err != nil {
			return nil, err
		}
		n.policy = policyOf(p)
	}
	if vnd.In(b) {
		m, _, err := vnd.FromBundle(b, quadrotor.Reader)
		if err != nil {
			return nil, err
		}
		n.model = modelOf(m)
		if m.Net.Latent > 0 {
			n.encoder = encoderOf(m)
		}
	}
	if n.policy == nil && n.model == nil {
		return nil, fmt.Errorf("bundle %s has neither a policy nor a model", b.ID)
	}
	return n, nil
}

// policyIn is the policy of a bundle, which commands thrust and body rates, or motors.
func policyIn(b *bundle.Bundle) (*policy.Policy[float32], error) {
	if b.Robot == rotors.Name {
		return policy.RotorsFromBundle(b)
	}
	return policy.FromBundle(b)
}

// Parts that a bundle may have.
const (
	Policy  = "policy"
	Encoder = "encoder"
	Model   = "model"
)

// Parts are those that this one has.
func (n *Networks) Parts() []string {
	has := map[string]bool{Policy: n.policy != nil, Encoder: n.encoder != nil, Model: n.model != nil}
	maps.DeleteFunc(has, func(_ string, has bool) bool { return !has })
	return slices.Sorted(maps.Keys(has))
}

// only leaves the parts that are wanted.
func (n *Networks) only(parts []string) (*Networks, error) {
	r := &Networks{ID: n.ID, Robot: n.Robot, Task: n.Task, Dt: n.Dt}
	for i, p := range parts {
		switch {
		case slices.Contains(parts[:i], p):
			return nil, fmt.Errorf("part %.40q is named twice", p)
		case p == Policy && n.policy != nil:
			r.policy = n.policy
		case p == Encoder && n.encoder != nil:
			r.encoder = n.encoder
		case p == Model && n.model != nil:
			r.model = n.model
		case p == Policy || p == Encoder || p == Model:
			return nil, fmt.Errorf("bundle %s has no %s, it has %s", n.ID, p, list(n.Parts()))
		default:
			return nil, fmt.Errorf("part %.40q, expected policy, encoder or model", p)
		}
	}
	return r, nil
}

// tensors finds layers by name in the flat parameters of a net.
type tensors struct {
	all    []nets.Tensor
	params []float32
}

func (t *tensors) of(name string) ([]int, []float32) {
	for _, x := range t.all {
		if x.Name == name {
			return x.Shape, t.params[x.Offset:][:x.Size()]
		}
	}
	panic("export: no tensor " + name) // the names are those that the net gave
}

// layer is the dense layer whose weight and bias have a suffix each.
func (t *tensors) layer(name, weight, bias string) dense {
	shape, w := t.of(name + weight)
	_, b := t.of(name + bias)
	return dense{name, shape[0], shape[1], w, b}
}

func (t *tensors) dense(name string) dense { return t.layer(name, ".w", ".b") }

func policyOf(p *policy.Policy[float32]) *policyNet {
	t := tensors{p.Net.Tensors(), p.Net.Params}
	n := &policyNet{observation: p.Observation, channels: p.Observation.Names(), latent: p.Latent,
		norm: norm{p.Norm.Mean, p.Norm.Scale}, middle: p.Middle, half: p.Half, hover: p.Hover()}
	if l := p.Motors; l != nil {
		n.motors, n.middle, n.half = true, over(p.Middle, l.Full), over(p.Half, l.Full)
	}
	for l := range p.Net.Hidden {
		n.layers = append(n.layers, t.dense(fmt.Sprintf("policy.dense%d", l+1)))
	}
	n.layers = append(n.layers, t.dense("policy.head"))
	return n
}

// over is x by a divisor.
func over(x []float32, divisor float64) []float32 {
	out := make([]float32, len(x))
	for i, v := range x {
		out[i] = v / float32(divisor)
	}
	return out
}

// command is what the outputs are, in words, and their names.
func (p *policyNet) command() (what string, names []string) {
	if p.motors {
		return "a command of each motor, 0 to 1 of full speed", []string{"front right", "rear right", "rear left",
			"front left"}
	}
	return "collective thrust (m/s², hover 9.81) and body rates (rad/s, FLU)", []string{"thrust", "rate x", "rate y",
		"rate z"}
}

func encoderOf(m *vnd.Model[float32]) *encoderNet {
	t := tensors{m.Net.Tensors(), m.Net.Params}
	e := &encoderNet{rows: m.Net.Context, features: m.Net.ContextInputs, latent: m.Net.Latent,
		channels: channels(m.System.ContextSpans()), norm: norm{m.Context.Mean, m.Context.Scale},
		gru: m.Net.Encoder == nets.EncoderGRU, first: t.dense("encoder.dense"), head: t.dense("encoder.latent")}
	if e.gru {
		e.input, e.hidden = t.layer("encoder.gru", ".wi", ".bi"), t.layer("encoder.gru", ".wh", ".bh")
		e.input.name, e.hidden.name = "encoder.gru.i", "encoder.gru.h"
	} else {
		e.hidden = t.dense("encoder.hidden")
	}
	return e
}

func modelOf(m *vnd.Model[float32]) *modelNet {
	t, c := tensors{m.Net.Tensors(), m.Net.Params}, m.Net.Config
	n := &modelNet{inputs: c.Inputs, outputs: c.Outputs, latent: c.Latent, channels: channels(m.System.InputSpans()),
		tangent: channels(m.System.TangentSpans()), norm: norm{m.Inputs.Mean, m.Inputs.Scale}, output: m.Output}
	for k := range c.Members {
		prefix := fmt.Sprintf("residual.%d.", k)
		r := member{in: t.dense(prefix + "in"), head: t.dense(prefix + "head")}
		n.joins = r.in.in > c.Inputs
		for b := range c.Blocks {
			name := fmt.Sprintf("%sblock%d", prefix, b+1)
			r.blocks = append(r.blocks, t.dense(name))
			if c.Latent > 0 && !n.joins {
				r.film = append(r.film, t.dense(name+".film"))
			}
		}
		n.members = append(n.members, r)
	}
	return n
}

// channels names those of spans, in their order.
func channels(spans []robot.Span) (names []string) {
	for _, s := range spans {
		for i := range s.Hi - s.Lo {
			names = append(names, fmt.Sprintf("%s %d", s.Name, i))
		}
	}
	return names
}
