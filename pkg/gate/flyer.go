package gate

import (
	"vnd/pkg/latent"
	"vnd/pkg/learned"
	"vnd/pkg/policy"
	"vnd/pkg/quad"
	"vnd/pkg/snapshot"
)

// parts is a bundle, unpacked.
type parts struct {
	id     string
	dt     float64
	policy *policy.Policy[float32]
	model  *learned.Model[float32] // nil: none
	robot  learned.Quadrotor
}

// unpack refuses, in words, a bundle that cannot fly.
func unpack(b *snapshot.Bundle) (*parts, error) {
	p := &parts{id: b.ID, dt: b.Dt}
	var err error
	if p.policy, err = policy.FromBundle(b); err != nil {
		return nil, err
	}
	if learned.In(b) {
		p.model, p.robot, err = learned.FromBundle(b)
	}
	return p, err
}

// sees reports whether the policy has a latent among its inputs that it listens to: one trained without a model only
// leaves room for it.
func (p *parts) sees() bool {
	net := p.policy.Net
	first := net.Tensors()[0]
	weights := net.Params[first.Offset:][:first.Size()]
	for _, w := range weights[p.policy.Observation.Size()*net.Hidden[0]:] {
		if w != 0 {
			return true
		}
	}
	return false
}

// Flyer flies a bundle as the nodes do: its policy under the latent that its encoder makes of what was flown. It is a
// quad.Controller for one goroutine, ticking once per Δt of the bundle.
type Flyer struct {
	*policy.Pilot
	reader  *latent.Reader // nil: the policy sees no latent
	encoder *latent.Encoder
}

// NewFlyer makes a flyer of a bundle along a reference (t in s).
func NewFlyer(b *snapshot.Bundle, reference func(t float64) quad.Reference) (*Flyer, error) {
	p, err := unpack(b)
	if err != nil {
		return nil, err
	}
	return p.flyer(reference)
}

func (p *parts) flyer(reference func(t float64) quad.Reference) (f *Flyer, err error) {
	f = &Flyer{Pilot: policy.NewPilot(p.policy, p.dt, reference)}
	if p.model == nil || p.model.Net.Latent == 0 || !p.sees() {
		return f, nil
	}
	if f.reader, err = latent.NewReader(p.model, p.robot); err != nil {
		return nil, err
	}
	f.Reset()
	return f, nil
}

// latentAge is the age above which a latent is not flown by, s.
const latentAge = 0.1

// Reset implements quad.Controller.
func (f *Flyer) Reset() {
	f.Pilot.Reset()
	f.Latent(nil)
	if f.reader == nil {
		return
	}
	f.encoder, _ = latent.New(1, latentAge) // of constants that it takes
	f.encoder.Swap(f.reader)
}

// Command implements quad.Controller.
func (f *Flyer) Command(t float64, s *quad.State) quad.Command {
	if f.encoder != nil {
		f.Latent(f.encoder.At(t))
	}
	return f.Pilot.Command(t, s)
}

// Observe takes what was flown, once per tick after its command, for the commands that follow.
func (f *Flyer) Observe(s quad.Step) {
	if f.encoder != nil {
		f.encoder.Push(&s)
	}
}
