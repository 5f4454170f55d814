package replay

import (
	"math"

	"vnd/msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/flight/control"
	"vnd/pkg/flight/guard"
	"vnd/pkg/flight/latent"
	"vnd/pkg/node/controller"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd"
)

// encoder computes the latents anew, as the node latent_encoder does.
type encoder struct {
	params  *controller.File
	now     string // bundle whose encoder reads
	encoder *latent.Encoder
	readers map[string]*latent.LoadedModel // nil for a bundle without a model
	origin  int64
}

// read takes a step and compares the latent that follows from it with the recorded one.
func (e *encoder) read(f *flight, s *msgs.Step) []float32 {
	if !e.follow(f, s.BundleID) {
		return nil
	}
	if guard.Stage(s.GuardState) == guard.NotOffboard {
		e.encoder.Reset()
		return nil
	}
	pose, command := bridge.FromStep(s), bridge.CommandFromStep(s)
	if e.origin == 0 {
		e.origin = pose.Stamp
	}
	if !e.encoder.Push(&quad.Row{T: float64(pose.Stamp-e.origin) / 1e9, State: pose.State,
		Command: command.Command}) || !e.encoder.Known() {
		return nil
	}
	z := e.encoder.Mean()
	said, ok := f.latents[pose.Stamp]
	if !ok || said.BundleID != s.BundleID || len(said.Mean) != len(z) {
		return z
	}
	r, worst := &f.report, 0.0
	for i := range z {
		worst = math.Max(worst, math.Abs(float64(z[i]-said.Mean[i])))
	}
	r.Latents++
	if worst == 0 {
		r.Same++
	}
	r.LatentsOff = math.Max(r.LatentsOff, worst)
	return z
}

// follow reads by the encoder of the bundle that flies, and reports whether it has one.
func (e *encoder) follow(f *flight, id string) bool {
	if e.now == id {
		return e.readers[id] != nil
	}
	if e.readers == nil {
		e.readers = map[string]*latent.LoadedModel{}
	}
	b := f.bundles[id]
	r, known := e.readers[id]
	if !known && vnd.In(b) {
		m, q, err := vnd.FromBundle(b, quadrotor.Reader)
		if err == nil {
			r, _ = latent.LoadModel(m, q) // what cannot be read says nothing
		}
	}
	e.now, e.readers[id] = id, r
	if r == nil {
		return false
	}
	if e.encoder == nil {
		every, err := control.TicksPerRow(e.params.Rate, b.Dt)
		if err == nil {
			e.encoder, err = latent.New(every, e.params.LatentAge)
		}
		if err != nil {
			e.readers[id] = nil
			return false
		}
	}
	e.encoder.Swap(r)
	return true
}
