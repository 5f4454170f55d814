package manipulation

import (
	"context"
	"math/rand/v2"

	"vnd/pkg/flight/armcontrol"
	"vnd/pkg/learning/armlearning"
	"vnd/pkg/learning/gate"
	"vnd/pkg/learning/train"
	"vnd/pkg/robot/arm"
	"vnd/pkg/vnd"
)

// Laws are the peers that learn nothing from recordings, at their best gains of a sweep over two payloads and two
// references: a pole for computed torque, and slope, feedback and rate of the adaptive law.
func Laws() []Method {
	return []Method{
		ByLaw("computed torque", func() Law { return armcontrol.NewComputedTorque(armcontrol.Pole, Dt) }),
		ByLaw("adaptive", func() Law { return NewAdaptive(40, 40, 10) }),
	}
}

// An oracle's training takes coarse steps of the integrator in Dt, where the robot takes more. For each of eleven
// payloads it has a share of the epochs: in all almost four times those of ours.
const coarse, share = 5, 3

// oracle improves the base for each payload, in the dynamics that the arm truly has under it. In flight the payload
// chooses the policy.
func (b *Budget) oracle(ctx context.Context, references []*arm.Reference,
	base *vnd.Actor[float32]) (Method, error) {
	each := *b
	each.Policy.Epochs /= share
	policies := map[float64]*vnd.Actor[float32]{}
	for _, mass := range Masses {
		truth := Truth(mass)
		truth.Steps = coarse
		p, err := each.improve(ctx, &train.Prior[float32]{Nominal: truth.System()},
			armlearning.Task(armlearning.Spread, references...), base)
		if err != nil {
			return Method{}, err
		}
		policies[mass] = p
	}
	return Method{"oracle", func(mass float64, task *arm.Track[float32], rng *rand.Rand, steps int,
		s []float32) gate.Runner {
		return armlearning.Vehicle(task).Begin(policies[mass], nil, armlearning.Prior, rng, steps, s)
	}}, nil
}

// Peers are the oracle, RMA, and what learns as b does but from flights under one payload alone, the middle one, or
// without a latent.
func (b *Budget) Peers(ctx context.Context, references []*arm.Reference, ours *Learned) ([]Method, error) {
	oracle, err := b.oracle(ctx, references, ours.Base)
	if err != nil {
		return nil, err
	}
	rma, err := b.rma(ctx, references, ours)
	if err != nil {
		return nil, err
	}
	all, single, simple := []Method{oracle, rma}, *b, *b
	single.Masses = Masses[len(Masses)/2:][:1]
	simple.Fit.Model.Latent, simple.Base.Latent, simple.Policy.Latent = 0, 0, 0
	for _, x := range []struct {
		name string
		*Budget
	}{{"single condition", &single}, {"simple residual", &simple}} {
		l, err := x.Learn(ctx, references)
		if err != nil {
			return nil, err
		}
		all = append(all, ByPolicy(x.name, l.Improved, l.Model))
	}
	return all, nil
}
