package quadtrain

import (
	"math/rand/v2"

	"vnd/pkg/flight/policy"
	"vnd/pkg/learning/train"
	"vnd/pkg/nn/kernel"
	"vnd/pkg/robot"
	"vnd/pkg/robot/rotors"
	"vnd/pkg/vnd"
)

// actions is A: four motors, as many as thrust and body rates.
const actions = 4

// differences is what differences between motors count as, rad/s over hover, where a cost has body rates.
const differences = 5

// rotorEpisodes are those of a policy that commands rotors. It sees body rates too. Where the cost has a command, it
// has what the motors do together, see rotors.Collective.
type rotorEpisodes[F kernel.Float] struct {
	*episodes[F]
	a, last   []F // [B][A] together
	da, dlast []F // [B][A] their gradients
}

// Observe implements robot.Episodes.
func (e *rotorEpisodes[F]) Observe(h int, s, past, x []F, width int) {
	e.episodes.Observe(h, s, past, x, width)
	policy.PutRates(e.see, s, x, len(s)/e.B, width)
}

// ObserveVJP implements robot.Episodes.
func (e *rotorEpisodes[F]) ObserveVJP(h int, s, dx []F, width int, ds, dpast []F) {
	e.episodes.ObserveVJP(h, s, dx, width, ds, dpast)
	policy.PullRates(e.see, dx, ds, len(s)/e.B, width)
}

// together returns a transition as the cost has it.
func (e *rotorEpisodes[F]) together(t *robot.Transition[F]) *robot.Transition[F] {
	a, last := e.a[:len(t.A)], e.last[:len(t.A)]
	clear(a)
	clear(last)
	rotors.Collective(e.hover, differences, t.A, a)
	rotors.Collective(e.hover, differences, t.Last, last)
	return &robot.Transition[F]{S0: t.S0, S1: t.S1, A: a, Last: last}
}

// Costs implements robot.Episodes.
func (e *rotorEpisodes[F]) Costs(h int, t *robot.Transition[F], cost, off []F) {
	e.episodes.Costs(h, e.together(t), cost, off)
}

// CostsVJP implements robot.Episodes.
func (e *rotorEpisodes[F]) CostsVJP(h int, t *robot.Transition[F], scale []F, g *robot.Transition[F]) {
	to := robot.Transition[F]{S0: g.S0, S1: g.S1, A: e.da[:len(t.A)], Last: e.dlast[:len(t.A)]}
	clear(to.A)
	clear(to.Last)
	e.episodes.CostsVJP(h, e.together(t), scale, &to)
	rotors.CollectiveVJP(e.hover, differences, to.A, g.A)
	rotors.CollectiveVJP(e.hover, differences, to.Last, g.Last)
}

// NonFiniteTerm implements robot.Episodes.
func (e *rotorEpisodes[F]) NonFiniteTerm(h int, t *robot.Transition[F], b int) string {
	return e.episodes.NonFiniteTerm(h, e.together(t), b)
}

// RotorWorld is the nominal simulator of a quadrotor that four rotors drive. Each tile of an epoch draws thrust,
// torques and lag anew, each robot a delay. Lags are those of rotors, around the middle of the range.
func RotorWorld[F kernel.Float](n Nominal, sys *rotors.System[F]) train.World[F] {
	w := &train.Prior[F]{Nominal: sys, Push: func(rng *rand.Rand, w []F) { pushed(&n, rng, w) },
		Draw: func(rng *rand.Rand) robot.System[F] {
			lag := n.MinLag + (max(n.MaxLag, n.MinLag)-n.MinLag)*rng.Float64()
			return sys.Vary(max(.1, 1+n.Gain*rng.NormFloat64()), 1+n.Margins.Gain*(2*rng.Float64()-1), lag/n.MeanLag())
		}}
	return alike(w, n.Dt, Margins{Delay: min(n.MaxDelay+n.Margins.Delay, train.MaxDelay), Share: 1})
}

// LearnedRotors is Learned of a robot that four rotors drive.
func LearnedRotors[F kernel.Float](m *vnd.Model[F], dt float64, through bool, p Pushes, around Margins) train.World[F] {
	return alike(Learned(m, dt, through, p, Margins{}), dt, around)
}

// alike puts a world behind rotors that all answer by one gain and delay, which each robot draws.
func alike[F kernel.Float](w train.World[F], dt float64, m Margins) train.World[F] {
	return &train.Responding[F]{World: w, Dt: dt, Draw: func(rng *rand.Rand, each []train.Response) {
		if m.none(rng) {
			return
		}
		r := train.Response{Gain: 1, Delay: m.Delay * rng.Float64()}
		if m.Gain > 0 {
			r.Gain += m.Gain * (2*rng.Float64() - 1)
		}
		for j := range each {
			each[j] = r
		}
	}}
}
