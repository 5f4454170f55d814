package nets

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"vnd/pkg/nn/kernel"
	"vnd/pkg/nn/layers"
)

// PolicyConfig holds the sizes of a policy: O inputs, U actions.
type PolicyConfig struct {
	Inputs  int   `json:"inputs"`  // O, the observation with the latent
	Actions int   `json:"actions"` // U
	Hidden  []int `json:"hidden"`  // units of the hidden layers
	// Linear leaves tanh away: outputs are any numbers, as those of a value.
	Linear bool `json:"linear,omitempty"`
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

// Policy is π_θ: dense layers with GELU, and u = tanh(·) in (-1, 1) unless it is linear.
type Policy[F kernel.Float] struct {
	PolicyConfig
	Params []F

	once    sync.Once
	layers  []layers.Dense[F]
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
		p.layers = append(p.layers, layers.Dense[F]{In: in, Out: out, Weight: lay(name+".w", in, out),
			Bias: lay(name+".b", out)})
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
		layers.LeCunUniform(rng, p.Params[d.Weight:d.Weight+d.In*d.Out], d.In, gain)
	}
}

// Ignore clears the weights of inputs lo … hi-1: the policy does not see them
// until it learns to.
func (p *Policy[F]) Ignore(lo, hi int) {
	d := p.layers[0]
	clear(p.Params[d.Weight+lo*d.Out : d.Weight+hi*d.Out])
}

// Refresh tells the policy that Params have changed since the first tape was
// made: what the passes read is a copy. No pass may run beside it.
func (p *Policy[F]) Refresh() {
	p.once.Do(func() {})
	p.read()
}

// BFloat16 returns a policy of the same Params whose layers between hidden ones multiply in bfloat16, where the kernels
// have that; what enters and leaves it is not rounded, on the way back either: policies learned worse with that
// (benchmarks/speed.md). Its copy of Params wants a Refresh of its own.
func (p *Policy[F]) BFloat16() *Policy[F] {
	r := &Policy[F]{PolicyConfig: p.PolicyConfig, Params: p.Params, tensors: p.tensors}
	for l, d := range p.layers { // without the copies of their weights
		inner := l > 0 && l < len(p.layers)-1
		r.layers = append(r.layers, layers.Dense[F]{In: d.In, Out: d.Out, Weight: d.Weight, Bias: d.Bias,
			BFloat16: inner})
	}
	return r
}

func (p *Policy[F]) read() {
	for l := range p.layers {
		p.layers[l].Refresh(p.Params)
	}
}

// PolicyTape holds passes of up to maxH steps of B observations.
type PolicyTape[F kernel.Float] struct {
	rows  int
	x     []F   // [H×B×O]
	act   [][]F // per hidden layer [H×B×hidden] after GELU
	slope [][]F // per hidden layer [H×B×hidden] that of GELU, later the gradient before it
	u     []F   // [H×B×U] output, later the gradient before tanh
}

// NewTape makes a tape for up to maxH steps of maxB observations.
func (p *Policy[F]) NewTape(maxB, maxH int) *PolicyTape[F] {
	p.once.Do(p.read)
	rows := maxB * maxH
	t := &PolicyTape[F]{x: kernel.Tape[F](rows * p.Inputs), u: make([]F, rows*p.Actions)}
	for _, h := range p.Hidden {
		t.act = append(t.act, kernel.Tape[F](rows*h))
		t.slope = append(t.slope, kernel.Tape[F](rows*h))
	}
	return t
}

// Forward writes u [B×U] of the observations x [B×O] and records the pass as step
// h of the tape, all steps of which have the same B. It allocates nothing.
func (p *Policy[F]) Forward(t *PolicyTape[F], h, B int, x, u []F) {
	t.rows = B
	copy(t.x[h*B*p.Inputs:(h+1)*B*p.Inputs], x)
	for l, n := range p.Hidden {
		act := t.act[l][h*B*n : (h+1)*B*n]
		p.layers[l].Gelu(p.Params, B, x, nil, act, t.slope[l][h*B*n:(h+1)*B*n])
		x = act
	}
	out := t.u[h*B*p.Actions : (h+1)*B*p.Actions]
	if head := &p.layers[len(p.Hidden)]; p.Linear {
		head.Forward(p.Params, B, x, out)
	} else {
		head.Tanh(p.Params, B, x, out)
	}
	copy(u, out)
}

// Backward takes du [B×U], the gradient of the actions of step h, and writes dx
// [B×O], that of the observations. It keeps in the tape what Grads needs.
func (p *Policy[F]) Backward(t *PolicyTape[F], h int, du, dx []F) {
	B := t.rows
	d := t.u[h*B*p.Actions : (h+1)*B*p.Actions]
	for i, u := range d {
		if d[i] = du[i]; !p.Linear {
			d[i] *= 1 - u*u
		}
	}
	for l := len(p.Hidden) - 1; l >= 0; l-- {
		n := p.Hidden[l]
		slope := t.slope[l][h*B*n : (h+1)*B*n]
		p.layers[l+1].BackwardGelu(B, d, slope)
		d = slope
	}
	p.layers[0].BackwardInput(B, d, nil, dx)
}

// Grads adds the gradients of the parameters to grad, after Backward of the steps
// 0 … H-1. Each layer's weights take one product over all H·B rows.
func (p *Policy[F]) Grads(t *PolicyTape[F], H int, grad []F) {
	rows, in := H*t.rows, t.x
	for l := range p.Hidden {
		p.layers[l].BackwardParams(grad, rows, in, t.slope[l])
		in = t.act[l]
	}
	p.layers[len(p.Hidden)].BackwardParams(grad, rows, in, t.u)
}
