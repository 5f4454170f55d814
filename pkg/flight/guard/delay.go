package guard

import (
	"math"

	"vnd/pkg/core/so3"
)

// A delay behind fresh stamps shows in turns that follow their commands too late. The attitude's noise is white, so
// that the errors of successive turns take each other back; whitened, a slow sway tells as much as a quick turn.
const (
	delayWindow = 25    // exhibits, 0.5 s, or those since the last gap
	maxDelay    = 15    // exhibits by which commands are shifted, 0.3 s
	minDelay    = 3     // that is a fault; less is an airframe slower than believed
	maxQuick    = 3     // by which an airframe may be quicker than believed
	delayTrim   = 4     // by which a delay that was found may be off
	delayApart  = 2     // by which another delay is near enough to be the same one
	delayProof  = 10.0  // log-likelihood ratio
	delayBetter = 1.6   // times smaller residual
	delayMisfit = 0.05  // of the turns that a model without delay may leave unexplained, beside noise
	whitening   = 0.75  // of a turn's error that the next one takes back, as the simulator's trackers have it
	turnNoise   = 0.003 // rad, of a turn between two exhibits
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

// bridge carries the model on through time without samples, and returns how many turns that took.
func (d *detector) bridge(until float64, p *plant) (turns int) {
	missing := until - d.model.at
	if !(missing >= 0 && missing < maxReckoning) {
		d.commanded.n = 0
		return 0
	}
	each := 0.02
	if d.n > 1 {
		each = d.spacing()
	}
	pieces, from := max(math.Round(missing/each), 1), d.model.at
	for i := 1.0; i <= pieces && missing > 0; i++ {
		d.commanded.add(p.commanded(&d.model, from+missing*i/pieces).turned)
		turns++
	}
	return turns
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

// mismatch is what commands, shifted by so many exhibits and scaled, do not explain of the sum of squares of tilting
// turns, and the whole sum. Whitened ones may have a lasting turn beside them. A negative shift compares them with
// turns of before.
func (d *detector) mismatch(shift, n int, white float64) (left, whole float64) {
	f := d.fit(max(-shift, 0), n, shift, white)
	if white == 0 {
		return f.mismatch(math.Inf(1))
	}
	return f.mismatch(float64(n))
}

// fit fits commands to n turns, the newest of which is the first, as if they followed so many exhibits later.
func (d *detector) fit(first, n, later int, white float64) (f turnFit) {
	for i := first + n - 1; i >= first; i-- { // from the oldest
		f.add(d.at(i).turned, *d.commanded.at(i + later), white)
	}
	return f
}

// turnFit fits commanded tilting turns to measured ones.
type turnFit struct {
	m, c, sumM, sumC so3.Vec3
	mm, mc, cc       float64
}

// add takes in a turn and the one commanded, from the oldest on.
func (f *turnFit) add(m, c so3.Vec3, white float64) {
	f.m, f.c = f.m.Scale(white).Add(m), f.c.Scale(white).Add(c)
	f.mm += f.m.X*f.m.X + f.m.Y*f.m.Y
	f.mc += f.m.X*f.c.X + f.m.Y*f.c.Y
	f.cc += f.c.X*f.c.X + f.c.Y*f.c.Y
	f.sumM, f.sumC = f.sumM.Add(f.m), f.sumC.Add(f.c)
}

// mismatch is what a gain and, in the mean of n turns, a lasting turn leave of the sum of squares, and the whole sum.
func (f *turnFit) mismatch(n float64) (left, whole float64) {
	mm := f.mm - (f.sumM.X*f.sumM.X+f.sumM.Y*f.sumM.Y)/n
	mc := f.mc - (f.sumM.X*f.sumC.X+f.sumM.Y*f.sumC.Y)/n
	cc := f.cc - (f.sumC.X*f.sumC.X+f.sumC.Y*f.sumC.Y)/n
	if cc <= 0 {
		return mm, mm
	}
	gain := min(max(mc/cc, 0.5), 1.5)
	return mm - 2*gain*mc + gain*gain*cc, mm
}
