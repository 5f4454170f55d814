package model

import (
	"fmt"
	"math"
	"math/rand/v2"

	"vnd/pkg/kernel"
	"vnd/pkg/nn"
)

// PolicyConfig holds the sizes of a policy: O inputs, U actions.
type PolicyConfig struct {
	Inputs  int   `json:"inputs"`  // O, the observation with the latent
	Actions int   `json:"actions"` // U
	Hidden  []int `json:"hidden"`  // units of the hidden layers
}

func (c PolicyConfig) check() error {
	for _, n := range append([]int{c.Inputs, c.Actions}, c.Hidden...) {
		if n < 1 || n > maxWidth {
			return fmt.Errorf("model: a policy with a layer of %d, want 1 to %d", n, maxWidth)
		}
	}
	if n := len(c.Hidden); n < 1 || n > maxParts {
		return fmt.Errorf("model: a policy with %d hidden layers, want 1 to %d", n, maxParts)
	}
	return nil
}

// Policy is π_θ: dense layers with GELU, and u = tanh(·) in (-1, 1).
type Policy[F kernel.Float] struct {
	PolicyConfig
	Params []F

	layers  []nn.Dense[F]
	tensors []Tensor
}

// NewPolicy lays a policy out with parameters 0.
func NewPolicy[F kernel.Float](c PolicyConfig) (*Policy[F], error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	p := &Policy[F]{PolicyConfig: c}
	at := 0
	lay := func(name string, shape ...int) int {
		t := Tensor{name, shape, at}
		p.tensors = append(p.tensors, t)
		at += t.Size()
		return t.Offset
	}
	in := c.Inputs
	for l := range len(c.Hidden) + 1 {
		name, out := "policy.head", c.Actions
		if l < len(c.Hidden) {
			name, out = fmt.Sprintf("policy.dense%d", l+1), c.Hidden[l]
		}
		p.layers = append(p.layers, nn.Dense[F]{In: in, Out: out, Weight: lay(name+".w", in, out), Bias: lay(name+".b", out)})
		in = out
	}
	if at > maxNumbers {
		return nil, fmt.Errorf("model: a policy of %d numbers, want at most %d", at, maxNumbers)
	}
	p.Params = make([]F, at)
	return p, nil
}

// Tensors lists the parts of Params in their order.
func (p *Policy[F]) Tensors() []Tensor { return p.tensors }

// Init draws the weights, small ones for the head, whose bias makes u0 the action
// of an untrained policy.
func (p *Policy[F]) Init(rng *rand.Rand, u0 []F) {
	clear(p.Params)
	for l, d := range p.layers {
		gain := 1.
		if l == len(p.layers)-1 {
			gain = smallGain
			for j, u := range u0 {
				d.BiasOf(p.Params)[j] = F(math.Atanh(float64(u)))
			}
		}
		nn.LeCunUniform(rng, p.Params[d.Weight:d.Weight+d.In*d.Out], d.In, gain)
	}
}

// Ignore clears the weights of inputs lo … hi-1: the policy does not see them
// until it learns to.
func (p *Policy[F]) Ignore(lo, hi int) {
	d := p.layers[0]
	clear(p.Params[d.Weight+lo*d.Out : d.Weight+hi*d.Out])
}

// PolicyTape holds passes of up to maxH steps of B observations.
type PolicyTape[F kernel.Float] struct {
	rows int
	x    []F   // [H×B×O]
	pre  [][]F // per hidden layer [H×B×hidden] before GELU, later its gradient
	act  [][]F // per hidden layer [H×B×hidden] after GELU
	u    []F   // [H×B×U] output, later the gradient before tanh
	dact [2][]F
}

// NewTape makes a tape for up to maxH steps of maxB observations.
func (p *Policy[F]) NewTape(maxB, maxH int) *PolicyTape[F] {
	rows, widest := maxB*maxH, 0
	t := &PolicyTape[F]{x: make([]F, rows*p.Inputs), u: make([]F, rows*p.Actions)}
	for _, h := range p.Hidden {
		t.pre = append(t.pre, make([]F, rows*h))
		t.act = append(t.act, make([]F, rows*h))
		widest = max(widest, h)
	}
	for i := range t.dact {
		t.dact[i] = make([]F, maxB*widest)
	}
	return t
}

// Forward writes u [B×U] of the observations x [B×O] and records the pass as step
// h of the tape, all steps of which have the same B. It allocates nothing.
func (p *Policy[F]) Forward(t *PolicyTape[F], h, B int, x, u []F) {
	t.rows = B
	copy(t.x[h*B*p.Inputs:(h+1)*B*p.Inputs], x)
	act := x
	for l, n := range p.Hidden {
		pre, next := t.pre[l][h*B*n:(h+1)*B*n], t.act[l][h*B*n:(h+1)*B*n]
		p.layers[l].Product(p.Params, B, act, pre)
		kernel.BiasGelu(B, n, pre, p.layers[l].BiasOf(p.Params), next)
		act = next
	}
	out := t.u[h*B*p.Actions : (h+1)*B*p.Actions]
	p.layers[len(p.Hidden)].Forward(p.Params, B, act, out)
	for i, y := range out {
		out[i] = F(math.Tanh(float64(y)))
	}
	copy(u, out)
}

// Backward takes du [B×U], the gradient of the actions of step h, and writes dx
// [B×O], that of the observations. It keeps in the tape what Grads needs.
func (p *Policy[F]) Backward(t *PolicyTape[F], h int, du, dx []F) {
	B, last := t.rows, len(p.Hidden)
	out := t.u[h*B*p.Actions : (h+1)*B*p.Actions]
	for i, u := range out {
		out[i] = du[i] * (1 - u*u)
	}
	d, other := t.dact[0], t.dact[1]
	p.layers[last].BackwardInput(p.Params, B, out, 0, d)
	for l := last - 1; ; l-- {
		n := p.Hidden[l]
		pre := t.pre[l][h*B*n : (h+1)*B*n]
		kernel.GeluBackward(pre, d)
		if l == 0 {
			p.layers[0].BackwardInput(p.Params, B, pre, 0, dx)
			return
		}
		p.layers[l].BackwardInput(p.Params, B, pre, 0, other)
		d, other = other, d
	}
}

// Grads adds the gradients of the parameters to grad, after Backward of the steps
// 0 … H-1. Each layer's weights take one product over all H·B rows.
func (p *Policy[F]) Grads(t *PolicyTape[F], H int, grad []F) {
	rows, in := H*t.rows, t.x
	for l := range p.Hidden {
		p.layers[l].BackwardParams(grad, rows, in, t.pre[l])
		in = t.act[l]
	}
	p.layers[len(p.Hidden)].BackwardParams(grad, rows, in, t.u)
}
