package quadgate

import (
	"slices"
	"strings"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/flight/policy"
	"vnd/pkg/learning/task"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

func TestStatic(t *testing.T) {
	s := taught()
	g := s.gate()
	with := func(change func(b *bundle.Bundle)) *bundle.Bundle {
		c := *s.improved
		c.ID = ""
		change(&c)
		return &c
	}
	noPolicy := must(vnd.Bundle(model(t, s.improved)))
	noModel := with(func(b *bundle.Bundle) {
		b.Config, b.Dimensions = nil, nil
		b.Tensors, b.Normalisers = nil, nil
		if err := policy.Put(b, must(policy.FromBundle(s.improved)), "hover"); err != nil {
			t.Fatal(err)
		}
	})
	eyes := seeing()
	without := blank(t)
	without.Dimensions = map[string]int{"latent": 5}
	for name, c := range map[string]struct {
		b    *bundle.Bundle
		bank []float32
		want string
	}{
		"no policy": {noPolicy, nil, "has no policy"},
		"no model":  {noModel, nil, "the policy sees a latent of 2, and there is no model to make it"},
		"features":  {eyes, nil, "sees features, and no flight of the gate shows it"},
		"robot": {with(func(b *bundle.Bundle) { b.Robot = "arm" }), nil,
			`the bundle is of robot "arm", the vehicle is "quadrotor"`},
		"Δt": {with(func(b *bundle.Bundle) { b.Dt = 0.01 }), nil,
			"Δt is 0.01 s, the current bundle's 0.02 s"},
		"name": {with(func(b *bundle.Bundle) { b.ID = "abc" }), nil,
			"the bundle calls itself abc and is"},
		"dimension": {with(func(b *bundle.Bundle) {
			b.Dimensions = map[string]int{"latent": 2,
				"context": 9}
		}), nil, `dimension "context" is 9, the model's is 6`},
		"bank":                    {s.improved, make([]float32, 3), "3 numbers, not of latents of 2"},
		"dimension without model": {without, nil, `dimension "latent" is 5, and there is no model`},
		"negative normaliser": {each(s.improved, "normaliser.context.scale",
			func(int, float32) float32 { return -1 }), nil, "normaliser of the context: scale 0 is -1"},
		"not finite": {each(s.improved, "policy.head.b",
			func(int, float32) float32 { return float32(nan()) }), nil, `tensor "policy.head.b": number 0 is NaN`},
		"too large": {with(func(b *bundle.Bundle) {
			b.Tensors = append(slices.Clone(b.Tensors),
				bundle.Tensor{Name: "ballast", Shape: []int{bundle.MaxSize / 4},
					Data: make([]float32, bundle.MaxSize/4)})
		}), nil, "the limit is 16777216"},
	} {
		v := try(t, g, c.b, s.improved, c.bank)
		if v.Pass || len(v.Stages) != 1 || !strings.Contains(strings.Join(v.Reasons(), "; "), c.want) {
			t.Errorf("%s: %q, want %q", name, v.Reasons(), c.want)
		}
	}
}

// model unpacks the model of a bundle, with space for what vnd.Bundle notes.
func model(t *testing.T, b *bundle.Bundle) (*vnd.Model[float32], quadrotor.Robot, any, any) {
	t.Helper()
	m, q, err := vnd.FromBundle(b, quadrotor.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return m, q, nil, nil
}

// seeing is a bundle whose policy sees features.
func seeing() *bundle.Bundle {
	var camera policy.Camera
	param.Default(&camera)
	camera.Points = task.Points()
	b := &bundle.Bundle{Robot: quadrotor.Name, Dt: dt}
	o := policy.Observation{PreviewPoints: 1, PastActions: 1, Camera: camera}
	p := must(policy.New[float32](o, *limits(), 0, []int{4}))
	if err := policy.Put(b, p, task.Features); err != nil {
		panic(err)
	}
	return b
}
