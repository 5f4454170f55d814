package closedloop

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/flight/policy"
	"vnd/pkg/flight/reference"
	"vnd/pkg/learning/gate"
	"vnd/pkg/nn/nets"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// TestJudgeFliesAtTheConfiguredLatentAge: where no latent is ever young enough, the policy flies under the prior mean.
func TestJudgeFliesAtTheConfiguredLatentAge(t *testing.T) {
	var limits quad.Limits
	param.Default(&limits)
	path, err := reference.OfTask("hover")
	if err != nil {
		t.Fatal(err)
	}
	b := listening(t, limits)
	commands := func(age float64) [][]float64 {
		config := judging()
		config.Seconds, config.LatentAge = 1.5, age
		j := NewJudge(config, []reference.Reference{path}, limits, nil, nil)
		f, err := j.Fly(context.Background(), b, gate.Trial{Number: 1, DisturbanceStrength: math.Inf(1)})
		if err != nil {
			t.Fatal(err)
		}
		return f.Actions
	}
	if slices.EqualFunc(commands(0.1), commands(0.001), slices.Equal) {
		t.Error("a latent that is older than latent_age is used")
	}
	if !slices.EqualFunc(commands(0.1), commands(0.2), slices.Equal) {
		t.Error("fresh latents are not used alike")
	}
}

// listening is a bundle of random weights whose policy flies under latents.
func listening(t *testing.T, limits quad.Limits) *bundle.Bundle {
	t.Helper()
	q := quadrotor.Robot{Dt: 0.02, Actuator: quadrotor.NominalActuator(), Prior: true}
	m, err := vnd.New[float32](q.System(), nets.Config{Context: 10, Latent: 3, Encoder: nets.EncoderGRU,
		EncoderDense: 8, EncoderHidden: 8, Hidden: 8, Blocks: 1, Film: true, Members: 1})
	if err != nil {
		t.Fatal(err)
	}
	m.Net.Init(rand.New(rand.NewPCG(1, 1)))
	b, err := vnd.Bundle(m, q, struct{}{}, struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	var o policy.Observation
	param.Default(&o)
	p, err := policy.New[float32](o, limits, 3, []int{8})
	if err != nil {
		t.Fatal(err)
	}
	hover := p.Hover()
	p.Net.Init(rand.New(rand.NewPCG(1, 2)), hover[:])
	if err := policy.Put(b, p, "hover"); err != nil {
		t.Fatal(err)
	}
	return b
}
