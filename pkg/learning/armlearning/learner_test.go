package armlearning

import (
	"strings"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/learning/continual/stretches"
	"vnd/pkg/nn/nets"
	"vnd/pkg/vnd"
)

// TestOtherSizes: a model of other sizes than the configuration has is not gone on from, where each round would fail. A
// policy with another latent is refused.
func TestOtherSizes(t *testing.T) {
	var cfg Rounds
	param.Default(&cfg)
	c := &cfg.Fit.Model
	c.EncoderDense, c.EncoderHidden, c.Hidden = 4, 4, 8
	references, err := References([]string{"circle"}, 0.25)
	if err != nil {
		t.Fatal(err)
	}
	task := Task(Spread, references...)
	base := cfg.Base
	base.Hidden = 4
	p, err := NewPolicy(&base, task, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := vnd.New[float32](Prior.System(), nets.Config{Context: c.Context, Latent: c.Latent, Encoder: c.Encoder,
		EncoderDense: 4, EncoderHidden: 4, Hidden: 8, Blocks: c.Blocks, Film: c.Film, Members: c.Members})
	if err != nil {
		t.Fatal(err)
	}
	b, err := Pack(m, p)
	if err == nil {
		_, err = b.Encode()
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, hidden := range []int{8, 16} {
		c.Hidden = hidden
		l, err := New(cfg, b, task, stretches.Options{})
		if err != nil || l.Warm() != (hidden == 8) {
			t.Errorf("hidden %d: %v, %v", hidden, l, err)
		}
	}
	c.Latent = 3
	_, err = New(cfg, b, task, stretches.Options{})
	if err == nil || !strings.Contains(err.Error(), "a latent of 2, expected one of 3") {
		t.Error(err)
	}
}
