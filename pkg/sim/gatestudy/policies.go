package gatestudy

import (
	"context"
	"math/rand/v2"

	"vnd/pkg/core/param"
	"vnd/pkg/flight/policy"
	"vnd/pkg/flight/preflight"
	"vnd/pkg/flight/reference"
	"vnd/pkg/learning/continual"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/sim/experiment"
	"vnd/pkg/vnd/bundle"
)

// maker names the program in bundles.
const maker = "vnd gate"

// tasks are those that every flight of the study is of.
var tasks = []string{"hover", "track"}

// newCampaign makes the loop's with the tasks of the study.
func newCampaign(seed uint64) (*experiment.Campaign, error) {
	c := &experiment.Campaign{Seed: seed, Maker: maker}
	param.Default(&c.Config)
	param.Default(&c.Limits)
	for _, name := range tasks {
		path, err := reference.OfTask(name)
		if err != nil {
			return nil, err
		}
		if err := c.AddTask(name, path); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// base trains a policy in the nominal simulator: around a robot that was identified, or the default one.
func base(ctx context.Context, seed uint64, a *quadrotor.Actuator) (*bundle.Bundle, error) {
	c, err := newCampaign(seed)
	if err != nil {
		return nil, err
	}
	if a != nil {
		dt := c.Nominal.Dt
		continual.Respond(&c.Nominal, &preflight.Response{ThrustGain: a.ThrustGain, ThrustDelay: a.ThrustDelay * dt,
			ThrustLag: a.ThrustLag, RateGain: a.RateGain, RateDelay: a.RateDelay * dt, RateLag: a.RateLag})
	}
	return c.BasePolicy(ctx, nil)
}

// worsening makes a policy worse the more, the greater its strength.
type worsening struct {
	name  string
	apply func(p *policy.Policy[float32], strength float64)
}

// worsenings are ways in which a training may fail by a little.
var worsenings = []worsening{
	{"thrust off", func(p *policy.Policy[float32], s float64) {
		bias := p.Net.Tensors()[len(p.Net.Tensors())-1]
		p.Net.Params[bias.Offset] -= float32(0.3 * s)
	}},
	{"rates weak", func(p *policy.Policy[float32], s float64) { scaleRates(p, 1-0.9*s) }},
	{"rates strong", func(p *policy.Policy[float32], s float64) { scaleRates(p, 1+3*s) }},
	{"noise on weights", func(p *policy.Policy[float32], s float64) {
		rng := rand.New(rand.NewPCG(3, 3))
		hidden := p.Net.Tensors()[2]
		for i := range hidden.Size() {
			p.Net.Params[hidden.Offset+i] += float32(0.2 * s * rng.NormFloat64())
		}
	}},
}

func scaleRates(p *policy.Policy[float32], by float64) {
	weight := p.Net.Tensors()[len(p.Net.Tensors())-2]
	for i := range weight.Size() {
		if i%p.Net.Actions > 0 {
			p.Net.Params[weight.Offset+i] *= float32(by)
		}
	}
}

// worse returns a policy after a worsening of a strength, 0 to 1.
func worse(b *bundle.Bundle, w worsening, strength float64) (*bundle.Bundle, error) {
	p, err := policy.FromBundle(b)
	if err != nil {
		return nil, err
	}
	w.apply(p, strength)
	out := &bundle.Bundle{Robot: b.Robot, Dt: b.Dt, CreatedBy: maker}
	if err := policy.Put(out, p, b.Task); err != nil {
		return nil, err
	}
	_, err = out.Encode() // which names it
	return out, err
}
