package nets

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"vnd/pkg/nn/kernel"
	"vnd/pkg/nn/layers"
)

// golden is one variant of testdata/golden.json, which testdata/golden.py wrote.
type golden struct {
	Tensors      [][2]any // name, shape
	Z, Y, Rec    []float64
	Grad, Losses []float64
}

const (
	goldenB     = 10
	goldenDelta = 0.5
	goldenSigma = 2
)

func goldenConfigs() map[string]Config {
	film := Config{Context: 5, ContextInputs: 4, Inputs: 6, Outputs: 3, Latent: 2, Encoder: EncoderGRU, EncoderDense: 7,
		EncoderHidden: 6, Hidden: 8, Blocks: 2, Film: true, DecoderHidden: 9, Members: 1}
	joined := film
	joined.Encoder, joined.Film = EncoderMLP, false
	return map[string]Config{"gru film": film, "mlp joined": joined}
}

func sines[F kernel.Float](n int, frequency, phase, size float64) []F {
	x := make([]F, n)
	for i := range x {
		x[i] = F(size * math.Sin(frequency*float64(i)+phase))
	}
	return x
}

// composed is the one-step loss of golden.py on its data.
type composed[F kernel.Float] struct {
	*Net[F]
	context, windows, x, target, samples []F
	encoder                              *EncoderTape[F]
	residual                             *ResidualTape[F]
	decoder                              *DecoderTape[F]
	mmd                                  *layers.MMD[F]
	z, y, rec, dz, dy, drec              []F
	grad                                 []F
}

func newComposed[F kernel.Float](t *testing.T, c Config) *composed[F] {
	n, err := New[F](c)
	if err != nil {
		t.Fatal(err)
	}
	n.Params = sines[F](len(n.Params), 2.399963, 0.1, 0.5)
	const B = goldenB
	g := &composed[F]{Net: n,
		context: sines[F](c.Context*B*c.ContextInputs, 0.37, 0.2, 1.5), windows: make([]F, c.Context*B*c.ContextInputs),
		x: sines[F](B*c.Inputs, 0.73, 0.4, 1.5), target: sines[F](B*c.Outputs, 1.1, 0.6, 1.2),
		samples: sines[F](B*c.Latent, 1.7, 0.8, 1.4),
		encoder: n.NewEncoderTape(B), residual: n.NewResidualTape(B, 1), decoder: n.NewDecoderTape(B),
		mmd: layers.NewMMD[F](B, c.Latent),
		z:   make([]F, B*c.Latent), y: make([]F, B*c.Outputs), rec: make([]F, B*c.Context*c.ContextInputs),
		dz: make([]F, B*c.Latent), dy: make([]F, B*c.Outputs), drec: make([]F, B*c.Context*c.ContextInputs),
		grad: make([]F, len(n.Params)),
	}
	flatten(c.Context, B, c.ContextInputs, g.context, g.windows)
	return g
}

// loss runs all nets forward and backward; the gradient is in grad after it.
func (g *composed[F]) loss() float64 {
	const B = goldenB
	clear(g.grad)
	clear(g.dz)
	g.Refresh()
	g.EncodeTape(g.encoder, B, g.context, g.z)
	g.Condition(g.residual, 0, B, g.z)
	g.Net.ResidualTape(g.residual, 0, 0, B, g.x, g.y)
	g.DecodeTape(g.decoder, B, g.z, g.rec)
	sum := layers.Huber(B, g.Outputs, g.y, g.target, nil, goldenDelta, 1/float64(len(g.y)), g.dy)
	sum += layers.SquaredError(B, g.Context*g.ContextInputs, g.rec, g.windows, nil, 0.5/float64(len(g.rec)), g.drec)
	sum += g.mmd.Rows(B, 0, B, g.z, g.samples, goldenSigma, 0.1, g.dz)
	g.ResidualBackward(g.residual, 0, 0, g.dy, nil)
	g.ResidualGrads(g.residual, 0, 1, g.z, g.dz, g.grad)
	g.DecodeBackward(g.decoder, g.z, g.drec, g.dz, g.grad)
	g.EncodeBackward(g.encoder, g.context, g.dz, g.grad)
	return sum
}

// TestGolden compares outputs, gradients and ten Adam losses with JAX in
// float64: to 1e-11 in float64, to 2e-5 in float32.
func TestGolden(t *testing.T) {
	data, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]golden
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	for name, c := range goldenConfigs() {
		t.Run(name+" float64", func(t *testing.T) { compareGolden(t, newComposed[float64](t, c), all[name], 1e-11) })
		t.Run(name+" float32", func(t *testing.T) { compareGolden(t, newComposed[float32](t, c), all[name], 2e-5) })
	}
}

func compareGolden[F kernel.Float](t *testing.T, g *composed[F], want golden, tol float64) {
	if len(g.Tensors()) != len(want.Tensors) {
		t.Fatalf("%d tensors, want %d", len(g.Tensors()), len(want.Tensors))
	}
	for i, tensor := range g.Tensors() {
		if got := fmt.Sprint(tensor.Name, tensor.Shape); got != fmt.Sprint(want.Tensors[i][0], want.Tensors[i][1]) {
			t.Fatalf("tensor %d is %s, want %v", i, got, want.Tensors[i])
		}
	}
	adam := layers.NewAdam[F](len(g.Params))
	adam.WeightDecay, adam.Clip = 0.1, 0.4
	losses := make([]F, 10)
	for i := range losses {
		losses[i] = F(g.loss())
		if i == 0 {
			near(t, "z", g.z, want.Z, tol)
			near(t, "y", g.y, want.Y, tol)
			near(t, "rec", g.rec, want.Rec, tol)
			for _, tensor := range g.Tensors() {
				from, to := tensor.Offset, tensor.Offset+tensor.Size()
				near(t, "gradient of "+tensor.Name, g.grad[from:to], want.Grad[from:to], tol)
			}
		}
		adam.Update(g.Params, g.grad, 0.01)
	}
	near(t, "losses", losses, want.Losses, tol)
}

func near[F kernel.Float](t *testing.T, what string, got []F, want []float64, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	for i := range got {
		if !(math.Abs(float64(got[i])-want[i]) <= tol*(1+math.Abs(want[i]))) {
			t.Fatalf("%s[%d] = %v, want %v", what, i, got[i], want[i])
		}
	}
}
