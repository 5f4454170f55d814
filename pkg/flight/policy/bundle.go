package policy

import (
	"fmt"

	"vnd/pkg/core/quad"
	"vnd/pkg/nn/nets"
	"vnd/pkg/robot/rotors"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// config rebuilds a policy.
type config struct {
	Observation Observation       `json:"observation"`
	Limits      quad.Limits       `json:"limits,omitzero"`
	Motors      *rotors.Limits    `json:"motors,omitempty"`
	Steady                        // none of it in bundles of before
	Latent      int               `json:"latent"`
	Net         nets.PolicyConfig `json:"net"`
}

// largestPush is the greatest unit of pushes that a policy may see, m/s²: what the parameter allows.
const largestPush = 20

// largestLag is the greatest unit of lags that a policy may see, s: what the parameter allows.
const largestLag = 0.2

// In reports whether a bundle has a policy.
func In(b *bundle.Bundle) bool { return vnd.HasActor(b) }

// Put puts the policy of a task into a bundle, in place of the one there.
func Put(b *bundle.Bundle, p *Policy[float32], task string) error {
	c := config{p.Observation, p.Limits, p.Motors, p.Steady, p.Latent, p.Net.PolicyConfig}
	return vnd.PutActor(b, &p.Actor, c, task)
}

// untrained is a policy of the configuration.
func (c *config) untrained() (*Policy[float32], error) {
	if c.Motors != nil {
		return NewRotors[float32](c.Observation, *c.Motors, c.Latent, c.Net.Hidden)
	}
	return New[float32](c.Observation, c.Limits, c.Latent, c.Net.Hidden)
}

// FromBundle unpacks the policy of a bundle, which commands thrust and body rates. It refuses, in words, what does not
// fit together.
func FromBundle(b *bundle.Bundle) (*Policy[float32], error) {
	if b.Robot == rotors.Name {
		return nil, fmt.Errorf("bundle %s commands four rotors, expected a policy of thrust and body rates", b.ID)
	}
	return unpack(b)
}

// RotorsFromBundle unpacks the policy of a bundle, which commands four rotors.
func RotorsFromBundle(b *bundle.Bundle) (*Policy[float32], error) {
	if b.Robot != rotors.Name || !In(b) {
		return nil, fmt.Errorf("bundle %s has no policy that commands rotors: vnd train --robot %s makes one", b.ID,
			rotors.Name)
	}
	return unpack(b)
}

func unpack(b *bundle.Bundle) (*Policy[float32], error) {
	var c config
	if err := b.Section(vnd.PolicySection, &c); err != nil {
		return nil, err
	}
	if o := c.Observation; o.PreviewPoints < 1 || o.PreviewPoints > 50 || !(o.PreviewTime >= 0 && o.PreviewTime <= 5) ||
		o.PastActions < 1 || o.PastActions > 50 {
		return nil, fmt.Errorf("bundle %s: policy with %d look-aheads to %g s and %d past actions, want 1 to 50, 0 "+
			"to 5 s, 1 to 50", b.ID, o.PreviewPoints, o.PreviewTime, o.PastActions)
	}
	if push := c.Observation.Push; !(push >= 0 && push <= largestPush) {
		return nil, fmt.Errorf("bundle %s: policy that sees pushes in units of %g m/s², want 0 to %d", b.ID, push,
			largestPush)
	}
	if lag := c.Observation.Lag; !(lag >= 0 && lag <= largestLag) {
		return nil, fmt.Errorf("bundle %s: policy that sees lags in units of %g s, want 0 to %g", b.ID, lag, largestLag)
	}
	if z := b.Dimensions["latent"]; c.Latent < 0 || z > 0 && c.Latent > 0 && c.Latent != z {
		return nil, fmt.Errorf("bundle %s: policy with a latent of %d, the model's has %d", b.ID, c.Latent, z)
	}
	if (b.Robot == rotors.Name) != (c.Motors != nil) {
		return nil, fmt.Errorf("bundle %s: a robot %q and a policy of another's commands", b.ID, b.Robot)
	}
	p, err := c.untrained()
	if err != nil {
		return nil, fmt.Errorf("bundle %s: policy: %w", b.ID, err)
	}
	if p.Steady = c.Steady; !p.Steady.valid() {
		return nil, fmt.Errorf("bundle %s: policy with %+v, want finite numbers of at least 0, and limits to %d m",
			b.ID, p.Steady, farthestMoved)
	}
	if c.Net.Inputs != p.Net.Inputs || c.Net.Actions != p.Net.Actions {
		return nil, fmt.Errorf("bundle %s: policy with %d inputs and %d actions, its observation and robot have %d "+
			"and %d",
			b.ID, c.Net.Inputs, c.Net.Actions, p.Net.Inputs, p.Net.Actions)
	}
	if err := vnd.LoadActor(b, &p.Actor); err != nil {
		return nil, err
	}
	return p, nil
}
