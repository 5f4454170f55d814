package gate

import (
	"fmt"
	"math"
	"math/rand/v2"

	"vnd/pkg/nn/nets"
	"vnd/pkg/robot"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// TaskVehicle is a Vehicle of any robot: its shadow flights are episodes of a Task. Its bundles hold what vnd.PutActor
// puts there without a configuration of the robot's own.
type TaskVehicle[R robot.Robot] struct {
	Robot robot.Reader[R]
	Task  robot.Task[float32]
}

// Kind implements Vehicle.
func (v TaskVehicle[R]) Kind() string { return v.Robot.Name }

// Load implements Vehicle.
func (v TaskVehicle[R]) Load(b *bundle.Bundle) (*Loaded, error) {
	p, err := vnd.ActorFromBundle(b)
	if err != nil {
		return nil, err
	}
	if O := v.Task.Size(); p.Size() != O {
		return nil, fmt.Errorf("bundle %s: policy of %d inputs, its task shows %d", b.ID, p.Size(), O)
	}
	l := &Loaded{ID: b.ID, Dt: b.Dt, Actor: p}
	if vnd.In(b) {
		if l.Model, l.Robot, err = vnd.FromBundle(b, v.Robot); err != nil {
			return nil, err
		}
		if z := l.Model.Net.Latent; p.Latent != z {
			return nil, fmt.Errorf("bundle %s: policy with a latent of %d, its model has one of %d", b.ID, p.Latent, z)
		}
	}
	l.NewRunner = func(in robot.Robot, rng *rand.Rand, steps int, s []float32) (Runner, error) {
		return v.Begin(p, l.Model, in, rng, steps, s), nil
	}
	return l, nil
}

// Begin begins an episode of a policy, under the latents of a model (nil: the prior mean), as Loaded.NewRunner does.
func (v TaskVehicle[R]) Begin(p *vnd.Actor[float32], m *vnd.Model[float32], in robot.Robot, rng *rand.Rand, steps int,
	s []float32) Runner {
	e, sys := v.Task.NewEpisodes(in.Period(), 1, steps), in.System()
	e.Begin(1, steps)
	f := &episode{p: p, episodes: e, dims: sys.Dims(), bounds: e.Draw(0, rng, s)}
	e.DrawSensors(rng)
	f.ready(v.Task.Past(), m, sys)
	return f
}

// episode implements Runner: an episode of a task under a policy, with the latents that its encoder makes of what was
// flown before a tick.
type episode struct {
	p        *vnd.Actor[float32]
	episodes robot.Episodes[float32]
	bounds   robot.Bounds
	dims     robot.Dims
	h        int

	tape              *nets.PolicyTape[float32]
	x, u, past        []float32 // [O+Z], [A], [K][A] in half ranges
	before, act, last []float32 // state of the last tick [S], its action and the one before [A]
	cost, off         [1]float32

	model             *vnd.Model[float32] // nil: the policy sees the prior mean
	windows           *vnd.Windows[float32]
	encoder           *nets.EncoderTape[float32]
	measured, actions []float32 // the newest T+1 rows of states and T of actions
}

// ready makes the buffers of a robot that has rested. K is the number of past actions that the policy sees.
func (f *episode) ready(K int, m *vnd.Model[float32], sys robot.System[float32]) {
	A := f.dims.Action
	f.tape, f.x, f.u = f.p.Net.NewTape(1, 1), make([]float32, f.p.Net.Inputs), make([]float32, A)
	f.before, f.act, f.last = make([]float32, f.dims.State), make([]float32, A), make([]float32, A)
	sys.Rest(make([]float32, f.dims.Measured), f.act)
	f.p.Units(f.act, f.u)
	for range K {
		f.past = append(f.past, f.u...)
	}
	if m != nil && m.Net.Latent > 0 && f.p.UsesLatent() {
		f.model, f.windows, f.encoder = m, m.NewWindows(1), m.Net.NewEncoderTape(1)
	}
}

// Tick implements Runner.
func (f *episode) Tick(t float64, s, a []float32) Tick {
	if f.h == 0 {
		copy(f.before, s)
		copy(f.last, f.act)
	}
	tr := robot.Transition[float32]{S0: f.before, S1: s, A: f.act, Last: f.last}
	f.episodes.Costs(max(0, f.h-1), &tr, f.cost[:], f.off[:])
	off := math.Sqrt(float64(f.off[0]))
	if !(off < f.bounds.Radius) {
		return Tick{Crash: fmt.Sprintf("%.2f off the reference after %.1f s, or no longer finite", off, t)}
	}
	f.episodes.Observe(f.h, s, f.past, f.x, len(f.x))
	f.encode(s, f.x[f.p.Size():])
	f.p.Norm.Apply(f.x)
	f.p.Net.Forward(f.tape, 0, 1, f.x, f.u)
	f.p.Actions(f.u, a)
	units := make([]float64, len(a))
	for j, u := range f.u {
		if u*0 != 0 {
			return Tick{Crash: fmt.Sprintf("an action that is not finite after %.1f s", t)}
		}
		units[j] = float64(u)
	}
	f.push(s, a)
	return Tick{Error: off, Units: units}
}

// push keeps what was flown.
func (f *episode) push(s, a []float32) {
	copy(f.before, s)
	copy(f.last, f.act)
	copy(f.act, a)
	if n := len(a); len(f.past) > 0 {
		copy(f.past, f.past[n:])
		copy(f.past[len(f.past)-n:], f.u)
	}
	f.actions = append(f.actions, a...)
	f.h++
}

// encode writes the latent of the newest window that ends at s: 0 until there is one.
func (f *episode) encode(s, z []float32) {
	clear(z)
	if f.model == nil {
		return
	}
	T, M, A := f.model.Net.Context, f.dims.Measured, f.dims.Action
	f.measured = append(f.measured, s[:M]...)
	if f.h < T {
		return
	}
	f.measured, f.actions = f.measured[len(f.measured)-(T+1)*M:], f.actions[len(f.actions)-T*A:]
	f.windows.Reset(1)
	f.windows.Set(0, f.measured, f.actions)
	f.model.Net.Encode(f.encoder, 1, f.windows.Features, z)
}
