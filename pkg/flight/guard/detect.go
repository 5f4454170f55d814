package guard

import (
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// detector tests whether the states that come fit one another and the motion that was commanded. A source that is
// frozen, mirrored, late beyond what its stamps say, or drifting sends states that are each well-formed. It looks at
// samples as they come, some 20 ms apart, whether believed or not.
type detector struct {
	ring   [window]exhibit
	newest int
	n      int
	model  motion   // what the commands alone make of the newest sample
	bias   so3.Vec3 // rad/s by which the robot turns beside commands, as learned
	noise  noise    // of the source, as learned

	same      quad.State // the newest state that differed from the one before
	sameSince float64    // its stamp, s
	sameUntil float64    // stamp of the last one like it, s
	repeats   int        // how often it came again
	stuck     bool       // it came too often
	usual     float64    // for how long states of a source that is coarse come again, s
}

// exhibit is one sample, with how the robot moved since the one before: as measured, and as commanded.
type exhibit struct {
	at       float64 // s
	p, v     so3.Vec3
	turned   so3.Vec3 // measured rotation vector in the body, rad
	expected so3.Vec3 // of the commands
	gained   so3.Vec3 // velocity that thrust and gravity added, m/s, world
	q        so3.Quat // as measured
	bias     so3.Vec3 // rad/s, that was expected
}

const (
	window      = 64
	spacing     = 0.018 // s, between exhibits
	maxLull     = 0.06  // s; a longer gap begins the evidence anew
	maxTurnStep = 0.12  // rad, the same of turns beside what was commanded
	maxStep     = 0.05  // m from one exhibit to the next beside what the velocities say; a longer one begins it anew
)

// Windows and thresholds. The slack of each is what healthy flights of the simulator with noise, gusts and wind turns
// never reached (benchmarks/safety.md has the rate of false alarms).
const (
	frozenFor     = 0.055 // s without any change
	frozenRepeats = 4
	coarseTimes   = 3    // times as long as usual
	maxUsual      = 0.15 // s

	twistWindow = 10   // exhibits, 0.2 s
	twistSlack  = 0.04 // m
	twistShare  = 0.35 // of the way

	velocityWindow = 5 // exhibits, 0.1 s

	turnWindow     = 8    // exhibits, 0.16 s
	turnWait       = 6    // exhibits after a beginning, when it is not known what acts
	turnSlack      = 0.06 // rad
	turnShare      = 0.5  // of the turn
	turnDeviations = 3.0  // of the attitude's noise, beyond the slack
	yawSlack       = 0.12 // rad, about the body's z, of which the motion says nothing
	pullWindow     = 12   // exhibits, 0.24 s, over which the motion is asked which attitude moves it
	calmWindow     = 20   // exhibits before, which say what the wind does
	biasMemory     = 1.0  // time constant with which a lasting turn is learned, s
	minBias        = 0.1  // rad/s
	maxBias        = 1.5  // rad/s
	pullMargin     = 0.05 // m/s by which the commanded attitude must explain the motion better

	delayWindow    = 25     // exhibits, 0.5 s
	maxDelay       = 15     // exhibits by which commands are shifted, 0.3 s
	minDelay       = 3      // that is a fault; less is an airframe slower than believed
	turnNoise      = 0.003  // rad, of a turn between two exhibits
	delayTrim      = 4      // by which a delay that was found may be off
	delayProof     = 10.0   // log-likelihood ratio
	delayBetter    = 1.6    // times smaller residual
	kinkHalf       = 10     // exhibits on either side of a kink
	kinkSlack      = 0.048  // m/s
	kinkDeviations = 120.0  // 1/s, of the position's noise, where that is more than the slack
	kinkLag        = 0.015  // s by which the model may lag
	kinkGain       = 0.05   // by which its gain may err
	kinkShare      = 0.1    // m/s for each m/s² by which a steady force changed there
	evenSpacing    = 0.0065 // s by which spacing of a kink's window may differ
)

func (d *detector) reset() { *d = detector{bias: d.bias, noise: d.noise, usual: d.usual} }

func (d *detector) at(i int) *exhibit { return &d.ring[(d.newest-i+window)%window] }

// add takes a sample in, under the commands sent so far, and reports whether it is an exhibit that follows another.
func (d *detector) add(s *quad.State, stamp float64, p *plant) bool {
	d.compare(s, stamp)
	if d.n == 0 || stamp-d.at(0).at > maxLull || stamp < d.at(0).at {
		d.begin(s, stamp)
		return false
	}
	last := d.at(0)
	since := stamp - last.at
	if since < spacing {
		return false
	}
	// a jump is the belief's to find
	step := s.P.Sub(last.p).Sub(s.V.Add(last.v).Scale(since / 2))
	if step.Norm() > maxStep {
		d.begin(s, stamp)
		return false
	}
	before, q := d.model.state.Q, s.Q.Normalize()
	expected, gained := p.advance(&d.model, stamp, so3.Vec3{})
	turned := so3.Log(before.Conj().Mul(q))
	if turned.Sub(expected).Norm() > maxTurnStep {
		d.begin(s, stamp)
		return false
	}
	d.noise.add(step, turned.Sub(expected), share(since, noiseMemory))
	d.push(exhibit{stamp, s.P, s.V, turned, expected, gained, q, p.bias})
	d.model.state = quad.State{P: s.P, V: s.V, Q: q}
	return true
}

func (d *detector) begin(s *quad.State, stamp float64) {
	acting := hoverCommand
	if d.n > 0 {
		acting = d.model.acting
	}
	d.n, d.model = 0, motion{stamp, *s, acting}
	d.model.state.Q = s.Q.Normalize()
	d.push(exhibit{at: stamp, p: s.P, v: s.V, q: d.model.state.Q})
}

func (d *detector) push(e exhibit) {
	d.newest = (d.newest + 1) % window
	d.ring[d.newest] = e
	d.n = min(d.n+1, window)
}

// compare counts how often one state came again, under stamps of its own.
func (d *detector) compare(s *quad.State, stamp float64) {
	if s.P == d.same.P && s.Q == d.same.Q && stamp >= d.sameSince {
		d.repeats++
		d.sameUntil = stamp
		return
	}
	if d.repeats > 0 && !d.stuck {
		d.usual = min(max(d.usual, d.sameUntil-d.sameSince), maxUsual)
	}
	d.same, d.sameSince, d.repeats, d.stuck = *s, stamp, 0, false
}

// frozen reports whether the source repeats itself, and since when. A tracker of a robot in the air never does, unless
// it is coarse: then it did so before, if only of a robot that stood.
func (d *detector) frozen(now float64) (since float64, found bool) {
	return d.sameSince, d.repeats >= frozenRepeats && now-d.sameSince >= max(frozenFor, coarseTimes*d.usual)
}

// twisted reports whether velocities contradict positions, as those of a mirrored frame do.
func (d *detector) twisted() (since float64, found bool) {
	if d.n <= twistWindow {
		return 0, false
	}
	way, length := so3.Vec3{}, 0.0
	for i := range twistWindow {
		a, b := d.at(i), d.at(i+1)
		mean := a.v.Add(b.v).Scale((a.at - b.at) / 2)
		way, length = way.Add(mean), length+mean.Norm()
	}
	first := d.at(twistWindow)
	off := d.at(0).p.Sub(first.p).Sub(way).Norm()
	return first.at, off > twistSlack+twistShare*length
}

// velocity is the one at a position measured now, as the positions of late and what was commanded between them make it
// in a wind (m/s², world); false where there are too few. Where the robot is not free, but may touch the floor, what
// was commanded says nothing.
func (d *detector) velocity(p so3.Vec3, at float64, wind so3.Vec3, free bool) (v so3.Vec3, ok bool) {
	n := min(velocityWindow, d.n-1)
	if n < 2 || at < d.at(0).at {
		return v, false
	}
	first := d.at(n)
	if !free {
		return p.Sub(first.p).Scale(1 / (at - first.at)), true
	}
	var moved, gained, a so3.Vec3 // from rest at the first
	for i := n; i >= 0; i-- {
		from, to := d.at(i).at, at
		if i > 0 {
			to = d.at(i - 1).at
			a = d.at(i - 1).gained.Scale(1 / (to - from)).Add(wind)
		}
		dt := to - from
		moved = moved.Add(gained.Scale(dt)).Add(a.Scale(dt * dt / 2))
		gained = gained.Add(a.Scale(dt))
	}
	return p.Sub(first.p).Sub(moved).Scale(1 / (at - first.at)).Add(gained), true
}

// disobeyed reports whether the attitude does not turn as commanded. Of a tilt the motion has to say that it is the
// measured attitude which is wrong: a cut propeller or a payload turns a robot too, and then it is right.
func (d *detector) disobeyed() (since float64, found bool) {
	if d.n <= turnWindow+turnWait {
		return 0, false
	}
	off, length := so3.Vec3{}, 0.0
	for i := range turnWindow {
		e := d.at(i)
		off, length = off.Add(e.turned.Sub(e.expected)), length+e.expected.Norm()
	}
	share := turnShare * length
	slack := turnSlack + share + turnDeviations*d.noise.attitude()
	tilted := math.Hypot(off.X, off.Y) > slack && d.pulledAsCommanded()
	return d.at(turnWindow).at, tilted || math.Abs(off.Z) > slack+yawSlack-turnSlack
}

// learnBias lets a plant follow, slowly, by how much the robot turns beside what is commanded, as under a cut propeller
// or a payload beside the centre. It learns of exhibits old enough that a fault in them would have been found, and
// leaves out what a healthy airframe's model errs by.
func (d *detector) learnBias(p *plant) {
	if d.n <= turnWindow+turnWait {
		return
	}
	e, before := d.at(turnWindow), d.at(turnWindow+1)
	dt := e.at - before.at
	beside := e.turned.Sub(e.expected).Scale(1 / dt).Add(e.bias)
	d.bias = clampNorm(d.bias.Add(beside.Sub(d.bias).Scale(share(dt, biasMemory))), maxBias)
	p.bias = so3.Vec3{}
	if n := d.bias.Norm(); n > minBias {
		p.bias = d.bias.Scale(1 - minBias/n)
	}
}

// pulledAsCommanded reports whether the attitude that the commands make, rather than the measured one, explains how
// the velocity changed, beside the wind there was before.
func (d *detector) pulledAsCommanded() bool {
	calm := min(calmWindow, d.n-1-pullWindow)
	if calm < calmWindow/2 { // the wind is not known yet
		return false
	}
	first, before := d.at(pullWindow), d.at(pullWindow+calm)
	wind := first.v.Sub(before.v)
	for i := range calm {
		wind = wind.Sub(d.at(pullWindow + i).gained)
	}
	wind = wind.Scale(1 / (first.at - before.at))
	left := d.at(0).v.Sub(first.v).Sub(wind.Scale(d.at(0).at - first.at)) // beside the measured attitude
	var off, pulled so3.Vec3
	for i := pullWindow - 1; i >= 0; i-- { // from the oldest
		e := d.at(i)
		pull := e.gained
		pull.Z += quad.Gravity * (e.at - d.at(i+1).at)
		pulled = pulled.Add(e.q.Rotate(e.q.Conj().Rotate(pull).Cross(off)))
		off = off.Add(e.turned.Sub(e.expected))
		left = left.Sub(e.gained)
	}
	return left.Sub(pulled).Norm()+pullMargin < left.Norm()
}

// delayed looks for the delay under which commanded turns explain the measured ones best, among some numbers of
// exhibits. It returns how many that is, and whether it is beyond doubt that it is another one than is reckoned with.
func (d *detector) delayed(from, to int) (exhibits int, found bool) {
	if d.n < delayWindow+to+1 {
		return 0, false
	}
	now := d.mismatch(0)
	for k := -delayTrim; k < 0 && from > 0; k++ { // an airframe that is quicker than believed
		now = min(now, d.mismatch(k))
	}
	best, least := 0, now
	for k := from; k <= to; k++ {
		if e := d.mismatch(k); e < least {
			best, least = k, e
		}
	}
	floor := delayWindow * 2 * turnNoise * turnNoise
	proof := (now - least) / (2 * turnNoise * turnNoise)
	return best, proof > delayProof && now > delayBetter*max(least, floor)
}

// mismatch is the sum of squares of tilting turns that commands, shifted by so many exhibits and scaled, do not
// explain. A negative shift compares them with turns of before.
func (d *detector) mismatch(shift int) float64 {
	mm, mc, cc := 0.0, 0.0, 0.0
	for i := range delayWindow {
		m, c := &d.at(i+max(-shift, 0)).turned, &d.at(i+max(shift, 0)).expected
		mm += m.X*m.X + m.Y*m.Y
		mc += m.X*c.X + m.Y*c.Y
		cc += c.X*c.X + c.Y*c.Y
	}
	if cc == 0 {
		return mm
	}
	gain := min(max(mc/cc, 0.5), 1.5)
	return mm - 2*gain*mc + gain*gain*cc
}

// drifting reports whether the position began to move at once by a speed that no force gives: a kink of the path,
// beside what thrust and a steady wind make of it.
func (d *detector) drifting() (since float64, found bool) {
	k := d.kink()
	slack := max(kinkSlack, kinkDeviations*d.noise.position())
	return d.at(kinkHalf).at, k.speed > slack+kinkShare*k.force+kinkLag*k.late+kinkGain*k.strong
}

// kink is what changed half a window ago: the speed, m/s, and a steady force, m/s². The other two say what the model
// would make of itself there: a speed for each second by which it lags, m/s², and for a gain, m/s.
type kink struct{ speed, force, late, strong float64 }

// kink is zero where spacing is uneven beyond bounds, or exhibits are missing. Residuals are counted from the chord of
// the window: uneven spacing then weighs what the model misses, not the way itself.
func (d *detector) kink() (k kink) {
	const n = 2*kinkHalf + 1
	if d.n < n+turnWait {
		return k
	}
	first := d.at(n - 1)
	total := d.at(0).at - first.at
	even := total / (n - 1)
	var p, v so3.Vec3
	var path, slope [n]so3.Vec3 // of the model from rest, from the oldest
	for i := 1; i < n; i++ {
		e := d.at(n - 1 - i)
		dt := e.at - d.at(n-i).at
		if math.Abs(dt-even) > evenSpacing {
			return k
		}
		p = p.Add(v.Scale(dt)).Add(e.gained.Scale(dt / 2))
		v = v.Add(e.gained)
		path[i], slope[i] = p, v
	}
	chord := d.at(0).p.Sub(first.p).Sub(p).Scale(1 / total)
	bow, climb := p.Scale(1/total), v.Scale(1/total) // chords of the model itself
	var speed, force, late, strong so3.Vec3
	for i := range n {
		e, w := d.at(n-1-i), kinkFilter[i]/even
		t := e.at - first.at
		off := e.p.Sub(first.p).Sub(path[i]).Sub(chord.Scale(t))
		speed, force = speed.Add(off.Scale(w)), force.Add(off.Scale(bendFilter[i]/(even*even)))
		late = late.Add(slope[i].Sub(climb.Scale(t)).Scale(w))
		strong = strong.Add(path[i].Sub(bow.Scale(t)).Scale(w))
	}
	return kink{speed.Norm(), force.Norm(), late.Norm(), strong.Norm()}
}

// kinkFilter and bendFilter estimate, from evenly spaced positions, by how much slope and curvature change at the
// middle one, in units of distance over spacing and over its square, by least squares beside 1, t and t²: a wind that
// is steady does not count.
var kinkFilter, bendFilter = func() (kink, bend [2*kinkHalf + 1]float64) {
	abs := func(t float64) float64 { return math.Abs(t) / 2 }
	one := func(float64) float64 { return 1 }
	square := func(t float64) float64 { return t * t }
	line := func(t float64) float64 { return t }
	cube := func(t float64) float64 { return t * math.Abs(t) / 4 }
	return residualFilter(abs, one, square), residualFilter(cube, line, line)
}()

// residualFilter returns the weights that estimate the factor of f beside a and b on the integers around 0. The
// functions are all even or all odd.
func residualFilter(f, a, b func(float64) float64) (c [2*kinkHalf + 1]float64) {
	dot := func(f, g func(float64) float64) (sum float64) {
		for i := range c {
			sum += f(float64(i-kinkHalf)) * g(float64(i-kinkHalf))
		}
		return sum
	}
	x, y := dot(f, a)/dot(a, a), 0.0
	if det := dot(a, a)*dot(b, b) - dot(a, b)*dot(a, b); det > 0 {
		x, y = (dot(f, a)*dot(b, b)-dot(f, b)*dot(a, b))/det, (dot(f, b)*dot(a, a)-dot(f, a)*dot(a, b))/det
	}
	norm := 0.0
	for i := range c {
		t := float64(i - kinkHalf)
		c[i] = f(t) - x*a(t) - y*b(t)
		norm += c[i] * f(t)
	}
	for i := range c {
		c[i] /= norm
	}
	return c
}
