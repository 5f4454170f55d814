package guard

import (
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// A hidden delay may end in flight. Whoever went on to reckon with it would be ahead of the robot, and would believe it
// on the floor while it flies. Two things show the end: a leap along the motion, and turns that follow at once.
const (
	leapSlack  = 0.025 // m by which a sample has to fit its own stamp better than the late one
	leapProof  = 2     // samples in a row that do
	leapMisled = 0.2   // s for which a velocity made of positions may hold the leap

	overSlack  = 1    // exhibits by which either delay may be off
	overProof  = 6.0  // log-likelihood ratio
	overBetter = 1.35 // times smaller residual
)

// catchUp forgets a hidden delay where samples leap ahead to where the commands sent since have brought the robot by
// now. It reports whether this one did: the first is not believed yet, nor held against the source.
func (g *Guard) catchUp(in *Input) bool {
	if g.hiddenDelay == 0 || in.NotOffboard {
		g.leaps = 0
		return false
	}
	now, leapt := g.leapt(in)
	if !leapt {
		g.leaps = 0
		return false
	}
	if g.leaps++; g.leaps < leapProof {
		g.belief.stamp = in.Stamp
		return true
	}
	at := *in
	at.State.V = now.V
	g.setDelay(0, &at)
	g.leaps, g.leaptAt = 0, g.now
	return true
}

// leapt reports whether a sample is not where a hidden delay has it, but where the robot is at its stamp. It returns
// the motion expected there.
func (g *Guard) leapt(in *Input) (now quad.State, leapt bool) {
	b := &g.belief
	if b.past.n == 0 || in.Stamp-b.past.at(0).at > maxReckoning {
		return now, false
	}
	before := b.past.at(0)
	late, m := before.motion, before.motion
	b.plant.advance(&late, in.Stamp, before.wind)
	b.plant.advance(&m, in.Stamp+g.hiddenDelay, before.wind)
	turned := so3.Log(m.state.Q.Conj().Mul(in.State.Q)).Norm()
	off, offLate := m.state.P.Sub(in.State.P).Norm(), late.state.P.Sub(in.State.P).Norm()
	return m.state, off < resumedOff && turned < resumedTurned && offLate > off+leapSlack
}

// over reports whether commands explain turns of late at their stamps, and not so many exhibits later.
func (d *detector) over(late int) bool {
	first := late + overSlack // the commands of newer turns are not in the record yet
	n := min(delayWindow, d.n-1-first, d.commanded.n-first-overSlack)
	if late <= overSlack || n < leastDelay {
		return false
	}
	as, _ := d.besides(first, n, 0)
	now, whole := d.besides(first, n, -late)
	sigma := max(whiteNoise, whiteExcess*d.noise.attitude())
	variance := 2 * sigma * sigma
	return (as-now)/variance > overProof && as > overBetter*now &&
		now < delayNoise*float64(n)*variance+delayRest*whole // else it is another delay
}

// besides is what commands, so many exhibits later than reckoned with or nearly so, do not explain of the sum of
// squares of n whitened turns up to the first, and the whole sum.
func (d *detector) besides(first, n, late int) (least, whole float64) {
	least = math.Inf(1)
	for by := late - overSlack; by <= late+overSlack; by++ {
		f := d.fit(first, n, by, whitening)
		left, all := f.mismatch(float64(n))
		if left < least {
			least, whole = left, all
		}
	}
	return least, whole
}
