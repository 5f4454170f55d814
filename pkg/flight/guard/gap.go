package guard

import (
	"math"

	"vnd/pkg/core/so3"
)

// A delay that begins at once begins with a gap as long as itself in the stamps. Behind one that delay alone is looked
// for, so that a calm hover is enough to find it.
const (
	gapMemory   = 1.0    // s for which a gap may have begun a delay
	gapSlack    = 2      // exhibits by which the delay may differ from it
	leastDelay  = 6      // exhibits that the test needs, beside maxQuick
	gapProof    = 6.0    // log-likelihood ratio
	gapBetter   = 1.35   // times smaller residual than without a delay
	otherBetter = 1.25   // the same, beside another airframe's
	delayNoise  = 1.5    // times the noise that it may leave unexplained
	delayRest   = 0.15   // of the turns that it may leave unexplained, beside noise: else it is another fault
	whiteNoise  = 0.0023 // rad, of what is left of a turn whitened, at least
	whiteExcess = 1.15   // times the attitude's noise, the same
)

// delayedByGap is delayed soon after a gap: turns since then have to be explained best by a delay about as long. An
// airframe slower than believed, which is none, was so before the gap, too.
func (d *detector) delayedByGap() (exhibits int, found bool) {
	n := min(delayWindow, d.n-1) // the oldest exhibit has no turn
	if n < leastDelay+maxQuick || d.at(0).at-d.gapAt > gapMemory || d.at(0).at < d.gapAt {
		return 0, false
	}
	gap := int(math.Round(d.gap/d.spacing())) - 1
	from, to := max(minDelay, gap-gapSlack), min(maxDelay, gap+gapSlack, d.commanded.n-n)
	now, whole := d.sinceGap(n, 0)
	other, before := now, d.beforeGap(0)
	for slow := -maxQuick; slow < minDelay; slow++ {
		left, _ := d.sinceGap(n, slow)
		other = min(other, left+max(d.beforeGap(slow)-before, 0))
	}
	best, rest := 0, other
	for late := from; late <= to; late++ {
		if left, all := d.sinceGap(n, late); left < rest {
			best, rest, whole = late, left, all
		}
	}
	sigma := max(whiteNoise, whiteExcess*d.noise.attitude())
	proof := (other - rest) / (2 * sigma * sigma)
	noise := float64(n) * 2 * sigma * sigma
	return best, proof > gapProof && now > gapBetter*rest && other > otherBetter*rest &&
		rest < delayNoise*noise+delayRest*whole
}

// sinceGap is what commands do not explain of the sum of squares of n whitened turns, and the whole sum, if they follow
// so many exhibits later than believed. Where they are sooner the newest ones are not commanded yet.
func (d *detector) sinceGap(n, late int) (left, whole float64) {
	newest := max(-late, 0)
	f, counted := d.fit(newest, n-newest, late, whitening), float64(n-newest)
	left, whole = f.mismatch(counted)
	return left * float64(n) / counted, whole
}

// beforeGap is the same of turns before the gap; 0 where those are not known.
func (d *detector) beforeGap(late int) (left float64) {
	n := min(delayWindow, d.before-1, window-d.n, d.commanded.n-d.n-d.gapTurns-maxQuick)
	if n < leastDelay || d.at(d.n-1).at != d.gapAt {
		return 0
	}
	f := d.fit(d.n, n, d.gapTurns-1+late, whitening)
	left, _ = f.mismatch(float64(n))
	return left
}

// A robot that moves shows a delay at once: behind a gap about as long its path goes on where it ended.
const (
	leastResumed  = 3     // exhibits after the gap
	mostResumed   = 8     // the same, after which it tells nothing any more
	leastLate     = 0.03  // s
	unheard       = 6     // exhibits of which a velocity was made, so that they did not come
	resumedOff    = 0.025 // m by which the path may differ from what went before
	resumedTurned = 0.08  // rad, the same of the attitude
)

// lateSinceGap is by how much samples after a gap are later than reckoned with, s, where they are not believed so. It
// is known where they go on with the motion before the gap, as if there had been none.
func (g *Guard) lateSinceGap() (late float64, found bool) {
	d, b := &g.detector, &g.belief
	if !b.rejected || d.n < leastResumed || d.n > mostResumed || d.at(d.n-1).at != d.gapAt {
		return 0, false
	}
	least, each := resumedOff, d.spacing()
	for i := 1.0; i <= unheard; i++ {
		by := d.gap - i*each
		if off := g.resumed(by); by >= leastLate && off < least {
			late, least = by, off
		}
	}
	return late, late > 0
}

// resumed is how far samples since the gap are, m at most, from the motion before it, if they are late by so many
// seconds; +Inf where that cannot be.
func (g *Guard) resumed(late float64) (off float64) {
	d, b := &g.detector, &g.belief
	m := b.past.before(d.gapAt - d.gap)
	if m == nil || d.gapAt-late-m.at > maxReckoning {
		return math.Inf(1)
	}
	expected := m.motion
	for i := d.n - 1; i >= 0; i-- {
		e := d.at(i)
		b.plant.advance(&expected, e.at-late, m.wind)
		if so3.Log(expected.state.Q.Conj().Mul(e.q)).Norm() > resumedTurned {
			return math.Inf(1)
		}
		off = max(off, expected.state.P.Sub(e.p).Norm())
	}
	return off
}
