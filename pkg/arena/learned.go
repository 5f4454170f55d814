package arena

import (
	"fmt"

	"vnd/pkg/latent"
	"vnd/pkg/learned"
	"vnd/pkg/policy"
	"vnd/pkg/quad"
	"vnd/pkg/snapshot"
)

// Learned is a policy with its live encoder: it flies as the nodes do, under the
// latent of the step before. It is an Observer.
type Learned struct {
	*policy.Pilot
	Encoder *latent.Encoder
}

// oldest is the age from which a latent is not used, s.
const oldest = 0.1

// NewLearned flies the policy of a bundle along a path, under the latents of the
// bundle's model, if it has one.
func NewLearned(b *snapshot.Bundle, path Path) (*Learned, error) {
	p, err := policy.FromBundle(b)
	if err != nil {
		return nil, err
	}
	l := &Learned{Pilot: policy.NewPilot(p, b.Dt, path.At)}
	if l.Encoder, err = latent.New(1, oldest); err != nil {
		return nil, err
	}
	if !learned.In(b) {
		return l, nil
	}
	m, q, err := learned.FromBundle(b)
	if err != nil {
		return nil, err
	}
	if m.Net.Latent != p.Latent {
		return nil, fmt.Errorf("bundle %s: policy with a latent of %d, its model has one of %d", b.ID, p.Latent, m.Net.Latent)
	}
	r, err := latent.NewReader(m, q)
	if err != nil {
		return nil, err
	}
	l.Encoder.Swap(r)
	return l, nil
}

// Reset implements quad.Controller. The encoder finds the gap by itself.
func (l *Learned) Reset() {
	l.Pilot.Reset()
	l.Latent(nil)
}

// Observe implements Observer.
func (l *Learned) Observe(s quad.Step) {
	l.Encoder.Push(&s)
	l.Latent(l.Encoder.Mean())
}
