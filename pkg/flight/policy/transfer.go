package policy

import (
	"math"
	"slices"

	"vnd/pkg/core/quad"
)

// transfer makes a swap bumpless: the command goes on from that of the policy before, and to that of the new one.
type transfer struct {
	from  quad.Command // last one before the swap
	due   bool         // the next action begins at it
	share [nA]float64  // of the actions, what is left of the difference
}

// goOn has the next command go on from the last one, and lead to those of a policy.
func (f *Runner) goOn(to *Policy[float32]) {
	if f.actions > 0 && to.Motors == nil && !f.transfer.fades() {
		f.transfer = transfer{from: f.policy.Command(f.u), due: true}
	}
}

// transferTime is how long the difference takes to fade to 1/e, s.
const transferTime = 0.15

// fades reports whether the swap before is not over. Another one then begins at once, or swaps without end would keep a
// command for ever.
func (k *transfer) fades() bool {
	const over = 0.02
	return k.due || slices.ContainsFunc(k.share[:], func(x float64) bool { return math.Abs(x) > over })
}

// apply adds what is left to the actions u of a policy, dt seconds after the last ones.
func (k *transfer) apply(p *Policy[float32], u *[nA]float32, dt float64) {
	if k.due {
		k.due = false
		for j, x := range p.Action(k.from) {
			k.share[j] = float64(x - u[j])
		}
	}
	keep := math.Exp(-min(max(dt, 0), longestTick) / transferTime)
	for j := range u {
		k.share[j] *= keep
		u[j] = min(max(u[j]+float32(k.share[j]), -1), 1)
	}
}
