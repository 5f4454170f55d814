package nets

import (
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"vnd/pkg/nn/kernel"
)

// paper holds the sizes of the paper's quadrotor model, with 24 residual inputs.
func paper() Config {
	return Config{Context: 20, ContextInputs: 14, Inputs: 24, Outputs: 9, Latent: 12, Encoder: EncoderGRU,
		EncoderDense: 128, EncoderHidden: 128, Hidden: 256, Blocks: 2, Film: true, DecoderHidden: 256, Members: 1}
}

// measure times loop, whose every turn takes the given multiply-adds, by the
// processor time of this process: other processes then matter less.
func measure(b *testing.B, multiplyAdds int, loop func()) {
	loop()
	var from, to syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &from)
	for b.Loop() {
		loop()
	}
	syscall.Getrusage(syscall.RUSAGE_SELF, &to)
	spent := func(u syscall.Rusage) time.Duration { return time.Duration(u.Utime.Nano() + u.Stime.Nano()) }
	b.ReportMetric(2*float64(multiplyAdds)*float64(b.N)/float64(spent(to)-spent(from)), "GFLOP/cpu-s")
}

// BenchmarkRollout is the forward and backward pass of a residual rollout of 50
// steps over a shard of 64 contexts, counted by the products alone.
func BenchmarkRollout(b *testing.B) {
	const B, H = 64, 50
	c, rng := paper(), rand.New(rand.NewPCG(1, 1))
	n := newNet[float32](b, c, rng)
	tape := n.NewResidualTape(B, H)
	z, x, y := normal[float32](rng, B*c.Latent), normal[float32](rng, B*c.Inputs), make([]float32, B*c.Outputs)
	dy, dx := normal[float32](rng, len(y)), make([]float32, len(x))
	dz, grad := make([]float32, len(z)), make([]float32, len(n.Params))
	b.Log(kernel.Name())
	perStep := B * (c.Inputs*c.Hidden + c.Blocks*c.Hidden*c.Hidden + c.Hidden*c.Outputs)
	measure(b, 3*(H*perStep+B*c.Blocks*c.Latent*2*c.Hidden), func() {
		n.Condition(tape, 0, B, z)
		for h := range H {
			n.ResidualTape(tape, 0, h, B, x, y)
		}
		for h := H - 1; h >= 0; h-- {
			n.ResidualBackward(tape, 0, h, dy, dx)
		}
		n.ResidualGrads(tape, 0, H, z, dz, grad)
	})
}

// BenchmarkEncoder is the forward and backward pass of 64 contexts.
func BenchmarkEncoder(b *testing.B) {
	const B = 64
	c, rng := paper(), rand.New(rand.NewPCG(1, 1))
	n := newNet[float32](b, c, rng)
	tape := n.NewEncoderTape(B)
	ctx, z := normal[float32](rng, c.Context*B*c.ContextInputs), make([]float32, B*c.Latent)
	dz, grad := normal[float32](rng, len(z)), make([]float32, len(n.Params))
	e, h := c.EncoderDense, c.EncoderHidden
	measure(b, c.Context*B*(2*c.ContextInputs*e+3*3*h*(e+h))+3*B*h*c.Latent, func() {
		n.EncodeTape(tape, B, ctx, z)
		n.EncodeBackward(tape, ctx, dz, grad)
	})
}

// BenchmarkFlight is what one tick of flight needs: one latent, one residual.
func BenchmarkFlight(b *testing.B) {
	c, rng := paper(), rand.New(rand.NewPCG(1, 1))
	n := newNet[float32](b, c, rng)
	encoder, residual := n.NewEncoderTape(1), n.NewResidualTape(1, 0)
	ctx, z := normal[float32](rng, c.Context*c.ContextInputs), make([]float32, c.Latent)
	x, y := normal[float32](rng, c.Inputs), make([]float32, c.Outputs)
	e, h := c.EncoderDense, c.EncoderHidden
	encode := c.Context*(c.ContextInputs*e+3*h*(e+h)) + h*c.Latent
	step := c.Blocks*c.Hidden*(c.Hidden+2*c.Latent) + c.Hidden*(c.Inputs+c.Outputs)
	measure(b, encode+step, func() {
		n.Encode(encoder, 1, ctx, z)
		n.Condition(residual, 0, 1, z)
		n.Residual(residual, 0, 1, x, y)
	})
}
