package pushlearning

import (
	"math/rand/v2"

	"vnd/pkg/flight/pushcontrol"
	"vnd/pkg/learning/ppo"
	"vnd/pkg/vnd"
)

// Acting is a policy in episodes, without noise of its own.
type Acting struct {
	U []float32 // [N][A] the next actions
	// Inform writes over what is seen, x[N][O], before the policy acts by it, unless nil.
	Inform  func(x []float32)
	e       *Episodes
	policy  pushcontrol.Policy
	x, v    []float32
	rewards []float32
	end     []ppo.End
}

// NewActing has a policy act in episodes.
func NewActing(p *vnd.Actor[float32], e *Episodes) *Acting {
	O, V, A := e.Sizes()
	n := e.Size()
	floats := func(each int) []float32 { return make([]float32, n*each) }
	return &Acting{U: floats(A), e: e, policy: pushcontrol.NewPolicy(p, n), x: floats(O), v: floats(V),
		rewards: floats(1),
		end:     make([]ppo.End, n)}
}

// Decide writes the next actions.
func (a *Acting) Decide() {
	if a.e.Observe(a.x, a.v); a.Inform != nil {
		a.Inform(a.x)
	}
	a.policy.Act(a.x, a.U)
}

// Step has the episodes go on by the actions.
func (a *Acting) Step() error { return a.e.Step(a.U, a.rewards, a.end) }

// Successes has a policy push each box of a plant once, and reports which of them reach their goals.
func Successes(acting func(*Episodes) *Acting, t Task, boxes Plant, rng *rand.Rand) (won []bool, err error) {
	e, err := NewEpisodes(t, boxes, rng)
	if err != nil {
		return nil, err
	}
	e.Together()
	over := make([]bool, e.Size())
	won = make([]bool, e.Size())
	e.Ended = func(i int, success bool) {
		if !over[i] {
			over[i], won[i] = true, success
		}
	}
	a := acting(e)
	for range t.Steps {
		if a.Decide(); err == nil {
			err = a.Step()
		}
	}
	return won, err
}
