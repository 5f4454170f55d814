package closedloop

import (
	"context"
	"math"
	"math/rand/v2"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/policy"
	"vnd/pkg/flight/reference"
	"vnd/pkg/learning/gate"
	"vnd/pkg/sim"
	"vnd/pkg/vnd/bundle"
)

// Judge flies bundles in the full simulator under disturbances drawn at random:
// winds of any direction up to a speed, now and then one that turns, thrust that
// is off, commands that come late. The world that the robot is in plays no part.
// It implements gate.Judge.
type Judge struct {
	World  sim.World // the robot, in calm
	Paths  []reference.Reference
	Limits quad.Limits
	// JudgeConfig has the greatest wind; a learner that met weaker ones only is flown in somewhat more than those.
	gate.JudgeConfig
}

// NewJudge returns the judge of the default robot, which flies along each of the paths.
func NewJudge(c gate.JudgeConfig, paths []reference.Reference, l quad.Limits) gate.Judge {
	return &Judge{World: sim.Default(), Paths: paths, Limits: l, JudgeConfig: c}
}

// Fly implements gate.Judge.
func (j *Judge) Fly(ctx context.Context, b *bundle.Bundle, t gate.Trial) (*gate.Flight, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s, path, err := j.setup(b, t)
	if err != nil {
		return nil, err
	}
	c, err := policy.NewClosedLoopRunner(b, path.At)
	if err != nil {
		return nil, err
	}
	if c.Encoder != nil {
		c.Encoder.SetMaxAge(j.LatentAge)
	}
	trace, err := Fly(s, c)
	if err != nil {
		return nil, err
	}
	f := &gate.Flight{Dt: s.Tick, Crash: trace.Crash}
	for i := range trace.Rows {
		f.Errors = append(f.Errors, trace.Rows[i].Error())
		u := j.Limits.Units(trace.Rows[i].Command)
		f.Actions = append(f.Actions, u[:])
	}
	return f, nil
}

// setup draws a trial.
func (j *Judge) setup(b *bundle.Bundle, t gate.Trial) (*Setup, reference.Reference, error) {
	rng := rand.New(rand.NewPCG(t.Number, 0x60d9e))
	path := j.Paths[rng.IntN(len(j.Paths))]
	w := j.World
	w.Motor.Gain *= 1 + 0.03*rng.NormFloat64()
	w.Link.Delay += 0.01 * rng.Float64()
	w.Conditions = sim.Conditions{Name: []string{"first", "second"}}
	const beyond, least = 1.1, 0.2 // of what was met; m/s²
	greatest := min(j.Wind, max(beyond*t.Met, least))
	for range 2 {
		s, c := math.Sincos(2 * math.Pi * rng.Float64())
		wind := greatest * math.Sqrt(rng.Float64())
		w.Conditions.WindX, w.Conditions.WindY = append(w.Conditions.WindX, wind*c), append(w.Conditions.WindY, wind*s)
	}
	turns := []sim.Switch{{Start: 0, Condition: "first"}}
	if rng.IntN(2) == 0 {
		turns = append(turns, sim.Switch{Start: j.Seconds / 2, Condition: "second"})
	}
	w, err := w.Scheduled(turns, 0)
	if err != nil {
		return nil, nil, err
	}
	r := path.At(0)
	s := &Setup{World: w, Seed: t.Number, Path: path, Seconds: j.Seconds, Tick: b.Dt, Limits: j.Limits,
		Start: quad.State{Q: so3.FromEuler(0, 0, r.Yaw), V: r.V, P: r.P.Add(so3.Vec3{
			X: j.Start * rng.NormFloat64(), Y: j.Start * rng.NormFloat64(), Z: j.Start * math.Abs(rng.NormFloat64())})}}
	param.Default(&s.Estimate)
	return s, path, nil
}
