package policy

import (
	"fmt"

	"vnd/pkg/core/quad"
	"vnd/pkg/flight/latent"
	"vnd/pkg/robot/rotors"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// RotorRunner flies a policy that commands four rotors along a reference, in a loop without nodes. Where the bundle has
// a model, its encoder reads what was flown. It is for one goroutine.
type RotorRunner struct {
	runner  *Runner
	encoder *latent.RotorEncoder // nil: the policy listens to none
	flown   rotors.Row
}

// trim takes over what the policy's commands are beside hover for long, motor by motor: the integral of a torque that a
// worn propeller or a load brings. The network is trained without, and its own commands go back to hover.
type trim struct {
	at   float64     // of the last tick, s; NaN before
	each [nA]float64 // in the unit of the motors
}

const (
	trimTime  = 2.0 // s, in which a command is taken over
	trimShare = 0.2 // of hover, the greatest trim
)

// step takes over from commands, m, that a policy gave at t.
func (k *trim) step(t float64, m *[nA]float64, l *rotors.Limits) {
	dt := t - k.at
	k.at = t
	if !(dt > 0) {
		return
	}
	most := trimShare * l.Hover
	for j, x := range m {
		if next := k.each[j] + (x-l.Hover)*min(dt, longestTick)/trimTime; next*0 == 0 {
			k.each[j] = min(max(next, -most), most)
		}
	}
}

// NewRotorRunner flies a bundle along a reference (t in s).
func NewRotorRunner(b *bundle.Bundle, reference func(t float64) quad.Reference) (*RotorRunner, error) {
	p, err := RotorsFromBundle(b)
	if err != nil {
		return nil, err
	}
	f := &RotorRunner{runner: NewRunner(p, b.Dt, reference)}
	if !vnd.In(b) || !p.UsesLatent() {
		return f, nil
	}
	m, r, err := vnd.FromBundle(b, rotors.Reader)
	if err != nil {
		return nil, err
	}
	if z := m.Net.Latent; z != p.Latent {
		return nil, fmt.Errorf("bundle %s: policy with a latent of %d, its model has one of %d", b.ID, p.Latent, z)
	}
	f.encoder = latent.NewRotorEncoder(m, r)
	return f, nil
}

// Limits of the motors.
func (r *RotorRunner) Limits() rotors.Limits { return *r.runner.policy.Motors }

// Reset takes the robot to have hovered.
func (r *RotorRunner) Reset() {
	r.runner.Reset()
	r.runner.SetLatent(nil)
	if r.encoder != nil {
		r.encoder.Reset()
	}
}

// Motors returns the command of each motor, a share of its full one, for a state of time t. Each is within the policy's
// limits, or not a number where the state or the network is not.
func (r *RotorRunner) Motors(t float64, s *rotors.State) [nA]float64 {
	if r.encoder == nil {
		return r.runner.Motors(t, s)
	}
	r.runner.SetLatent(r.encoder.At(t, oldestLatent))
	share := r.runner.Motors(t, s)
	r.flown = rotors.Row{T: t, State: *s}
	for j, m := range share {
		r.flown.Motors[j] = m * r.runner.policy.Motors.Full
	}
	r.encoder.Push(&r.flown)
	return share
}

// Motors is Command for a policy that commands rotors: see RotorRunner. The trim is kept while corrections are held.
func (f *Runner) Motors(t float64, s *rotors.State) (share [nA]float64) {
	f.act(t, s)
	p := f.policy
	for j, u := range f.u {
		share[j] = float64(p.Middle[j]) + float64(p.Half[j])*float64(u)
	}
	if f.held {
		f.trim.at = t
	} else {
		f.trim.step(t, &share, p.Motors)
	}
	for j, m := range share {
		share[j] = min(max(m+f.trim.each[j], p.Motors.Least), p.Motors.Most) / p.Motors.Full
	}
	return share
}
