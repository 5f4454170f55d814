package baseline

import (
	"vnd/pkg/core/quad"
	"vnd/pkg/flight/policy"
)

// DATT flies a policy that was trained under disturbances that it was told, and tells it the L1 estimate in their
// place (K. Huang et al., "DATT: deep adaptive trajectory tracking for quadrotor control", 2023). It ticks once per
// Δt, is for one goroutine, and observes what it flies.
type DATT struct {
	*Informed
	l1 *L1
}

// NewDATT makes one of a policy of NewInformed, for a robot. The filter behind the estimate passes frequencies below
// cutoff, rad/s.
func NewDATT(p *policy.Policy[float32], spread, cutoff float64, r Airframe, dt float64,
	reference func(t float64) quad.Reference) (*DATT, error) {
	o, err := NewInformed(p, spread, dt, reference)
	return &DATT{o, NewL1(r, cutoff, dt)}, err
}

// Reset implements quad.Controller.
func (d *DATT) Reset() {
	d.Informed.Reset()
	d.l1.Reset()
	d.SetWind(d.l1.Push())
}

// Observe takes what was flown, once per tick after its command.
func (d *DATT) Observe(s quad.Row) {
	d.l1.Observe(s)
	d.SetWind(d.l1.Push())
}
