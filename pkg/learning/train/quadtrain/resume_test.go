package quadtrain

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vnd/pkg/flight/policy"
	"vnd/pkg/learning/train"
)

// TestResume: interrupted after some epochs and taken up again, a training ends with the same bytes, from nothing and
// from a policy.
func TestResume(t *testing.T) {
	c := small(t)
	c.Epochs = 6
	opt := Options{Seed: 5, Tasks: tasksAlong(circle), Limits: limits()}
	first := resumed(t, c, opt)
	opt.From = first
	resumed(t, c, opt)
}

// resumed is the policy of a training.
func resumed(t *testing.T, c Config, opt Options) *policy.Policy[float32] {
	t.Helper()
	whole, err := Run(context.Background(), c, nominal(), 0.02, opt)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	opt.Checkpoint = filepath.Join(t.TempDir(), "p.checkpoint")
	opt.Progress = func(p train.Progress) {
		if p.Epoch == 3 {
			cancel()
		}
	}
	if _, err := Run(ctx, c, nominal(), 0.02, opt); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	opt.Progress = nil
	r, err := Run(context.Background(), c, nominal(), 0.02, opt)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(r.Policy.Net.Params, whole.Policy.Net.Params) || len(r.Curve.Figures) != 6 {
		t.Error("a resumed training makes another policy")
	}
	opt.Seed = 6
	if _, err := Run(context.Background(), c, nominal(), 0.02, opt); err == nil ||
		!strings.Contains(err.Error(), "another configuration") {
		t.Errorf("checkpoint of another seed: %v", err)
	}
	opt.Seed, opt.Key = 5, "another world"
	if _, err := Run(context.Background(), c, nominal(), 0.02, opt); err == nil ||
		!strings.Contains(err.Error(), "another configuration") {
		t.Errorf("checkpoint of another key: %v", err)
	}
	return whole.Policy
}
