package nets

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"vnd/pkg/nn/kernel"
)

// small is a net of odd sizes, so that a confusion of shapes shows.
func small() Config {
	return Config{Context: 4, ContextInputs: 5, Inputs: 6, Outputs: 3, Latent: 2, Encoder: EncoderGRU,
		EncoderDense: 7, EncoderHidden: 9, Hidden: 8, Blocks: 2, Film: true, DecoderHidden: 10, Members: 2}
}

// variants are the nets that the switches of Config make.
func variants() map[string]Config {
	v := map[string]Config{"gru film": small(), "mlp film": small(), "gru joined": small(), "no latent": small(),
		"no blocks": small()}
	change := func(name string, f func(*Config)) {
		c := v[name]
		f(&c)
		v[name] = c
	}
	change("mlp film", func(c *Config) { c.Encoder = EncoderMLP })
	change("gru joined", func(c *Config) { c.Film = false })
	change("no latent", func(c *Config) { c.Latent = 0 })
	change("no blocks", func(c *Config) { c.Blocks, c.Film = 0, false })
	return v
}

func newNet[F kernel.Float](t testing.TB, c Config, rng *rand.Rand) *Net[F] {
	t.Helper()
	n, err := New[F](c)
	if err != nil {
		t.Fatal(err)
	}
	n.Init(rng)
	for i := range n.Params { // biases too, and nothing small
		n.Params[i] += F(0.3 * rng.NormFloat64())
	}
	return n
}

func normal[F kernel.Float](rng *rand.Rand, n int) []F {
	x := make([]F, n)
	for i := range x {
		x[i] = F(rng.NormFloat64())
	}
	return x
}

func inner(x, y []float64) float64 {
	sum := 0.0
	for i := range x {
		sum += x[i] * y[i]
	}
	return sum
}

// checkGradient compares grad with central differences of loss at every number
// of x.
func checkGradient(t *testing.T, name string, x, grad []float64, loss func() float64) {
	t.Helper()
	const eps = 1e-5
	for i, keep := range x {
		x[i] = keep + eps
		up := loss()
		x[i] = keep - eps
		down := loss()
		x[i] = keep
		want := (up - down) / (2 * eps)
		if math.Abs(grad[i]-want) > 1e-7*(1+math.Abs(want)) {
			t.Fatalf("%s[%d]: gradient %.9g, central difference %.9g", name, i, grad[i], want)
		}
	}
}

func checkParams(t *testing.T, n *Net[float64], grad []float64, loss func() float64) {
	t.Helper()
	for _, tensor := range n.Tensors() {
		from, to := tensor.Offset, tensor.Offset+tensor.Size()
		checkGradient(t, tensor.Name, n.Params[from:to], grad[from:to], loss)
	}
}

func TestEncoderGradient(t *testing.T) {
	for name, c := range variants() {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 2))
			const B = 3
			n := newNet[float64](t, c, rng)
			tape := n.NewEncoderTape(B + 1)
			ctx, dz, z := normal[float64](rng, c.Context*B*c.ContextInputs), normal[float64](rng, B*c.Latent),
				make([]float64, B*c.Latent)
			grad := make([]float64, len(n.Params))
			n.EncodeTape(tape, B, ctx, z)
			n.EncodeBackward(tape, ctx, dz, grad)
			checkParams(t, n, grad, func() float64 {
				n.Refresh()
				n.Encode(tape, B, ctx, z)
				return inner(z, dz)
			})
		})
	}
}

// TestResidualGradient rolls the residual over several steps whose inputs hold
// the outputs before them, so that gradients meet along every path.
func TestResidualGradient(t *testing.T) {
	for name, c := range variants() {
		for member := range c.Members {
			t.Run(fmt.Sprint(name, " member ", member), func(t *testing.T) { residualGradient(t, c, member) })
		}
	}
}

func residualGradient(t *testing.T, c Config, member int) {
	const B, H = 3, 4
	rng := rand.New(rand.NewPCG(3, 4))
	n := newNet[float64](t, c, rng)
	tape := n.NewResidualTape(B+1, H)
	z := normal[float64](rng, B*c.Latent)
	x0, dys := normal[float64](rng, B*c.Inputs), normal[float64](rng, H*B*c.Outputs)
	// x_{h+1} = x_h/2 + y_h in the first U inputs
	next := func(x, y []float64) {
		for b := range B {
			for i := range c.Inputs {
				x[b*c.Inputs+i] /= 2
				if i < c.Outputs {
					x[b*c.Inputs+i] += y[b*c.Outputs+i]
				}
			}
		}
	}
	step := B * c.Outputs
	x, y := make([]float64, B*c.Inputs), make([]float64, step)
	loss := func() float64 {
		copy(x, x0)
		n.Refresh()
		n.Condition(tape, member, B, z)
		sum := 0.0
		for h := range H {
			n.Residual(tape, member, B, x, y)
			sum += inner(y, dys[h*step:(h+1)*step])
			next(x, y)
		}
		return sum
	}
	copy(x, x0)
	n.Condition(tape, member, B, z)
	for h := range H {
		n.ResidualTape(tape, member, h, B, x, y)
		next(x, y)
	}
	grad, dz := make([]float64, len(n.Params)), make([]float64, len(z))
	dx, carry, dy := make([]float64, len(x)), make([]float64, len(x)), make([]float64, step)
	for h := H - 1; h >= 0; h-- {
		copy(dy, dys[h*step:])
		for b := range B {
			for i := range c.Outputs {
				dy[b*c.Outputs+i] += carry[b*c.Inputs+i]
			}
		}
		n.ResidualBackward(tape, member, h, dy, dx)
		for i := range carry {
			carry[i] = carry[i]/2 + dx[i]
		}
	}
	n.ResidualGrads(tape, member, H, z, dz, grad)
	checkGradient(t, "x", x0, carry, loss)
	checkGradient(t, "z", z, dz, loss)
	checkParams(t, n, grad, loss)
}

func TestDecoderGradient(t *testing.T) {
	c := small()
	const B = 3
	rng := rand.New(rand.NewPCG(5, 6))
	n := newNet[float64](t, c, rng)
	tape := n.NewDecoderTape(B + 1)
	z, y := normal[float64](rng, B*c.Latent), make([]float64, B*c.Context*c.ContextInputs)
	dy := normal[float64](rng, len(y))
	dz, grad := make([]float64, len(z)), make([]float64, len(n.Params))
	loss := func() float64 {
		n.Refresh()
		n.DecodeTape(tape, B, z, y)
		return inner(y, dy)
	}
	loss()
	n.DecodeBackward(tape, z, dy, dz, grad)
	checkGradient(t, "z", z, dz, loss)
	checkParams(t, n, grad, loss)
}

// TestPolicyGradient compares the gradient of a random functional of all actions
// with central differences, in parameters and observations.
func TestPolicyGradient(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	p, err := NewPolicy[float64](PolicyConfig{Inputs: 5, Actions: 3, Hidden: []int{7, 6}})
	if err != nil {
		t.Fatal(err)
	}
	p.Init(rng, []float64{0.2, -0.4, 0})
	for i := range p.Params {
		p.Params[i] += 0.3 * rng.NormFloat64()
	}
	const B, H = 2, 3
	x, weight := normal[float64](rng, H*B*5), normal[float64](rng, H*B*3)
	tape, u := p.NewTape(B, H), make([]float64, H*B*3)
	forward := func() float64 {
		p.Refresh()
		for h := range H {
			p.Forward(tape, h, B, x[h*B*5:(h+1)*B*5], u[h*B*3:(h+1)*B*3])
		}
		return inner(u, weight)
	}
	forward()
	grad, dx := make([]float64, len(p.Params)), make([]float64, len(x))
	for h := H - 1; h >= 0; h-- {
		p.Backward(tape, h, weight[h*B*3:(h+1)*B*3], dx[h*B*5:(h+1)*B*5])
	}
	p.Grads(tape, H, grad)
	checkGradient(t, "params", p.Params, grad, forward)
	checkGradient(t, "observation", x, dx, forward)
}

// TestPolicyStart: an untrained policy takes its first action near u0, and does
// not see the inputs that it is to ignore.
func TestPolicyStart(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	p, err := NewPolicy[float64](PolicyConfig{Inputs: 6, Actions: 2, Hidden: []int{16}})
	if err != nil {
		t.Fatal(err)
	}
	u0 := []float64{0.5, -0.1}
	p.Init(rng, u0)
	p.Ignore(4, 6)
	tape, u, other := p.NewTape(1, 1), make([]float64, 2), make([]float64, 2)
	p.Forward(tape, 0, 1, make([]float64, 6), u)
	for j := range u {
		if math.Abs(u[j]-u0[j]) > 1e-12 {
			t.Errorf("action %v without an observation, want %v", u, u0)
		}
	}
	x := normal[float64](rng, 6)
	p.Forward(tape, 0, 1, x, u)
	x[4], x[5] = 9, -9
	p.Forward(tape, 0, 1, x, other)
	if u[0] != other[0] || u[1] != other[1] {
		t.Errorf("ignored inputs moved the action from %v to %v", u, other)
	}
	for _, bad := range []PolicyConfig{{}, {Inputs: 1, Actions: 1}, {Inputs: 1, Actions: 1, Hidden: []int{0}},
		{Inputs: 8192, Actions: 1, Hidden: []int{8192, 8192}}} {
		if _, err := NewPolicy[float32](bad); err == nil {
			t.Errorf("%+v passes", bad)
		}
	}
}
