package control

import (
	"slices"

	"vnd/pkg/core/quad"
	"vnd/pkg/flight/guard"
	"vnd/pkg/flight/latent"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// LatentModel is the model of a bundle, made ready to read windows of ticks.
type LatentModel struct {
	Bundle string
	*latent.LoadedModel
}

// LoadLatentModel makes the model of a bundle ready for ticks at a rate, Hz. nil: the bundle has no latents.
func LoadLatentModel(b *bundle.Bundle, rate float64) (*LatentModel, error) {
	if !vnd.In(b) {
		return nil, nil
	}
	m, q, err := vnd.FromBundle(b, quadrotor.Reader)
	if err != nil || m.Net.Latent == 0 {
		return nil, err
	}
	every, err := TicksPerRow(rate, q.Dt)
	if err != nil {
		return nil, err
	}
	l, err := latent.LoadModel(m, q, every)
	if err != nil {
		return nil, err
	}
	return &LatentModel{b.ID, l}, nil
}

// keptModels: of the bundle that flies, of the one before it, and of those that came last.
const keptModels = 4

// Latents makes the latent of each row that is flown, by the model of the bundle that flies. It is for one goroutine.
type Latents struct {
	encoder *latent.Encoder
	models  []*LatentModel // newest last
	now     *LatentModel   // of the bundle that flies; nil while that is not known
	before  *LatentModel   // of the one that flew before: to that the controller goes back
	origin  int64          // from which the encoder's times count, ns
	made    Latent
}

// NewLatents makes latents of which none bridges a gap longer than maxAge, s.
func NewLatents(maxAge float64) (*Latents, error) {
	e, err := latent.New(maxAge)
	if err != nil {
		return nil, err
	}
	return &Latents{encoder: e}, nil
}

// Add has ticks read by m from the first one on that its bundle flies. A model that is there already stays as it is,
// and counts as the newest.
func (l *Latents) Add(m *LatentModel) {
	if k := slices.IndexFunc(l.models, func(old *LatentModel) bool { return old.Bundle == m.Bundle }); k >= 0 {
		m = l.models[k]
		l.models = slices.Delete(l.models, k, k+1)
	}
	l.models = append(l.models, m)
	if len(l.models) > keptModels {
		oldest := slices.IndexFunc(l.models, func(m *LatentModel) bool { return m != l.now && m != l.before })
		l.models = slices.Delete(l.models, oldest, oldest+1)
	}
}

// Has reports whether the model of a bundle is there.
func (l *Latents) Has(id string) bool { return l.find(id) != nil }

func (l *Latents) find(id string) *LatentModel {
	for _, m := range l.models {
		if m.Bundle == id {
			return m
		}
	}
	return nil
}

// Model is that of the bundle that flew in the newest tick; nil where that has none.
func (l *Latents) Model() *LatentModel { return l.now }

// Rows are the whole window that the newest latent is of, see latent.Encoder; nil where it is not whole.
func (l *Latents) Rows() []quad.Row { return l.encoder.Rows() }

// Known reports whether the newest latent is of a whole window; else it is the prior mean.
func (l *Latents) Known() bool { return l.encoder.Known() }

// Tick takes a tick, and returns the latent of the row that it begins; nil where there is none. It is valid until the
// next tick. A tick whose command was not followed ends the window.
func (l *Latents) Tick(k *TickRecord) *Latent {
	if !l.follow(k.Bundle) {
		return nil
	}
	if k.Stage == guard.NotOffboard {
		l.encoder.Reset()
		return nil
	}
	if l.origin == 0 {
		l.origin = k.Stamp
	}
	if !l.encoder.Push(&quad.Row{T: seconds(k.Stamp, l.origin), State: k.State, Command: k.Sent}) {
		return nil
	}
	l.made = Latent{Stamp: k.Stamp, Bundle: k.Bundle, Mean: l.encoder.Mean(), Novelty: l.encoder.Novelty()}
	return &l.made
}

// follow reads by the model of the bundle that flies, and reports whether it is there.
func (l *Latents) follow(id string) bool {
	if l.now != nil && l.now.Bundle == id {
		return true
	}
	if l.now != nil {
		l.before = l.now
	}
	if l.now = l.find(id); l.now == nil {
		return false
	}
	l.encoder.Swap(l.now.LoadedModel)
	return true
}
