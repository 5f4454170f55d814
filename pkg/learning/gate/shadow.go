package gate

import (
	"context"
	"fmt"
	"math/rand/v2"

	"vnd/pkg/core/quad"
	"vnd/pkg/flight/policy"
	"vnd/pkg/learning/task"
	"vnd/pkg/learning/train"
	"vnd/pkg/nn/kernel"
	"vnd/pkg/robot"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd"
)

// shadow flies both bundles in the candidate's learned model.
func (g *Gate) shadow(ctx context.Context, candidate, current *policy.LoadedBundle, bank []float32) (Stage, error) {
	if candidate.Model == nil {
		return Stage{Name: StageShadow, Pass: true, Skipped: "the candidate has no model"}, nil
	}
	cfg := &g.Config.Shadow
	world := &shadowWorld{gate: g, model: candidate.Model, robot: candidate.Robot,
		rest:   robot.Settled(candidate.Model.System),
		steps:  int(cfg.Seconds/candidate.Dt + 0.5),
		sample: train.Sampler(cfg.Bank, bank, candidate.Model.Net.Latent)}
	bundles := []*policy.LoadedBundle{candidate, current}
	fly := func(ctx context.Context, who, lo, hi int) ([]*Flight, error) {
		return world.fly(ctx, bundles[who], lo, hi)
	}
	c := &comparison{gate: g, stage: Stage{Name: StageShadow}, settle: cfg.Settle, fly: fly, alone: current == nil}
	return c.run(ctx, cfg.Flights)
}

// shadowWorld is a learned model to fly in.
type shadowWorld struct {
	gate   *Gate
	model  *vnd.Model[float32]
	robot  quadrotor.Robot
	rest   []float32 // [S] a robot that has hovered for long, for the actuator part
	steps  int
	sample func(rng *rand.Rand, z []float32)
}

// shadowFlight is one robot of a batch.
type shadowFlight struct {
	task    *task.Task
	episode task.Episode
	runner  *policy.ClosedLoopRunner
	Flight
}

// fly rolls flights lo … hi−1 of a bundle out. A flight's number decides its task, start and latent.
func (w *shadowWorld) fly(ctx context.Context, b *policy.LoadedBundle, lo, hi int) ([]*Flight, error) {
	d, B, Z := w.model.System.Dims(), hi-lo, w.model.Net.Latent
	s, next, a, z := make([]float32, B*d.State), make([]float32, B*d.State), make([]float32, B*d.Action),
		make([]float32, B*Z)
	flights := make([]*shadowFlight, B)
	for i := range flights {
		rng := rand.New(rand.NewPCG(w.gate.Seed, uint64(lo+i)))
		k := w.gate.Tasks[rng.IntN(len(w.gate.Tasks))]
		f := &shadowFlight{task: k, episode: k.Draw(rng), Flight: Flight{Dt: w.robot.Dt}}
		w.sample(rng, z[i*Z:(i+1)*Z])
		var err error
		if f.runner, err = b.NewRunner(f.episode.Reference); err != nil {
			return nil, fmt.Errorf("gate: bundle %s: %w", b.ID, err)
		}
		flights[i] = f
		w.put(&f.episode.Start, s[i*d.State:][:d.State])
	}
	roll := w.model.NewMeanRollout(B, w.steps)
	roll.Begin(0, B, w.steps, z)
	for h := range w.steps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		kernel.Pause()
		for i, f := range flights {
			w.tick(f, float64(h)*w.robot.Dt, s[i*d.State:][:d.State], a[i*d.Action:][:d.Action])
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

// put writes a state whose robot has hovered.
func (w *shadowWorld) put(state *quad.State, s []float32) {
	copy(s, w.rest)
	here := *state
	here.P = here.P.Sub(w.robot.Origin)
	quadrotor.Measured(&here, s)
}

// tick has a robot fly one step from s under the command a. One that has crashed rests.
func (w *shadowWorld) tick(f *shadowFlight, t float64, s, a []float32) {
	if f.Crash != "" {
		copy(s, w.rest)
		return
	}
	state := quadrotor.State(s)
	state.P = state.P.Add(w.robot.Origin)
	off := state.P.Sub(f.episode.Reference(t).P).Norm()
	if !(off < f.task.Radius) || !finiteState(s) {
		f.Crash = fmt.Sprintf("%.1f m off the reference after %.1f s, or no longer finite", off, t)
		f.stop(w, s, a)
		return
	}
	command := f.runner.Command(t, &state)
	if !finite(command.Thrust) || !finite(command.Rates.X+command.Rates.Y+command.Rates.Z) {
		f.Crash = fmt.Sprintf("a command that is not finite after %.1f s", t)
		f.stop(w, s, a)
		return
	}
	command = w.gate.Vehicle.Limits.Clip(command)
	f.runner.Observe(quad.Step{T: t, State: state, Command: command})
	f.Errors, f.Commands = append(f.Errors, off), append(f.Commands, command)
	quadrotor.Action(&command, a)
}

// stop leaves a robot where it does not disturb the others of its batch.
func (f *shadowFlight) stop(w *shadowWorld, s, a []float32) {
	copy(s, w.rest)
	quadrotor.Action(&quad.Command{Thrust: quad.Gravity}, a)
}

func finiteState(s []float32) bool {
	for _, x := range s {
		if x-x != 0 {
			return false
		}
	}
	return true
}
