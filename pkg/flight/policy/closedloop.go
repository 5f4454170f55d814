package policy

import (
	"fmt"

	"vnd/pkg/core/quad"
	"vnd/pkg/flight/latent"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// LoadedBundle is all of a bundle that flies: a policy, and the model whose latents it
// flies under.
type LoadedBundle struct {
	ID     string
	Dt     float64 // s
	Policy *Policy[float32]
	Model  *vnd.Model[float32] // nil: none
	Robot  quadrotor.Robot     // of the model
}

// Load refuses, in words, a bundle that cannot fly by thrust and body rates.
func Load(b *bundle.Bundle) (*LoadedBundle, error) {
	if !In(b) {
		return nil, fmt.Errorf("bundle %s has no policy: vnd train makes one", b.ID)
	}
	l := &LoadedBundle{ID: b.ID, Dt: b.Dt}
	var err error
	if l.Policy, err = FromBundle(b); err != nil || !vnd.In(b) {
		return l, err
	}
	if l.Model, l.Robot, err = vnd.FromBundle(b, quadrotor.Reader); err != nil {
		return nil, err
	}
	if z := l.Model.Net.Latent; z != l.Policy.Latent {
		return nil, fmt.Errorf("bundle %s: policy with a latent of %d, its model has one of %d", b.ID, l.Policy.Latent,
			z)
	}
	return l, nil
}

// LoadRotors is Load for a bundle that commands rotors. Its policy flies at the prior mean: there is no encoder for it.
func LoadRotors(b *bundle.Bundle) (*LoadedBundle, error) {
	p, err := RotorsFromBundle(b)
	if err != nil {
		return nil, err
	}
	return &LoadedBundle{ID: b.ID, Dt: b.Dt, Policy: p}, nil
}

// Measures reports whether pushes or lags are measured for its policy: it sees some, and there is a model to go by.
func (l *LoadedBundle) Measures() bool {
	return l.Model != nil && l.Policy.Observation.MeasuredSize() > 0
}

// NewBuffers makes its policy ready. Where the bundle has a model, pushes and lags are measured by it.
func (l *LoadedBundle) NewBuffers() *Buffers {
	b := NewBuffers(l.Policy)
	if l.Measures() {
		b.sensor = newSensor(l)
	}
	return b
}

// ClosedLoopRunner runs a bundle in a loop without nodes as the nodes do: its policy, under
// the latent that its encoder makes of what was flown before this tick. It is a
// quad.Controller for one goroutine, ticking once per Δt of the bundle.
type ClosedLoopRunner struct {
	*Runner
	Encoder *latent.Encoder // nil: the policy listens to none
}

// oldestLatent is the age of a latent that is flown by at the most, s: the default of latent_age.
const oldestLatent = 0.1

// NewClosedLoopRunner flies a bundle along a reference (t in s).
func NewClosedLoopRunner(b *bundle.Bundle, reference func(t float64) quad.Reference) (*ClosedLoopRunner, error) {
	l, err := Load(b)
	if err != nil {
		return nil, err
	}
	return l.NewRunner(reference)
}

// NewRunner flies along a reference (t in s). Runners share policy and model.
func (l *LoadedBundle) NewRunner(reference func(t float64) quad.Reference) (*ClosedLoopRunner, error) {
	f := &ClosedLoopRunner{Runner: NewRunnerOf(l.NewBuffers(), l.Dt, reference)}
	if l.Model == nil || l.Model.Net.Latent == 0 || !l.Policy.UsesLatent() {
		return f, nil
	}
	r, err := latent.LoadModel(l.Model, l.Robot, 1)
	if err != nil {
		return nil, err
	}
	if f.Encoder, err = latent.New(oldestLatent); err != nil {
		return nil, err
	}
	f.Encoder.Swap(r)
	return f, nil
}

// Reset implements quad.Controller.
func (f *ClosedLoopRunner) Reset() {
	f.Runner.Reset()
	f.SetLatent(nil)
	if f.Encoder != nil {
		f.Encoder.Reset()
	}
}

// Command implements quad.Controller.
func (f *ClosedLoopRunner) Command(t float64, s *quad.State) quad.Command {
	if f.Encoder != nil {
		f.SetLatent(f.Encoder.At(t))
	}
	return f.Runner.Command(t, s)
}

// Observe takes what was flown, once per tick after its command, for the commands
// that follow.
func (f *ClosedLoopRunner) Observe(s quad.Row) {
	if f.Encoder != nil {
		f.Encoder.Push(&s)
	}
}
