package replay

import (
	"math"

	"vnd/msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/flight/control"
	"vnd/pkg/flight/guard"
)

// latents computes the latents anew, as the node latent_encoder does.
type latents struct {
	*control.Latents
	rate    float64         // of ticks, Hz
	without map[string]bool // bundles without a model that can be read
}

func newLatents(c *control.Config) (latents, error) {
	l, err := control.NewLatents(c.LatentAge)
	return latents{l, c.Rate, map[string]bool{}}, err
}

// compute takes a step and compares the latent that follows from it with the recorded one.
func (l *latents) compute(f *flight, s *msgs.Step) []float32 {
	if !l.Has(s.BundleID) && !l.without[s.BundleID] {
		m, err := control.LoadLatentModel(f.bundles[s.BundleID], l.rate)
		if l.without[s.BundleID] = err != nil || m == nil; !l.without[s.BundleID] {
			l.Add(m)
		}
	}
	pose := bridge.FromStep(s)
	z := l.Tick(&control.TickRecord{Stamp: pose.Stamp, State: pose.State, Sent: bridge.CommandFromStep(s).Command,
		Bundle: s.BundleID, Stage: guard.Stage(s.GuardState)})
	if z == nil || !l.Known() {
		return nil
	}
	said, ok := f.latents[pose.Stamp]
	if !ok || said.BundleID != s.BundleID || len(said.Mean) != len(z.Mean) {
		return z.Mean
	}
	r, worst := &f.report, 0.0
	for i := range z.Mean {
		worst = math.Max(worst, math.Abs(float64(z.Mean[i]-said.Mean[i])))
	}
	r.Latents++
	if worst == 0 {
		r.Same++
	}
	r.LatentsOff = math.Max(r.LatentsOff, worst)
	return z.Mean
}
