package vnd

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"vnd/pkg/nn/nets"
	"vnd/pkg/robot/pendulum"
	"vnd/pkg/vnd/bundle"
)

// actor sees three numbers and a latent of two, and has two actions.
func actor(t *testing.T) *Actor[float32] {
	t.Helper()
	p, err := NewActor(3, 2, []float32{1, 0}, []float32{4, 2}, []int{5})
	if err != nil {
		t.Fatal(err)
	}
	p.Net.Init(rand.New(rand.NewPCG(1, 1)), []float32{0, 0})
	p.Norm.Mean[1], p.Norm.Scale[2] = 0.5, 3
	return p
}

func TestActorComesBackFromItsBundle(t *testing.T) {
	p, b := actor(t), &bundle.Bundle{Robot: pendulum.Name, Dt: nominal.Dt}
	for range 2 { // the second replaces the first
		if err := PutActor(b, p, nil, "hold"); err != nil {
			t.Fatal(err)
		}
	}
	back, err := ActorFromBundle(b)
	if err != nil {
		t.Fatal(err)
	}
	if b.Task != "hold" || back.Latent != 2 || back.Size() != 3 || !slices.Equal(back.Net.Params, p.Net.Params) ||
		!slices.Equal(back.Norm.Mean, p.Norm.Mean) || !slices.Equal(back.Norm.Scale, p.Norm.Scale) ||
		!slices.Equal(back.Middle, p.Middle) || !slices.Equal(back.Half, p.Half) {
		t.Errorf("%+v came back", back)
	}
}

func TestActorFromBundleRefusesWhatDoesNotFit(t *testing.T) {
	for name, c := range map[string]struct {
		config actorConfig
		want   string
	}{
		"more latent than inputs": {actorConfig{5, nets.PolicyConfig{Inputs: 5, Actions: 2, Hidden: []int{5}},
			[]float32{1, 0}, []float32{4, 2}}, "with a latent of 5"},
		"a range too few": {actorConfig{2, nets.PolicyConfig{Inputs: 5, Actions: 2, Hidden: []int{5}}, []float32{1, 0},
			[]float32{4}}, "2 actions with ranges of 1"},
		"other tensors": {actorConfig{2, nets.PolicyConfig{Inputs: 5, Actions: 2, Hidden: []int{6}}, []float32{1, 0},
			[]float32{4, 2}}, "policy.dense1.w"},
	} {
		t.Run(name, func(t *testing.T) {
			b := &bundle.Bundle{Robot: pendulum.Name, Dt: nominal.Dt}
			if err := PutActor(b, actor(t), c.config, "hold"); err != nil {
				t.Fatal(err)
			}
			if _, err := ActorFromBundle(b); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// TestActorUnits: units and actions are each other's inverse within the ranges, and units stay within them.
func TestActorUnits(t *testing.T) {
	p := actor(t)
	a, u := make([]float32, 4), make([]float32, 2)
	p.Actions([]float32{0.5, -1, -0.25, 0}, a)
	if want := []float32{3, -2, 0, 0}; !slices.Equal(a, want) {
		t.Errorf("actions %v, want %v", a, want)
	}
	p.Units([]float32{9, -1}, u)
	if want := []float32{1, -0.5}; !slices.Equal(u, want) {
		t.Errorf("units %v, want %v", u, want)
	}
	if !p.UsesLatent() {
		t.Error("a policy that sees its latent is said not to")
	}
	p.Net.Ignore(3, 5)
	if p.UsesLatent() {
		t.Error("a policy that ignores its latent is said to see it")
	}
}
