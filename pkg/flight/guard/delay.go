package guard

import (
	"math"

	"vnd/pkg/core/so3"
)

// A delay behind fresh stamps shows in turns that follow their commands too late. The attitude's noise is white, so
// that the errors of successive turns take each other back; whitened, a slow sway tells as much as a quick turn.
const (
	delayWindow = 25     // exhibits, 0.5 s, or those since the last gap
	leastDelay  = 6      // exhibits that the test needs
	maxDelay    = 15     // exhibits by which commands are shifted, 0.3 s
	minDelay    = 3      // that is a fault; less is an airframe slower than believed
	maxQuick    = 3      // by which an airframe may be quicker than believed
	delayTrim   = 4      // by which a delay that was found may be off
	delayApart  = 2      // by which another delay is near enough to be the same one
	delayProof  = 10.0   // log-likelihood ratio
	delayBetter = 1.6    // times smaller residual
	otherBetter = 1.25   // the same, beside another airframe's
	delayNoise  = 1.5    // times the noise that it may leave unexplained
	delayMisfit = 0.05   // of the turns that a model without delay may leave unexplained, beside noise
	delayRest   = 0.15   // of the turns that it may leave unexplained, beside noise: else it is another fault
	whitening   = 0.75   // of a turn's error that the next one takes back, as the simulator's trackers have it
	turnNoise   = 0.003  // rad, of a turn between two exhibits
	whiteNoise  = 0.0023 // rad, of what is left of it whitened, at least
	whiteExcess = 1.15   // times the attitude's noise, the same
	gapMemory   = 1.0    // s for which a gap may have begun a delay
	gapSlack    = 2      // exhibits by which the delay may differ from it
)

// turns are those that commands make from one exhibit to the next, rad in the body, also where samples were missing.
type turns struct {
	ring   [window + maxDelay]so3.Vec3
	newest int
	n      int
}

func (t *turns) at(i int) *so3.Vec3 { return &t.ring[(t.newest-i+len(t.ring))%len(t.ring)] }

func (t *turns) add(turn so3.Vec3) {
	t.newest = (t.newest + 1) % len(t.ring)
	t.ring[t.newest] = turn
	t.n = min(t.n+1, len(t.ring))
}

// bridge carries the model on through time without samples.
func (d *detector) bridge(until float64, p *plant) {
	missing := until - d.model.at
	if !(missing >= 0 && missing < maxReckoning) {
		d.commanded.n = 0
		return
	}
	each := 0.02
	if d.n > 1 {
		each = d.spacing()
	}
	pieces, from := max(math.Round(missing/each), 1), d.model.at
	for i := 1.0; i <= pieces && missing > 0; i++ {
		d.commanded.add(p.commanded(&d.model, from+missing*i/pieces).turned)
	}
}

// spacing is the mean time between exhibits, s, of which there are two at least.
func (d *detector) spacing() float64 { return (d.at(0).at - d.at(d.n-1).at) / float64(d.n-1) }

// delayed looks for the delay under which commanded turns explain the measured ones best, among some numbers of
// exhibits. It returns how many that is, and whether it is beyond doubt that it is another one than is reckoned with.
// An airframe that is quicker than believed is no delay, nor a little slower one, though a motion that repeats itself
// fits the command of a period before as well.
func (d *detector) delayed(from, to int) (exhibits int, found bool) {
	const n = delayWindow
	if d.n < n+to+1 {
		return 0, false
	}
	now, whole := d.mismatch(0, n, 0)
	best, least := 0, now
	for k := from; k <= to; k++ {
		if left, _ := d.mismatch(k, n, 0); left < least {
			best, least = k, left
		}
	}
	for k := -delayTrim; k < min(from, best-delayApart); k++ {
		left, _ := d.mismatch(k, n, 0)
		now = min(now, left)
	}
	floor := max(float64(n)*2*turnNoise*turnNoise, delayMisfit*whole)
	proof := (now - least) / (2 * turnNoise * turnNoise)
	return best, proof > delayProof && now > delayBetter*max(least, floor) && !d.soonerWhitened(best, from)
}

// soonerWhitened reports whether whitened turns, which a slow sway leads astray less, are explained better by less than
// the least delay that is a fault.
func (d *detector) soonerWhitened(best, least int) bool {
	left, _ := d.mismatch(best, delayWindow, whitening)
	for k := -maxQuick; k < min(least, best-delayApart); k++ {
		if other, _ := d.mismatch(k, delayWindow, whitening); other < left {
			return true
		}
	}
	return false
}

// delayedByGap is delayed soon after a gap, and more sensitive. A delay that begins at once begins with a gap as long
// as itself in the stamps; where turns are then explained best by just that delay, a calm hover is enough.
func (d *detector) delayedByGap() (exhibits int, found bool) {
	n := min(delayWindow, d.n-1-maxQuick) // the oldest exhibit has no turn
	if n < leastDelay || d.at(0).at-d.gapAt > gapMemory || d.at(0).at < d.gapAt {
		return 0, false
	}
	gap := int(math.Round(d.gap/d.spacing())) - 1
	from, to := max(minDelay, gap-gapSlack), min(maxDelay, gap+gapSlack, d.commanded.n-n)
	now, whole := d.mismatch(0, n, whitening)
	other := now // airframe than believed
	for k := -maxQuick; k < minDelay; k++ {
		left, _ := d.mismatch(k, n, whitening)
		other = min(other, left)
	}
	best, rest := 0, other
	for k := from; k <= to; k++ {
		if left, all := d.mismatch(k, n, whitening); left < rest {
			best, rest, whole = k, left, all
		}
	}
	sigma := max(whiteNoise, whiteExcess*d.noise.attitude())
	proof := (other - rest) / (2 * sigma * sigma)
	noise := float64(n) * 2 * sigma * sigma
	return best, proof > delayProof && now > delayBetter*rest && other > otherBetter*rest &&
		rest < delayNoise*noise+delayRest*whole
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

// lateSinceGap is by how much samples after a gap are late, s, where they are not believed at their stamps. It is known
// where they go on with the motion before the gap, as if there had been none.
func (g *Guard) lateSinceGap() (late float64, found bool) {
	d, b := &g.detector, &g.belief
	if !b.rejected || g.hiddenDelay > 0 || d.n < leastResumed || d.n > mostResumed || d.at(d.n-1).at != d.gapAt {
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

// mismatch is what commands, shifted by so many exhibits and scaled, do not explain of the sum of squares of tilting
// turns, and the whole sum. Whitened ones may have a lasting turn beside them. A negative shift compares them with
// turns of before.
func (d *detector) mismatch(shift, n int, white float64) (left, whole float64) {
	var m, c, sumM, sumC so3.Vec3
	mm, mc, cc := 0.0, 0.0, 0.0
	for i := n - 1; i >= 0; i-- { // from the oldest
		m = m.Scale(white).Add(d.at(i + max(-shift, 0)).turned)
		c = c.Scale(white).Add(*d.commanded.at(i + max(shift, 0)))
		mm += m.X*m.X + m.Y*m.Y
		mc += m.X*c.X + m.Y*c.Y
		cc += c.X*c.X + c.Y*c.Y
		sumM, sumC = sumM.Add(m), sumC.Add(c)
	}
	each := 1 / float64(n)
	if white == 0 {
		each = 0
	}
	mm -= each * (sumM.X*sumM.X + sumM.Y*sumM.Y)
	mc -= each * (sumM.X*sumC.X + sumM.Y*sumC.Y)
	cc -= each * (sumC.X*sumC.X + sumC.Y*sumC.Y)
	if cc <= 0 {
		return mm, mm
	}
	gain := min(max(mc/cc, 0.5), 1.5)
	return mm - 2*gain*mc + gain*gain*cc, mm
}
