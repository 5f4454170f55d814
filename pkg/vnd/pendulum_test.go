package vnd

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"vnd/pkg/nn/layers"
	"vnd/pkg/nn/nets"
	"vnd/pkg/robot/pendulum"
	"vnd/pkg/robot/quadrotor"
)

var nominal = pendulum.Robot{Dt: 0.05, Mass: 1, Drag: 0.2}

// swinging is a model of the nominal pendulum with random weights.
func swinging(t *testing.T, rng *rand.Rand) *Model[float32] {
	t.Helper()
	m, err := New(nominal.System(), nets.Config{Context: 2, Encoder: nets.EncoderGRU, EncoderDense: 1, EncoderHidden: 1,
		Hidden: 32, Blocks: 1, Members: 1})
	if err != nil {
		t.Fatal(err)
	}
	m.Net.Init(rng)
	return m
}

// TestSecondRobotLearnsItsHiddenMass: a residual on a pendulum of a wrong mass, learned by gradients through rollouts,
// predicts better than the prior.
func TestSecondRobotLearnsItsHiddenMass(t *testing.T) {
	const B, H, updates = 64, 10, 300
	truth := pendulum.New[float32](pendulum.Robot{Dt: 0.05, Mass: 0.5, Drag: 0.2})
	rng := rand.New(rand.NewPCG(1, 1))
	m := swinging(t, rng)
	r, adam := m.NewRollout(B, H), layers.NewAdam[float32](len(m.Net.Params))
	states, actions := make([]float32, (H+1)*B*2), make([]float32, H*B)
	want, zero, e := make([]float32, B*2), make([]float32, B*2), make([][]float32, H)
	// loss rolls out from random states under random torques and leaves the errors at every step.
	loss := func(rng *rand.Rand) (sum float64) {
		for i := range states[:B*2] {
			states[i] = float32(rng.NormFloat64())
		}
		copy(want, states)
		r.Begin(0, B, H, nil)
		for h := range H {
			a, s, next := actions[h*B:][:B], states[h*B*2:][:B*2], states[(h+1)*B*2:][:B*2]
			for i := range a {
				a[i] = float32(2 * rng.NormFloat64())
			}
			r.Step(h, s, a, next)
			truth.Step(B, want, a, zero, want)
			e[h] = make([]float32, B*2)
			m.System.Minus(B, next, 2, want, 2, e[h])
			for _, x := range e[h] {
				sum += float64(x*x) / (B * H)
			}
		}
		return sum
	}
	prior := loss(rand.New(rand.NewPCG(9, 9)))
	for range updates {
		loss(rng)
		grad, dnext := make([]float32, len(m.Net.Params)), make([]float32, B*2)
		for h := H - 1; h >= 0; h-- {
			for i, x := range e[h] {
				dnext[i] += x / (B * H)
			}
			ds := make([]float32, B*2)
			r.Backward(h, dnext, ds, nil)
			dnext = ds
		}
		r.Grads(false, nil, grad)
		adam.Update(m.Net.Params, grad, 0.005)
		m.Net.Refresh()
	}
	if learned := loss(rand.New(rand.NewPCG(9, 9))); !(learned < prior/20) {
		t.Errorf("the learned residual errs by %g, the prior by %g", learned, prior)
	}
}

func TestSecondRobotComesBackFromItsBundle(t *testing.T) {
	m := swinging(t, rand.New(rand.NewPCG(2, 2)))
	b, err := Bundle(m, nominal, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	back, who, err := FromBundle(b, pendulum.Reader)
	if err != nil || who != nominal || !slices.Equal(back.Net.Params, m.Net.Params) {
		t.Errorf("%+v came back with the error %v", who, err)
	}
	if _, _, err := FromBundle(b, quadrotor.Reader); err == nil || !strings.Contains(err.Error(), `robot "pendulum"`) {
		t.Errorf("a pendulum as a quadrotor: %v", err)
	}
}
