package campaign

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"vnd/pkg/core/param"
	"vnd/pkg/flight/policy"
	"vnd/pkg/flight/reference"
	"vnd/pkg/sim"
	"vnd/pkg/sim/experiment"
	"vnd/pkg/vnd/bundle"
)

// Policies are those that runs fly. The base policy is the one with which `vnd loop` begins; the others are made of it.
type Policies struct {
	Base *bundle.Bundle
	// Listening is Base with drawn weights for its latent.
	Listening *bundle.Bundle

	Firmware sim.NewFirmware // of rows that are flown on one; nil where none is built
	Odometry bool            // measured velocities are flown by, too; else poses alone, but in rows about velocities
	Filter   bool            // the policy flies by the filter of poses, where velocities are not measured
	Mocap    float64         // samples of motion capture, Hz; 0 leaves it the world's rate

	// other is a base policy of another seed, trained where a row flies it.
	other func() (*bundle.Bundle, error)

	twins *twins
}

// BasePolicy trains the policy with which `vnd loop` begins, for hover and track, in a second or two.
func BasePolicy(ctx context.Context, seed uint64) (*bundle.Bundle, error) {
	c := experiment.Campaign{Seed: seed, Maker: "vnd campaign"}
	param.Default(&c.Config)
	param.Default(&c.Limits)
	for _, name := range []string{"hover", "track"} {
		path, err := reference.OfTask(name)
		if err != nil {
			return nil, err
		}
		if err := c.AddTask(name, path); err != nil {
			return nil, err
		}
	}
	return c.BasePolicy(ctx, nil)
}

// NewPolicies makes the policies of a campaign from a base policy and another one; nil trains them.
func NewPolicies(ctx context.Context, base, other *bundle.Bundle) (*Policies, error) {
	p := &Policies{Base: base, Filter: true, twins: &twins{}, other: sync.OnceValues(func() (*bundle.Bundle, error) {
		if other != nil {
			return other, nil
		}
		return BasePolicy(ctx, 2)
	})}
	var err error
	if p.Base == nil {
		if p.Base, err = BasePolicy(ctx, 1); err != nil {
			return nil, err
		}
	}
	p.Listening, err = p.changed(func(x *policy.Policy[float32]) {
		const scale = 0.05 // about that of fine-tuned policies
		rng := rand.New(rand.NewPCG(1, 1))
		first := x.Net.Tensors()[0]
		weights := x.Net.Params[first.Offset:][:first.Size()]
		for i := x.Observation.Size() * x.Net.Hidden[0]; i < len(weights); i++ {
			weights[i] = scale * float32(rng.NormFloat64())
		}
	})
	return p, err
}

// changed is the base policy after a change.
func (p *Policies) changed(change func(x *policy.Policy[float32])) (*bundle.Bundle, error) {
	x, err := policy.FromBundle(p.Base)
	if err != nil {
		return nil, err
	}
	change(x)
	b := &bundle.Bundle{Robot: p.Base.Robot, Dt: p.Base.Dt, CreatedBy: "vnd campaign"}
	if err := policy.Put(b, x, p.Base.Task); err != nil {
		return nil, err
	}
	_, err = b.Encode() // which names it
	return b, err
}

// Random is a policy with drawn weights, from nearly constant to bang-bang.
func (p *Policies) Random(rng *rand.Rand) (*bundle.Bundle, error) {
	gain := math.Exp(rng.Float64()*math.Log(300) - math.Log(10)) // 0.1 … 30
	return p.changed(func(x *policy.Policy[float32]) {
		bias := make([]float32, x.Net.Actions)
		for i := range bias {
			bias[i] = float32(1.8*rng.Float64() - 0.9)
		}
		x.Net.Init(rng, bias)
		head := x.Net.Tensors()[len(x.Net.Tensors())-2]
		for i := range head.Size() {
			x.Net.Params[head.Offset+i] *= float32(gain)
		}
	})
}

// Crashing is a well-formed policy that does not fly: reversed rates, too little thrust, or drawn weights.
func (p *Policies) Crashing(rng *rand.Rand) (b *bundle.Bundle, name string, err error) {
	switch rng.IntN(3) {
	case 0:
		name = "drawn weights"
		b, err = p.Random(rng)
	case 1:
		name = "reversed rates"
		b, err = p.changed(reverseRates)
	default:
		name = "too little thrust"
		b, err = p.changed(func(x *policy.Policy[float32]) {
			bias := x.Net.Tensors()[len(x.Net.Tensors())-1]
			x.Net.Params[bias.Offset] -= 0.5
		})
	}
	return b, name, err
}

// reverseRates changes the sign of the weights from which the body rates come.
func reverseRates(x *policy.Policy[float32]) {
	weight := x.Net.Tensors()[len(x.Net.Tensors())-2]
	for i := range weight.Size() {
		if i%x.Net.Actions > 0 {
			x.Net.Params[weight.Offset+i] *= -1
		}
	}
}

// twins are flights without a fault, each flown once.
type twins struct{ flown sync.Map }

// twinKey names such a flight: worlds are the same for every row.
type twinKey struct {
	cell, number int
	seed         uint64
	source       string
	bundle       string
	firmware     bool
}

// twin is the flight of r's world without a fault.
func (r *Run) twin() (*Run, error) {
	key := r.twinKey
	key.source, key.bundle, key.firmware = r.Config.Source, r.Bundle.ID, r.Firmware != nil
	flown, _ := r.twins.flown.LoadOrStore(key, sync.OnceValues(func() (*Run, error) {
		t, err := newRun(r.policies, &Row{ID: "none"}, key.cell, key.number, key.seed)
		if err != nil {
			return nil, err
		}
		t.Config.Source, t.Config.Filter = r.Config.Source, r.Config.Filter
		t.Bundle, t.Firmware = r.Bundle, r.Firmware
		t.Onset, t.After = settled+period, after
		if err := t.Fly(); err != nil {
			return nil, fmt.Errorf("flight without a fault: %w", err)
		}
		return t, nil
	}))
	return flown.(func() (*Run, error))()
}
