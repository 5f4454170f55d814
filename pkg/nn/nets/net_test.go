package nets

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"vnd/pkg/nn/kernel"
)

// same fails unless two slices agree bit for bit.
func same(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Fatalf("%s[%d] = %v, with a tape %v", what, i, got[i], want[i])
		}
	}
}

// TestTapeChangesNothing: what flies without a tape is what was trained with one,
// bit for bit, and a pass without a tape leaves recorded steps alone.
func TestTapeChangesNothing(t *testing.T) {
	configs := variants()
	configs["paper"] = paper()
	for name, c := range configs {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(7, 8))
			n := newNet[float32](t, c, rng)
			for _, B := range []int{1, 5} {
				encoder, residual := n.NewEncoderTape(6), n.NewResidualTape(6, 2)
				ctx := normal[float32](rng, c.Context*B*c.ContextInputs)
				z, zTape := make([]float32, B*c.Latent), make([]float32, B*c.Latent)
				n.EncodeTape(encoder, B, ctx, zTape)
				n.Encode(encoder, B, ctx, z)
				same(t, "z", z, zTape)

				x := normal[float32](rng, 2*B*c.Inputs)
				y, yTape := make([]float32, 2*B*c.Outputs), make([]float32, 2*B*c.Outputs)
				member := c.Members - 1
				n.Condition(residual, member, B, z)
				for h := range 2 {
					xs, ys := x[h*B*c.Inputs:], y[h*B*c.Outputs:]
					n.ResidualTape(residual, member, h, B, xs, yTape[h*B*c.Outputs:])
					recorded := append([]float32(nil), residual.slope[0]...)
					n.Residual(residual, member, B, xs, ys)
					same(t, "tape", residual.slope[0], recorded)
				}
				same(t, "y", y, yTape)
			}
		})
	}
}

// TestPassTape: a frozen net has the outputs, and the gradients of its inputs, that it has while it is trained.
func TestPassTape(t *testing.T) {
	for name, c := range variants() {
		rng := rand.New(rand.NewPCG(10, 10))
		n := newNet[float32](t, c, rng)
		const B, H = 5, 2
		z, x, dy := normal[float32](rng, B*c.Latent), normal[float32](rng, H*B*c.Inputs),
			normal[float32](rng, H*B*c.Outputs)
		var y, dx [2][]float32
		for i, tape := range []*ResidualTape[float32]{n.NewResidualTape(B, H), n.NewPassTape(B, H)} {
			y[i], dx[i] = make([]float32, len(dy)), make([]float32, len(x))
			n.Condition(tape, 0, B, z)
			for h := range H {
				n.ResidualTape(tape, 0, h, B, x[h*B*c.Inputs:], y[i][h*B*c.Outputs:])
			}
			for h := range H {
				n.ResidualBackward(tape, 0, h, dy[h*B*c.Outputs:(h+1)*B*c.Outputs], dx[i][h*B*c.Inputs:])
			}
		}
		same(t, name+" y", y[1], y[0])
		same(t, name+" dx", dx[1], dx[0])
	}
}

// roundsLike fails unless numbers are off by as much as bfloat16 makes them, or not at all where nothing is rounded.
func roundsLike(t *testing.T, what string, got, plain []float32, rounds bool) {
	t.Helper()
	d := slices.Clone(got)
	kernel.Axpy(-1, plain, d)
	off := math.Sqrt(kernel.SquaredNorm(d) / kernel.SquaredNorm(plain))
	if off > 0.02 || (off > 0) != (rounds && kernel.HasBFloat16()) {
		t.Errorf("%s: off by %v, to be rounded: %v, kernels that reduce: %v", what, off, rounds, kernel.HasBFloat16())
	}
}

// TestBFloat16: a net in bfloat16 reads the same parameters, and rounds between hidden layers alone, where the kernels
// do so.
func TestBFloat16(t *testing.T) {
	const B = 5
	rng := rand.New(rand.NewPCG(12, 12))
	for name, c := range variants() {
		n := newNet[float32](t, c, rng)
		z, x := normal[float32](rng, B*c.Latent), normal[float32](rng, B*c.Inputs)
		var y [2][]float32
		for i, net := range []*Net[float32]{n, n.BFloat16()} {
			y[i] = make([]float32, B*c.Outputs)
			tape := net.NewPassTape(B, 0)
			net.Condition(tape, 0, B, z)
			net.Residual(tape, 0, B, x, y[i])
		}
		roundsLike(t, name, y[1], y[0], c.Blocks > 0)
		if c.Latent == 0 {
			continue
		}
		ctx := normal[float32](rng, c.Context*B*c.ContextInputs)
		var latents, windows [2][]float32
		for i, net := range []*Net[float32]{n, n.BFloat16()} {
			latents[i], windows[i] = make([]float32, B*c.Latent), make([]float32, B*c.Context*c.ContextInputs)
			net.Encode(net.NewEncoderTape(B), B, ctx, latents[i])
			net.DecodeTape(net.NewDecoderTape(B), B, z, windows[i])
		}
		roundsLike(t, name+" encoder", latents[1], latents[0], true)
		roundsLike(t, name+" decoder", windows[1], windows[0], true)
	}
	if !kernel.HasBFloat16() {
		t.Skip("SKIPPED: no products in bfloat16 here: the kernels are " + kernel.Name())
	}
}

// TestPolicyBFloat16: so does a policy, on the way back, too.
func TestPolicyBFloat16(t *testing.T) {
	const B = 5
	rng := rand.New(rand.NewPCG(13, 13))
	for _, hidden := range [][]int{{8}, {8, 8}, {8, 8, 8}} {
		p, err := NewPolicy[float32](PolicyConfig{Inputs: 6, Actions: 4, Hidden: hidden})
		if err != nil {
			t.Fatal(err)
		}
		p.Init(rng, make([]float32, 4))
		x := normal[float32](rng, B*6)
		var u, dx, grad [2][]float32
		for i, policy := range []*Policy[float32]{p, p.BFloat16()} {
			u[i], dx[i], grad[i] = make([]float32, B*4), make([]float32, B*6), make([]float32, len(p.Params))
			tape := policy.NewTape(B, 1)
			policy.Forward(tape, 0, B, x, u[i])
			policy.Backward(tape, 0, x[:B*4], dx[i])
			policy.Grads(tape, 1, grad[i])
		}
		roundsLike(t, fmt.Sprint("policy ", hidden), u[1], u[0], len(hidden) > 1)
		roundsLike(t, fmt.Sprint("policy ", hidden, ", gradient of inputs"), dx[1], dx[0], len(hidden) > 1)
		roundsLike(t, fmt.Sprint("policy ", hidden, ", gradient"), grad[1], grad[0], len(hidden) > 1)
	}
	if !kernel.HasBFloat16() {
		t.Skip("SKIPPED: no products in bfloat16 here: the kernels are " + kernel.Name())
	}
}

// TestRefresh: what the passes read follows Params, for the parts of a net and for a policy.
func TestRefresh(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 11))
	n := newNet[float32](t, small(), rng)
	tape, x := n.NewResidualTape(1, 0), normal[float32](rng, n.Inputs)
	p, err := NewPolicy[float32](PolicyConfig{Inputs: n.Inputs, Actions: n.Outputs, Hidden: []int{4}})
	if err != nil {
		t.Fatal(err)
	}
	steer := p.NewTape(1, 1)
	for _, weight := range []float32{0, 0.1} {
		for _, params := range [][]float32{n.Params, p.Params} {
			for i := range params {
				params[i] = weight
			}
		}
		n.Refresh()
		p.Refresh()
		y, u := make([]float32, n.Outputs), make([]float32, n.Outputs)
		n.Condition(tape, 0, 1, make([]float32, n.Latent))
		n.Residual(tape, 0, 1, x, y)
		p.Forward(steer, 0, 1, x, u)
		if (y[0] != 0) != (weight != 0) || (u[0] != 0) != (weight != 0) {
			t.Errorf("weights of %v: residual %v, action %v", weight, y[0], u[0])
		}
	}
}

// TestNoAllocation: the passes without a tape run in the control tick, and those
// with one thousands of times in a training.
func TestNoAllocation(t *testing.T) {
	const B = 3
	for name, c := range variants() {
		rng := rand.New(rand.NewPCG(9, 9))
		n := newNet[float32](t, c, rng)
		encoder, residual, decoder := n.NewEncoderTape(B), n.NewResidualTape(B, 1), n.NewDecoderTape(B)
		ctx, z := normal[float32](rng, c.Context*B*c.ContextInputs), make([]float32, B*c.Latent)
		x, y := normal[float32](rng, B*c.Inputs), make([]float32, B*c.Outputs)
		rec, dz, grad := make([]float32, B*c.Context*c.ContextInputs), make([]float32, len(z)),
			make([]float32, len(n.Params))
		passes := map[string]func(){
			"Encode":    func() { n.Encode(encoder, B, ctx, z) },
			"Condition": func() { n.Condition(residual, 0, B, z) },
			"Residual":  func() { n.Residual(residual, 0, B, x, y) },
			"training": func() {
				n.EncodeTape(encoder, B, ctx, z)
				n.Condition(residual, 0, B, z)
				n.ResidualTape(residual, 0, 0, B, x, y)
				n.ResidualBackward(residual, 0, 0, y, x)
				n.ResidualGrads(residual, 0, 1, z, dz, grad)
				n.DecodeTape(decoder, B, z, rec)
				n.DecodeBackward(decoder, z, rec, dz, grad)
				n.EncodeBackward(encoder, ctx, dz, grad)
			},
		}
		for pass, f := range passes {
			if allocs := testing.AllocsPerRun(5, f); allocs != 0 {
				t.Errorf("%s: %s allocates %v times", name, pass, allocs)
			}
		}
	}
}

// TestLayout: tensors follow one another without a gap, under names of their own.
func TestLayout(t *testing.T) {
	for name, c := range variants() {
		n, err := New[float32](c)
		if err != nil {
			t.Fatal(err)
		}
		end, seen := 0, map[string]bool{}
		for _, tensor := range n.Tensors() {
			if tensor.Offset != end || tensor.Size() <= 0 || seen[tensor.Name] {
				t.Errorf("%s: %+v after %d", name, tensor, end)
			}
			seen[tensor.Name] = true
			end += tensor.Size()
		}
		if end != len(n.Params) {
			t.Errorf("%s: %d parameters, tensors end at %d", name, len(n.Params), end)
		}
	}
	n, _ := New[float32](paper())
	if len(n.Params) != 102540+153609+141080 { // encoder, residual, decoder, by hand
		t.Errorf("the paper's model has %d parameters", len(n.Params))
	}
}

func TestBadConfig(t *testing.T) {
	cases := map[string]func(*Config){
		"Inputs": func(c *Config) { c.Inputs = 0 }, "Outputs": func(c *Config) { c.Outputs = -1 },
		"Latent": func(c *Config) { c.Latent = -1 }, "Hidden": func(c *Config) { c.Hidden = 0 },
		"Blocks": func(c *Config) { c.Blocks = -1 }, "Members": func(c *Config) { c.Members = 0 },
		"DecoderHidden": func(c *Config) { c.DecoderHidden = -2 }, "Context": func(c *Config) { c.Context = 0 },
		"ContextInputs": func(c *Config) { c.ContextInputs = 0 },
		"EncoderDense":  func(c *Config) { c.EncoderDense = 0 },
		"EncoderHidden": func(c *Config) { c.EncoderHidden = 0 }, "Encoder": func(c *Config) { c.Encoder = "lstm" },
	}
	for field, spoil := range cases {
		c := small()
		spoil(&c)
		if _, err := New[float64](c); err == nil || !strings.HasPrefix(err.Error(), "model: "+field+" is ") {
			t.Errorf("%s: error %v", field, err)
		}
	}
	c := Config{Inputs: 3, Outputs: 2, Hidden: 4, Members: 1} // without a latent no encoder is asked for
	if _, err := New[float32](c); err != nil {
		t.Error(err)
	}
}

// TestInit: seeded, of the sizes that keep signals alive, and nearly silent at
// the residual's output.
func TestInit(t *testing.T) {
	draw := func(seed uint64) *Net[float32] {
		n, _ := New[float32](paper())
		n.Init(rand.New(rand.NewPCG(seed, 0)))
		return n
	}
	n, again, other := draw(1), draw(1), draw(2)
	same(t, "params", again.Params, n.Params)
	if kernel.SquaredNorm(n.Params) == kernel.SquaredNorm(other.Params) {
		t.Error("another seed drew the same parameters")
	}
	for _, tensor := range n.Tensors() {
		w := n.Params[tensor.Offset : tensor.Offset+tensor.Size()]
		rms := math.Sqrt(kernel.SquaredNorm(w) / float64(len(w)))
		want := 0.0
		if len(tensor.Shape) == 2 {
			want = math.Sqrt(1 / float64(tensor.Shape[0]))
			if strings.Contains(tensor.Name, "film") || strings.HasPrefix(tensor.Name, "residual") &&
				strings.Contains(tensor.Name, "head") {
				want *= smallGain
			}
		}
		if math.Abs(rms-want) > 0.1*want {
			t.Errorf("%s has size %.4f, want %.4f", tensor.Name, rms, want)
		}
	}
	const B = 64
	rng := rand.New(rand.NewPCG(3, 3))
	tape, y := n.NewResidualTape(B, 0), make([]float32, B*n.Outputs)
	n.Condition(tape, 0, B, normal[float32](rng, B*n.Latent))
	n.Residual(tape, 0, B, normal[float32](rng, B*n.Inputs), y)
	if rms := math.Sqrt(kernel.SquaredNorm(y) / float64(len(y))); rms > smallGain || rms == 0 {
		t.Errorf("an untrained residual has size %.3f", rms)
	}
}
