package vnd

import (
	"fmt"
	"slices"
	"strings"

	"vnd/pkg/nn/kernel"
	"vnd/pkg/nn/nets"
	"vnd/pkg/robot"
	"vnd/pkg/vnd/bundle"
)

// Actor is a policy of any robot: a network whose outputs u in (−1, 1) are actions in half their ranges.
type Actor[F kernel.Float] struct {
	Net          *nets.Policy[F]
	Norm         Norm[F] // of the network's inputs
	Latent       int     // Z; the last of the inputs
	Middle, Half []F     // [A] a = Middle + Half·u
}

// NewActor returns an untrained actor that sees O numbers and a latent, with parameters 0.
func NewActor[F kernel.Float](O, latent int, middle, half []F, hidden []int) (*Actor[F], error) {
	for j := range half {
		if h, m := half[j], middle[j]; !(h > 0) || h*0 != 0 || m*0 != 0 {
			return nil, fmt.Errorf("action %d is commanded as %g ± %g, expected finite numbers and "+
				"a range", j+1, m, h)
		}
	}
	net, err := nets.NewPolicy[F](nets.PolicyConfig{Inputs: O + latent, Actions: len(half), Hidden: hidden})
	if err != nil {
		return nil, err
	}
	return &Actor[F]{Net: net, Norm: Norm[F]{make([]F, net.Inputs), ones[F](net.Inputs)}, Latent: latent,
		Middle: middle, Half: half}, nil
}

// Size is O, of an observation without the latent.
func (p *Actor[F]) Size() int { return p.Net.Inputs - p.Latent }

// Units writes the action a[A] in half ranges to u[A], within them.
func (p *Actor[F]) Units(a, u []F) {
	for j := range u {
		u[j] = min(max((a[j]-p.Middle[j])/p.Half[j], -1), 1)
	}
}

// Actions writes a[B][A] from u[B][A].
func (p *Actor[F]) Actions(u, a []F) {
	n := len(p.Half)
	for lo := 0; lo < len(u); lo += n {
		row, out := u[lo:][:n], a[lo:][:n]
		for j, v := range row {
			out[j] = p.Middle[j] + p.Half[j]*v
		}
	}
}

// ActionsVJP adds the pullback of da[B][A] through Actions to du[B][A].
func (p *Actor[F]) ActionsVJP(da, du []F) {
	n := len(p.Half)
	for lo := 0; lo < len(du); lo += n {
		row, out := da[lo:][:n], du[lo:][:n]
		for j, v := range row {
			out[j] += p.Half[j] * v
		}
	}
}

// UsesLatent reports whether the latent makes a difference: a policy trained without a model only has inputs for it.
func (p *Actor[F]) UsesLatent() bool {
	first := p.Net.Tensors()[0]
	weights := p.Net.Params[first.Offset:][:first.Size()]
	return slices.ContainsFunc(weights[p.Size()*p.Net.Hidden[0]:], func(w F) bool { return w != 0 })
}

// PolicySection is a policy's place in a bundle's configuration; its tensors' names begin so too.
const PolicySection = "policy"

// actorNorms are the normalisers of the observation.
var actorNorms = []string{"normaliser.policy.mean", "normaliser.policy.scale"}

// HasActor reports whether a bundle has a policy.
func HasActor(b *bundle.Bundle) bool { return b.HasSection(PolicySection) }

// actorConfig rebuilds an Actor.
type actorConfig struct {
	Latent int               `json:"latent"`
	Net    nets.PolicyConfig `json:"net"`
	Middle []float32         `json:"middle"`
	Half   []float32         `json:"half"`
}

// PutActor puts the policy of a task into a bundle, in place of the one there. config is what its robot rebuilds it
// from; nil: what ActorFromBundle does.
func PutActor(b *bundle.Bundle, p *Actor[float32], config any, task string) error {
	b.Tensors = slices.DeleteFunc(slices.Clone(b.Tensors), func(t bundle.Tensor) bool {
		return strings.HasPrefix(t.Name, PolicySection+".") || slices.Contains(actorNorms, t.Name)
	})
	b.Normalisers = slices.DeleteFunc(slices.Clone(b.Normalisers),
		func(n string) bool { return slices.Contains(actorNorms, n) })
	for _, t := range p.Net.Tensors() {
		b.Tensors = append(b.Tensors, bundle.Tensor{Name: t.Name, Shape: t.Shape,
			Data: p.Net.Params[t.Offset:][:t.Size()]})
	}
	for i, data := range [][]float32{p.Norm.Mean, p.Norm.Scale} {
		b.Tensors = append(b.Tensors, bundle.Tensor{Name: actorNorms[i], Shape: []int{len(data)}, Data: data})
		b.Normalisers = append(b.Normalisers, actorNorms[i])
	}
	b.Task = task
	if config == nil {
		config = actorConfig{p.Latent, p.Net.PolicyConfig, p.Middle, p.Half}
	}
	return b.SetSection(PolicySection, config)
}

// Pack makes a bundle of a model, which predicts r, and of a policy for a task.
func Pack(m *Model[float32], r robot.Robot, p *Actor[float32], task string) (*bundle.Bundle, error) {
	b, err := Bundle(m, r, nil, nil)
	if err == nil {
		err = PutActor(b, p, nil, task)
	}
	if err == nil {
		_, err = b.Encode() // which names it
	}
	return b, err
}

// ActorFromBundle unpacks a policy that PutActor put there without a robot's own configuration.
func ActorFromBundle(b *bundle.Bundle) (*Actor[float32], error) {
	var c actorConfig
	if err := b.Section(PolicySection, &c); err != nil {
		return nil, err
	}
	if A := c.Net.Actions; c.Latent < 0 || c.Latent >= c.Net.Inputs || len(c.Middle) != A || len(c.Half) != A {
		return nil, fmt.Errorf("bundle %s: policy of %d inputs with a latent of %d, %d actions with ranges of %d",
			b.ID, c.Net.Inputs, c.Latent, A, len(c.Half))
	}
	p, err := NewActor(c.Net.Inputs-c.Latent, c.Latent, c.Middle, c.Half, c.Net.Hidden)
	if err != nil {
		return nil, fmt.Errorf("bundle %s: policy: %w", b.ID, err)
	}
	if err := LoadActor(b, p); err != nil {
		return nil, err
	}
	return p, nil
}

// LoadActor reads the numbers of a bundle's policy into p.
func LoadActor(b *bundle.Bundle, p *Actor[float32]) error {
	for _, t := range p.Net.Tensors() {
		data, err := b.Tensor(t.Name, t.Shape...)
		if err != nil {
			return err
		}
		copy(p.Net.Params[t.Offset:], data)
	}
	for i, to := range [][]float32{p.Norm.Mean, p.Norm.Scale} {
		data, err := b.Tensor(actorNorms[i], len(to))
		if err != nil {
			return err
		}
		copy(to, data)
	}
	return nil
}
