package robot

import (
	"math/rand/v2"

	"vnd/pkg/nn/kernel"
)

// Task is what a policy of a robot is trained for: where episodes begin and lead, what the policy sees, what a step
// costs. A policy sees O numbers, and a latent beside them.
type Task[F kernel.Float] interface {
	// Size is O. Past is K, how many past actions the policy sees.
	Size() int
	Past() int
	// DisturbanceSize is how many numbers of a disturbance that is measured end an observation.
	DisturbanceSize() int
	// Flag reports whether number j of an observation has a unit of its own, and is not to be normalised.
	Flag(j int) bool
	// NewEpisodes makes space for up to maxB episodes side by side, of up to maxH steps of dt seconds.
	NewEpisodes(dt float64, maxB, maxH int) Episodes[F]
}

// Episodes are B episodes of a Task, H steps each, for one goroutine.
type Episodes[F kernel.Float] interface {
	Begin(B, H int)
	// Draw draws episode b, and writes the measured part of its first state s[S]. The rest of s is at rest already.
	Draw(b int, rng *rand.Rand, s []F) Bounds
	// DrawSensors follows the last Draw: it draws what sensors do wrong in all episodes.
	DrawSensors(rng *rand.Rand)

	// Observe writes the first O numbers of each row of x[B][width], from the states s[B][S] of step h and the past
	// actions, past[K][B][A], eldest first, in half ranges.
	Observe(h int, s, past, x []F, width int)
	// ObserveVJP adds the pullback of dx[B][width] to ds and dpast. It is called for the steps in reverse order.
	ObserveVJP(h int, s, dx []F, width int, ds, dpast []F)

	// Costs writes cost[B] of step h, and off[B], the squared distance of its S1 from the reference: not a number
	// where S1 is not finite.
	Costs(h int, t *Transition[F], cost, off []F)
	// CostsVJP adds the gradients of Σ scale·cost to g. An episode whose scale[B] is 0 has none, whatever it did.
	CostsVJP(h int, t *Transition[F], scale []F, g *Transition[F])
	// NonFiniteTerm names the first term of the cost of episode b that is not finite, "" where all are.
	NonFiniteTerm(h int, t *Transition[F], b int) string
}

// Bounds say when an episode ends early, as a collision.
type Bounds struct {
	Radius    float64 // distance from the reference that ends it
	Collision float64 // cost of each step that it then lacks
}

// Transition is one step of a batch, or its gradients: states S0 and S1 [B][S], and the action A between them and the
// one before it, Last [B][A].
type Transition[F kernel.Float] struct {
	S0, S1, A, Last []F
}
