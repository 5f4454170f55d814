package manipulation

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"vnd/pkg/flight/armcontrol"
	"vnd/pkg/learning/armlearning"
	"vnd/pkg/learning/gate"
	"vnd/pkg/learning/train"
	"vnd/pkg/robot/arm"
	"vnd/pkg/vnd"
)

// Laws are the peers that learn nothing from recordings, each with those gains of a grid that err least in a world. It
// says which: a pole for computed torque, and slope, feedback and rate of the adaptive law.
func Laws(w World[float32], references []*arm.Reference, say func(format string, a ...any)) []Method {
	var poles, gains []Method
	for _, pole := range []float64{20, 25, 27.5, 30, 32.5, 35, 40} {
		poles = append(poles, ByLaw(fmt.Sprintf("computed torque, pole %g", pole),
			func() Law { return armcontrol.NewComputedTorque(pole, Dt) }))
	}
	for _, slope := range []float64{20, 30, 40, 50, 60} {
		for _, feedback := range []float64{20, 30, 40, 50} {
			for _, rate := range []float64{5, 7, 10, 14} {
				gains = append(gains, ByLaw(fmt.Sprintf("adaptive, gains %g, %g and %g", slope, feedback, rate),
					func() Law { return NewAdaptive(slope, feedback, rate) }))
			}
		}
	}
	all := []Method{best(w, references, poles), best(w, references, gains)}
	for i := range all {
		say("the best %s", all[i].Name)
		all[i].Name, _, _ = strings.Cut(all[i].Name, ",")
	}
	return all
}

// best is the method that errs least without a payload and under the greatest, along the first and the last reference.
func best(w World[float32], references []*arm.Reference, methods []Method) (best Method) {
	least := math.Inf(1)
	best = methods[0] // where all are lost
	for _, m := range methods {
		sum := 0.
		for _, mass := range []float64{0, arm.MaxPayload} {
			sum += m.mean(w, mass, []*arm.Reference{references[0], references[len(references)-1]})
		}
		if sum < least { // a lost flight has no number
			least, best = sum, m
		}
	}
	return best
}

// An oracle's training takes coarse steps of the integrator in Dt, where the robot takes more. For each of eleven
// payloads it has a share of the epochs: in all almost four times those of ours.
const coarse, share = 5, 3

// Oracle improves the base for each payload, in our dynamics with all that is hidden. In flight the payload chooses the
// policy.
func (b *Budget) Oracle(ctx context.Context, references []*arm.Reference,
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

// Peers are RMA, and what learns as b does but from flights under the middle payload alone, or without a latent.
func (b *Budget) Peers(ctx context.Context, references []*arm.Reference, ours *Learned) ([]Method, error) {
	rma, err := b.rma(ctx, references, ours)
	if err != nil {
		return nil, err
	}
	all, single, simple := []Method{rma}, *b, *b
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
