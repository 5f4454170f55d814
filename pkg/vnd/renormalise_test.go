package vnd

import (
	"math"
	"math/rand/v2"
	"testing"

	"vnd/pkg/nn/nets"
	"vnd/pkg/robot/quadrotor"
)

// TestRenormalisedModelSaysTheSame: latents, residuals and decoded windows, all in units of the robot.
func TestRenormalisedModelSaysTheSame(t *testing.T) {
	for name, change := range map[string]func(*nets.Config){
		"gru film":   func(*nets.Config) {},
		"mlp joined": func(c *nets.Config) { c.Encoder, c.Film = nets.EncoderMLP, false },
		"no latent":  func(c *nets.Config) { c.Latent, c.DecoderHidden = 0, 0 },
	} {
		t.Run(name, func(t *testing.T) {
			c := netConfig(2)
			c.DecoderHidden = 7
			change(&c)
			m := random(t, quadrotor.Robot{Dt: .02, Actuator: quadrotor.NominalActuator(), Prior: true}, c)
			rng := rand.New(rand.NewPCG(1, 2))
			m.Context.Scale[3], m.Inputs.Scale[4], m.Output[2] = 0, 0, 0 // off
			before := said(m)
			m.Renormalise(other(m.Context, rng, 3), other(m.Inputs, rng, 4), scaled(m.Output, rng))
			for i, x := range said(m) {
				if want := before[i]; math.Abs(float64(x-want)) > 1e-4*(1+math.Abs(float64(want))) {
					t.Fatalf("number %d is %v, it was %v", i, x, want)
				}
			}
		})
	}
}

// other is a normaliser of other data. A channel that is off comes on.
func other(n Norm[float32], rng *rand.Rand, off int) Norm[float32] {
	out := Norm[float32]{scaled(n.Mean, rng), scaled(n.Scale, rng)}
	for i := range out.Mean {
		out.Mean[i] += float32(rng.NormFloat64())
	}
	out.Scale[off] = 2
	return out
}

func scaled(x []float32, rng *rand.Rand) (out []float32) {
	for _, v := range x {
		out = append(out, v*float32(math.Exp(rng.NormFloat64())))
	}
	return out
}

// said is what a model makes of random rows.
func said(m *Model[float32]) (all []float32) {
	const B = 3
	rng, n := rand.New(rand.NewPCG(3, 4)), m.Net
	context, inputs := make([]float32, n.Context*B*n.ContextInputs), make([]float32, B*n.Inputs)
	for _, x := range [][]float32{context, inputs} {
		for i := range x {
			x[i] = float32(2 * rng.NormFloat64())
		}
	}
	m.Context.Apply(context)
	m.Inputs.Apply(inputs)
	z, y := make([]float32, B*n.Latent), make([]float32, B*n.Outputs)
	n.Encode(n.NewEncoderTape(B), B, context, z)
	for member := range n.Members {
		tape := n.NewResidualTape(B, 0)
		n.Condition(tape, member, B, z)
		n.Residual(tape, member, B, inputs, y)
		for i, v := range y {
			all = append(all, v*m.Output[i%n.Outputs])
		}
	}
	if n.Latent == 0 {
		return all
	}
	window := make([]float32, B*n.Context*n.ContextInputs)
	n.DecodeTape(n.NewDecoderTape(B), B, z, window)
	for i, v := range window {
		if c := i % n.ContextInputs; c != 3 { // one that was off says nothing
			all = append(all, v/m.Context.Scale[c]+m.Context.Mean[c])
		}
	}
	return append(all, z...)
}
