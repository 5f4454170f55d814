package pushlearning

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vnd/pkg/vnd"
)

// TestTrainingGoesOn: a training that was interrupted comes to the same bytes, in the prior and in a model, and a
// checkpoint is taken for that of another one by nobody.
func TestTrainingGoesOn(t *testing.T) {
	m := tinyModel(t)
	for name, plant := range map[string]func() Plant{
		"prior": func() Plant { return NewImagined(16, Prior.System(), nil) },
		"model": func() Plant { return NewImagined(16, Prior.System(), m) },
	} {
		t.Run(name, func(t *testing.T) { goesOn(t, plant) })
	}
}

// goesOn trains without an interruption, and with one.
func goesOn(t *testing.T, plant func() Plant) {
	c := Default().Policy
	c.Iterations, c.Steps, c.Hidden, c.Layers, c.Warmup = 8, 60, 8, 1, 2
	train := func(stopAt int, o Options) (*vnd.Actor[float32], error) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		o.Show = func(p Progress) {
			if p.Iteration == stopAt {
				cancel()
			}
		}
		return Train(ctx, &c, DefaultTask, plant(), nil, o)
	}
	o := Options{Seed: 3, Checkpoint: filepath.Join(t.TempDir(), "checkpoint")}
	whole, err := train(-1, Options{Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{0, 4} {
		if _, err := train(at, o); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	other := o
	other.Key = "another model"
	if _, err := train(-1, other); err == nil || !strings.Contains(err.Error(), "remove it to start anew") {
		t.Errorf("with another key: %v", err)
	}
	p, err := train(-1, o)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(p.Net.Params, whole.Net.Params) || !slices.Equal(p.Norm.Mean, whole.Norm.Mean) {
		t.Error("after an interruption another policy comes out")
	}
}
