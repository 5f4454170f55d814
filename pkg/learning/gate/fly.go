package gate

import (
	"context"
	"fmt"
	"math/rand/v2"

	"vnd/pkg/nn/kernel"
	"vnd/pkg/robot"
)

// Fly flies a bundle for some steps in a true system of its robot, and in nothing learned: for judges and evaluations.
// rng draws task and start.
func Fly(ctx context.Context, truth robot.System[float32], r robot.Robot, b *Loaded, rng *rand.Rand,
	steps int) (*Flight, error) {
	w, none := newFlightsIn(truth, r, 1), make([]float32, truth.Dims().Tangent)
	if err := w.begin(0, b, rng, steps); err != nil {
		return nil, err
	}
	f, err := w.fly(ctx, steps, func(_ int, s, a, next []float32) { truth.Step(1, s, a, none, next) })
	if err != nil {
		return nil, err
	}
	return f[0], nil
}

// flightsIn are B flights side by side in a system.
type flightsIn struct {
	robot      robot.Robot
	dims       robot.Dims
	rest       []float32 // [S] a robot that has rested for long, for the actuator part
	hold       []float32 // [A] the action that keeps it at rest
	s, next, a []float32 // [B][S], [B][S], [B][A]
	runners    []Runner  // [B]
	flights    []*Flight // [B]
}

func newFlightsIn(sys robot.System[float32], r robot.Robot, B int) *flightsIn {
	d := sys.Dims()
	w := &flightsIn{robot: r, dims: d, rest: robot.Settled(sys), hold: make([]float32, d.Action),
		s: make([]float32, B*d.State), next: make([]float32, B*d.State), a: make([]float32, B*d.Action),
		runners: make([]Runner, B), flights: make([]*Flight, B)}
	sys.Rest(make([]float32, d.Measured), w.hold)
	return w
}

// begin has a bundle begin flight i of up to so many steps.
func (w *flightsIn) begin(i int, b *Loaded, rng *rand.Rand, steps int) (err error) {
	s := w.s[i*w.dims.State:][:w.dims.State]
	copy(s, w.rest)
	if w.runners[i], err = b.NewRunner(w.robot, rng, steps, s); err != nil {
		return fmt.Errorf("gate: bundle %s: %w", b.ID, err)
	}
	w.flights[i] = &Flight{Dt: w.robot.Period()}
	return nil
}

// fly flies on by step, which writes next[B][S] of step h.
func (w *flightsIn) fly(ctx context.Context, steps int, step func(h int, s, a, next []float32)) ([]*Flight, error) {
	for h := range steps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		kernel.Pause()
		for i := range w.flights {
			w.tick(i, float64(h)*w.robot.Period())
		}
		step(h, w.s, w.a, w.next)
		w.s, w.next = w.next, w.s
	}
	return w.flights, nil
}

// tick has robot i act at a time, s. One that has crashed rests, and does not disturb the others.
func (w *flightsIn) tick(i int, t float64) {
	f, s, a := w.flights[i], w.s[i*w.dims.State:][:w.dims.State], w.a[i*w.dims.Action:][:w.dims.Action]
	if f.Crash == "" {
		tick := w.runners[i].Tick(t, s, a)
		if f.Crash = tick.Crash; f.Crash == "" {
			f.Errors, f.Actions = append(f.Errors, tick.Error), append(f.Actions, tick.Units)
			return
		}
		copy(a, w.hold)
	}
	copy(s, w.rest)
}
