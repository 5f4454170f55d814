package gate

import (
	"context"
	"fmt"
	"math/rand/v2"

	"vnd/pkg/learning/train"
	"vnd/pkg/nn/kernel"
	"vnd/pkg/robot"
	"vnd/pkg/vnd"
)

// shadow flies both bundles in the candidate's learned model.
func (g *Gate) shadow(ctx context.Context, candidate, current *Loaded, bank []float32) (Stage, error) {
	if candidate.Model == nil {
		return Stage{Name: StageShadow, Pass: true, Skipped: "the candidate has no model"}, nil
	}
	cfg := &g.Config.Shadow
	world := &shadowWorld{seed: g.Seed, model: candidate.Model, robot: candidate.Robot, dt: candidate.Dt,
		rest: robot.Settled(candidate.Model.System), hold: make([]float32, candidate.Model.System.Dims().Action),
		steps:  int(cfg.Seconds/candidate.Dt + 0.5),
		sample: train.Sampler(cfg.BankShare, bank, candidate.Model.Net.Latent)}
	candidate.Model.System.Rest(make([]float32, len(world.rest)), world.hold)
	bundles := []*Loaded{candidate, current}
	fly := func(ctx context.Context, who, lo, hi int) ([]*Flight, error) {
		return world.fly(ctx, bundles[who], lo, hi)
	}
	c := &comparison{gate: g, stage: Stage{Name: StageShadow}, settle: cfg.Settle, fly: fly, alone: current == nil}
	return c.run(ctx, cfg.Flights)
}

// shadowWorld is a learned model to fly in.
type shadowWorld struct {
	seed   uint64
	model  *vnd.Model[float32]
	robot  robot.Robot
	dt     float64
	rest   []float32 // [S] a robot that has rested for long, for the actuator part
	hold   []float32 // [A] the action that keeps it at rest
	steps  int
	sample func(rng *rand.Rand, z []float32)
}

// shadowFlight is one robot of a batch.
type shadowFlight struct {
	runner Runner
	Flight
}

// fly rolls flights lo … hi−1 of a bundle out. A flight's number decides its task, start and latent.
func (w *shadowWorld) fly(ctx context.Context, b *Loaded, lo, hi int) ([]*Flight, error) {
	d, B, Z := w.model.System.Dims(), hi-lo, w.model.Net.Latent
	s, next, a, z := make([]float32, B*d.State), make([]float32, B*d.State), make([]float32, B*d.Action),
		make([]float32, B*Z)
	flights := make([]*shadowFlight, B)
	for i := range flights {
		rng := rand.New(rand.NewPCG(w.seed, uint64(lo+i)))
		copy(s[i*d.State:], w.rest)
		runner, err := b.NewRunner(w.robot, rng, w.steps, s[i*d.State:][:d.State])
		if err != nil {
			return nil, fmt.Errorf("gate: bundle %s: %w", b.ID, err)
		}
		flights[i] = &shadowFlight{runner: runner, Flight: Flight{Dt: w.dt}}
		w.sample(rng, z[i*Z:(i+1)*Z])
	}
	roll := w.model.NewMeanRollout(B, w.steps)
	roll.Begin(0, B, w.steps, z)
	for h := range w.steps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		kernel.Pause()
		for i, f := range flights {
			w.tick(f, float64(h)*w.dt, s[i*d.State:][:d.State], a[i*d.Action:][:d.Action])
		}
		roll.Step(h, s, a, next)
		s, next = next, s
	}
	out := make([]*Flight, B)
	for i, f := range flights {
		out[i] = &f.Flight
	}
	return out, nil
}

// tick has a robot fly one step from s under the action a. One that has crashed rests, and does not disturb the others
// of its batch.
func (w *shadowWorld) tick(f *shadowFlight, t float64, s, a []float32) {
	if f.Crash == "" {
		tick := f.runner.Tick(t, s, a)
		if f.Crash = tick.Crash; f.Crash == "" {
			f.Errors, f.Actions = append(f.Errors, tick.Error), append(f.Actions, tick.Units)
			return
		}
		copy(a, w.hold)
	}
	copy(s, w.rest)
}
