package policy

import (
	"vnd/pkg/core/quad"
	"vnd/pkg/robot/rotors"
	"vnd/pkg/vnd/bundle"
)

// RotorRunner flies a policy that commands four rotors along a reference. It is for one goroutine and allocates nothing
// per tick.
type RotorRunner struct{ runner *Runner }

// NewRotorRunner flies a bundle along a reference (t in s). A latent, if the policy sees one, stays at the prior mean.
func NewRotorRunner(b *bundle.Bundle, reference func(t float64) quad.Reference) (*RotorRunner, error) {
	p, err := RotorsFromBundle(b)
	if err != nil {
		return nil, err
	}
	return &RotorRunner{NewRunner(p, b.Dt, reference)}, nil
}

// Limits of the motors.
func (r *RotorRunner) Limits() rotors.Limits { return *r.runner.policy.Motors }

// Reset takes the robot to have hovered.
func (r *RotorRunner) Reset() { r.runner.Reset() }

// Motors returns the command of each motor, a share of its full one, for a state of time t. Each is within the policy's
// limits, or not a number where the state or the network is not.
func (r *RotorRunner) Motors(t float64, s *rotors.State) (share [nA]float64) {
	r.runner.act(t, s)
	p := r.runner.policy
	for j, u := range r.runner.u {
		m := float64(p.Middle[j]) + float64(p.Half[j])*float64(u)
		share[j] = min(max(m, p.Motors.Least), p.Motors.Most) / p.Motors.Full
	}
	return share
}
