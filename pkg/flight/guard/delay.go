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
	delayProof  = 10.0   // log-likelihood ratio
	delayBetter = 1.6    // times smaller residual
	otherBetter = 1.25   // the same, beside another airframe's
	delayRest   = 0.25   // of the turns that it may leave unexplained, beside noise: else it is another fault
	whitening   = 0.75   // of a turn's error that the next one takes back, as the simulator's trackers have it
	turnNoise   = 0.0023 // rad, of what is left, at least
	turnExcess  = 1.15   // times the attitude's noise, the same
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
		turned, _ := p.advance(&d.model, from+missing*i/pieces, so3.Vec3{})
		d.commanded.add(turned)
	}
}

// spacing is the mean time between exhibits, s, of which there are two at least.
func (d *detector) spacing() float64 { return (d.at(0).at - d.at(d.n-1).at) / float64(d.n-1) }

// delayed looks for the delay under which commanded turns explain the measured ones best, among some numbers of
// exhibits. It returns how many that is, and whether it is beyond doubt that it is another one than is reckoned with. A
// delay of less than from is none: the airframe may be slower than believed, or quicker, and a motion that repeats
// itself fits the command of a period before as well.
func (d *detector) delayed(from, to int) (exhibits int, found bool) {
	first := min(from, -maxQuick)
	n := min(delayWindow, d.n-1+first) // the oldest exhibit has no turn
	to = min(to, d.commanded.n-n)
	if n < leastDelay || to < from {
		return 0, false
	}
	now, whole := d.mismatch(0, n)
	other := now // airframe than believed
	for k := -maxQuick; k < from; k++ {
		left, _ := d.mismatch(k, n)
		other = min(other, left)
	}
	best, rest := 0, other
	for k := from; k <= to; k++ {
		if left, all := d.mismatch(k, n); left < rest {
			best, rest, whole = k, left, all
		}
	}
	sigma := max(turnNoise, turnExcess*d.noise.attitude())
	proof := (other - rest) / (2 * sigma * sigma)
	noise := float64(n) * 2 * sigma * sigma
	return best, proof > delayProof && now > delayBetter*rest && other > otherBetter*rest &&
		rest < 2*noise+delayRest*whole
}

// mismatch is what commands, shifted by so many exhibits, scaled and with a lasting turn beside them, do not explain of
// the sum of squares of whitened tilting turns, and the whole sum. A negative shift compares them with turns of before.
func (d *detector) mismatch(shift, n int) (left, whole float64) {
	var m, c, sumM, sumC so3.Vec3
	mm, mc, cc := 0.0, 0.0, 0.0
	for i := n - 1; i >= 0; i-- { // from the oldest
		m = m.Scale(whitening).Add(d.at(i + max(-shift, 0)).turned)
		c = c.Scale(whitening).Add(*d.commanded.at(i + max(shift, 0)))
		mm += m.X*m.X + m.Y*m.Y
		mc += m.X*c.X + m.Y*c.Y
		cc += c.X*c.X + c.Y*c.Y
		sumM, sumC = sumM.Add(m), sumC.Add(c)
	}
	each := 1 / float64(n)
	mm -= each * (sumM.X*sumM.X + sumM.Y*sumM.Y)
	mc -= each * (sumM.X*sumC.X + sumM.Y*sumC.Y)
	cc -= each * (sumC.X*sumC.X + sumC.Y*sumC.Y)
	if cc <= 0 {
		return mm, mm
	}
	gain := min(max(mc/cc, 0.5), 1.5)
	return mm - 2*gain*mc + gain*gain*cc, mm
}
