package continual

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/policy"
	"vnd/pkg/learning/fit/quadfit"
	"vnd/pkg/learning/gate/quadgate"
	"vnd/pkg/learning/train"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// untrained is a bundle with a policy of random weights.
func untrained(t testing.TB, cfg Config) *bundle.Bundle {
	t.Helper()
	p, err := policy.New[float32](cfg.Policy.Observation, limits(), cfg.Fit.Model.Latent, []int{8})
	if err != nil {
		t.Fatal(err)
	}
	hover := p.Hover()
	p.Net.Init(rand.New(rand.NewPCG(1, 1)), hover[:])
	b := &bundle.Bundle{Robot: quadrotor.Name, Dt: dt}
	if err := policy.Put(b, p, "hover"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Encode(); err != nil {
		t.Fatal(err)
	}
	return b
}

// fitted is a round after its fit, in which all fly the same policy.
func fitted(t *testing.T, bankShare float64) (*round, []quad.Row) {
	t.Helper()
	cfg := tiny()
	cfg.Policy.BankShare = bankShare
	cfg.Policy.Rate, cfg.FineTune.Rate = 1e-30, 1e-30
	start := untrained(t, cfg)
	l, err := New(cfg, start, Options{Tasks: tasks(t), Task: "hover",
		Vehicle: quadgate.Vehicle{Robot: quadrotor.Name, Limits: limits()}})
	if err != nil {
		t.Fatal(err)
	}
	rows, _ := fly(still{}, so3.Vec3{X: 0.1}, 6, rand.New(rand.NewPCG(1, 1)))
	l.Collect(quad.Flight{Name: "f", Segments: [][]quad.Row{rows}})
	r := l.begin(context.Background())
	for _, step := range []func() error{r.plan, r.fit, r.encode} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	return r, rows
}

// TestImprovesUnderSamples: by default the policy is improved, and its trials are flown, under samples of the latent
// prior that the fit estimated. Its centres are latents that the new model gives the buffer.
func TestImprovesUnderSamples(t *testing.T) {
	r, rows := fitted(t, 0)
	m := r.fitted.Model
	Z, all := m.Net.Latent, vnd.Latents(m, quadfit.Robot(r.fitted), [][]quad.Row{rows}, 1)
	for c := range slices.Chunk(m.LatentPrior.Centres, Z) {
		of := func(z []float32) bool { return slices.Equal(z, c) }
		if !slices.ContainsFunc(slices.Collect(slices.Chunk(all, Z)), of) {
			t.Fatalf("centre %v is of no window", c)
		}
	}
	improve := func(shift float32) train.Curve {
		m.LatentPrior = vnd.NewLatentPrior(all, Z)
		for i := range m.LatentPrior.Centres {
			m.LatentPrior.Centres[i] += shift
		}
		if err := r.improve(); err != nil {
			t.Fatal(err)
		}
		return r.out.Curve
	}
	own, same, other := improve(0), improve(0), improve(3)
	if own.Figures[0] != same.Figures[0] || own.Flown[0] != same.Flown[0] {
		t.Error("the same prior makes other episodes")
	}
	if own.Figures[0] == other.Figures[0] || own.Flown[0] == other.Flown[0] {
		t.Errorf("under other latents episodes cost %+v and %+v, trials err by %+v and %+v", own.Figures[0],
			other.Figures[0], own.Flown[0], other.Flown[0])
	}
}

// TestImprovesUnderTheEncodedBank: where it is asked for, the policy is improved, and its trials are flown, under the
// latents that the new model gives the buffer: other latents make other episodes and other trials.
func TestImprovesUnderTheEncodedBank(t *testing.T) {
	r, rows := fitted(t, 1)
	encoded := vnd.Latents(r.fitted.Model, quadfit.Robot(r.fitted), [][]quad.Row{rows}, r.l.cfg.Stride)
	if len(encoded) == 0 || !slices.Equal(r.out.Bank, encoded) {
		t.Errorf("the bank is not of the latents that the new model gives the buffer: %v", r.out.Bank)
	}
	improve := func(shift float32) train.Curve {
		r.out.Bank = slices.Clone(encoded)
		for i := range r.out.Bank {
			r.out.Bank[i] += shift
		}
		if err := r.improve(); err != nil {
			t.Fatal(err)
		}
		return r.out.Curve
	}
	own, same, other := improve(0), improve(0), improve(3)
	if own.Figures[0] != same.Figures[0] || own.Flown[0] != same.Flown[0] {
		t.Error("the same bank makes other episodes")
	}
	if own.Figures[0] == other.Figures[0] {
		t.Errorf("episodes under other latents cost the same, %+v", own.Figures[0])
	}
	if own.Flown[0] == other.Flown[0] {
		t.Errorf("trials under other latents err the same, %+v", own.Flown[0])
	}
}

// still commands hover.
type still struct{}

func (still) Command(float64, *quad.State) quad.Command { return quad.Command{Thrust: quad.Gravity} }
func (still) Reset()                                    {}
