package campaign

import (
	"vnd/pkg/core/quad"
	"vnd/pkg/flight/control"
	"vnd/pkg/flight/guard"
	"vnd/pkg/flight/latent"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// encoder makes latents of what was flown, as the node latent_encoder does.
type encoder struct {
	rate    float64                        // of ticks, Hz
	age     float64                        // of a latent that is still used, s
	models  map[string]*latent.LoadedModel // of bundles by name; nil for one without a latent
	now     string                         // bundle whose latents are made
	encoder *latent.Encoder                // nil before the first model
}

// add takes a bundle that may fly.
func (e *encoder) add(b *bundle.Bundle) error {
	if _, known := e.models[b.ID]; known || !vnd.In(b) {
		return nil
	}
	m, q, err := vnd.FromBundle(b, quadrotor.Reader)
	if err != nil || m.Net.Latent == 0 {
		return err
	}
	e.models[b.ID], err = latent.LoadModel(m, q)
	if err == nil && e.encoder == nil {
		var every int
		if every, err = control.TicksPerRow(e.rate, b.Dt); err == nil {
			e.encoder, err = latent.New(every, e.age)
		}
	}
	return err
}

// step takes a tick, and returns the latent of a row that it begins; nil where there is none.
func (e *encoder) step(k *control.TickRecord) *control.Latent {
	m := e.models[k.Bundle]
	if m == nil {
		return nil
	}
	if e.now != k.Bundle {
		e.now = k.Bundle
		e.encoder.Swap(m)
	}
	if k.Stage == guard.NotOffboard {
		e.encoder.Reset()
		return nil
	}
	if !e.encoder.Push(&quad.Row{T: seconds(k.Stamp - epoch), State: k.State, Command: k.Sent}) || !e.encoder.Known() {
		return nil
	}
	return &control.Latent{Stamp: k.Stamp, Bundle: k.Bundle, Mean: e.encoder.Mean(), Novelty: e.encoder.Novelty()}
}
