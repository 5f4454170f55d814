package gate

import (
	"context"
	"math/rand/v2"

	"vnd/pkg/learning/train"
)

// shadow flies both bundles in the candidate's learned model.
func (g *Gate) shadow(ctx context.Context, candidate, current *Loaded, bank []float32) (Stage, error) {
	if candidate.Model == nil {
		return Stage{Name: StageShadow, Pass: true, Skipped: "the candidate has no model"}, nil
	}
	cfg, m := &g.Config.Shadow, candidate.Model
	steps, sample := int(cfg.Seconds/candidate.Dt+0.5), train.Sampler(cfg.BankShare, bank, m.Sample)
	bundles := []*Loaded{candidate, current}
	fly := func(ctx context.Context, who, lo, hi int) ([]*Flight, error) {
		w, B, Z := newFlightsIn(m.System, candidate.Robot, hi-lo), hi-lo, m.Net.Latent
		z := make([]float32, B*Z)
		for i := range B { // a flight's number decides its task, start and latent
			rng := rand.New(rand.NewPCG(g.Seed, uint64(lo+i)))
			if err := w.begin(i, bundles[who], rng, steps); err != nil {
				return nil, err
			}
			sample(rng, z[i*Z:(i+1)*Z])
		}
		roll := m.NewMeanRollout(B, steps)
		roll.Begin(0, B, steps, z)
		return w.fly(ctx, steps, roll.Step)
	}
	c := &comparison{gate: g, stage: Stage{Name: StageShadow}, settle: cfg.Settle, fly: fly, alone: current == nil}
	return c.run(ctx, cfg.Flights)
}
