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
	ring      [window]exhibit
	newest    int
	n         int
	model     motion   // what the commands alone make of the newest sample
	commanded turns    // of the model, those between samples that did not come included
	bias      so3.Vec3 // rad/s by which the robot turns beside commands, as learned
	noise     noise    // of the source, as learned
	misfit    misfit   // of the model, as learned
	timing    timing   // of turns, as learned
	looked    float64  // stamp of the newest sample that drifting looked at, s
	kink      so3.Vec3 // velocity of the newest one that drifting looked at, m/s, world
	gap       float64  // the newest between samples, s
	gapAt     float64  // its end, s
	gapTurns  int      // turns commanded in it
	before    int      // exhibits before it
	seen      float64  // when the newest sample was, exhibit or not, s
	lull      float64  // the longest between two samples of late, s

	same      quad.State // the newest
	step      float64    // to it from the one before, m
	pose      repetition
	height    repetition
	attitude  repetition
	heights   echo
	attitudes echo // about the body's x
}

// exhibit is one sample, with how the robot moved since the one before: as measured, and as commanded.
type exhibit struct {
	at       float64 // s
	p, v     so3.Vec3
	turned   so3.Vec3 // measured rotation vector in the body, rad
	expected so3.Vec3 // of the commands
	gained   so3.Vec3 // velocity that thrust and gravity added, m/s, world
	swung    float64  // half the sum of squares of what commanded body rates changed by, rad²/s²
	q        so3.Quat // as measured
	bias     so3.Vec3 // rad/s, that was expected

	quickened so3.Vec3 // by how much commanded body rates changed, rad/s

	kink   kink    // of the short window up to it, until the misfit has learned from it
	kinked float64 // its share, by drifting
	both   float64 // the same and that of a longer window, half of it before
}

const (
	window      = 64
	spacing     = 0.018 // s, between exhibits
	quick       = 0.015 // s, the same where samples are never more than quickLull apart: of 240 Hz, 16.7 and 20.8 ms
	quickLull   = 0.026 // s
	lullMemory  = 1.0   // s
	maxLull     = 0.06  // s; a longer gap begins the evidence anew
	maxTurnStep = 0.12  // rad, the same of turns beside what was commanded
	maxStep     = 2.5   // m/s from one exhibit to the next beside what the velocities say; more begins it anew
)

// Windows and thresholds. The slack of each is what healthy flights of the simulator with noise, gusts and wind turns
// never reached (benchmarks/safety.md has the rate of false alarms).
const (
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
)

func (d *detector) reset() {
	*d = detector{bias: d.bias, noise: d.noise, misfit: d.misfit, timing: d.timing, pose: d.pose.known(),
		height: d.height.known(), attitude: d.attitude.known(), heights: d.heights.known(),
		attitudes: d.attitudes.known()}
}

// bear takes in that the floor bore the robot until now, whatever was commanded.
func (d *detector) bear() { d.n, d.commanded.n = 0, 0 }

func (d *detector) at(i int) *exhibit { return &d.ring[(d.newest-i+window)%window] }

// add takes a sample in, under the commands sent so far, and reports whether it is an exhibit that follows another.
func (d *detector) add(s *quad.State, stamp float64, p *plant) bool {
	d.compare(s, stamp)
	if d.n == 0 || stamp-d.at(0).at > maxLull || stamp < d.at(0).at {
		d.begin(s, stamp, p)
		return false
	}
	last := d.at(0)
	since := stamp - last.at
	if since < d.spaced(stamp) {
		return false
	}
	// a jump is the belief's to find
	step := s.P.Sub(last.p).Sub(s.V.Add(last.v).Scale(since / 2))
	if step.Norm() > maxStep*since {
		d.begin(s, stamp, p)
		return false
	}
	before, rates, q := d.model.state.Q, d.model.acting.Rates, s.Q.Normalize()
	model := p.commanded(&d.model, stamp)
	d.commanded.add(model.turned)
	turned := so3.Log(before.Conj().Mul(q))
	if turned.Sub(model.turned).Norm() > maxTurnStep {
		d.begin(s, stamp, p)
		return false
	}
	d.noise.add(step, turned.Sub(model.turned), share(since, noiseMemory))
	d.push(exhibit{at: stamp, p: s.P, v: s.V, turned: turned, expected: model.turned, gained: model.gained,
		swung: model.swung, quickened: d.model.acting.Rates.Sub(rates), q: q, bias: p.bias})
	d.model.state = quad.State{P: s.P, V: s.V, Q: q}
	return true
}

// spaced is how far an exhibit has to be from the one before, given the newest sample. Ticks take the newest sample
// each: where the source is quick, exhibits are even only if none of them is passed over for a sample's length.
func (d *detector) spaced(stamp float64) float64 {
	since := max(stamp-d.seen, 0)
	d.seen, d.lull = stamp, max(since, d.lull*math.Exp(-min(since, 1)/lullMemory))
	if d.lull > quickLull {
		return spacing
	}
	return quick
}

func (d *detector) begin(s *quad.State, stamp float64, p *plant) {
	acting := hoverCommand
	if d.n > 0 {
		turns := d.bridge(stamp, p)
		if since := stamp - d.at(0).at; since > maxLull {
			d.gap, d.gapAt, d.gapTurns, d.before = since, stamp, turns, d.n
		}
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
	d.bias = d.bias.Add(beside.Sub(d.bias).Scale(share(dt, biasMemory))).Shorten(maxBias)
	p.bias = so3.Vec3{}
	if n := d.bias.Norm(); n > minBias {
		p.bias = d.bias.Scale(1 - minBias/n)
	}
	d.timing.learn(e.turned.Sub(e.expected), e.quickened, dt)
	p.lead = d.timing.lead()
}

// pulledAsCommanded reports whether the attitude that the commands make, rather than the measured one, explains how
// the velocity changed, beside the wind there was before. Of a robot that turned quickly that wind is not known: rotors
// lift it then.
func (d *detector) pulledAsCommanded() bool {
	calm := min(calmWindow, d.n-1-pullWindow)
	if calm < calmWindow/2 { // the wind is not known yet
		return false
	}
	first, before := d.at(pullWindow), d.at(pullWindow+calm)
	wind, swung := first.v.Sub(before.v), 0.0
	for i := range calm {
		e := d.at(pullWindow + i)
		wind, swung = wind.Sub(e.gained), swung+e.swung
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
	margin := pullMargin + swingLift*swung*(d.at(0).at-first.at)/(first.at-before.at)
	return left.Sub(pulled).Norm()+margin < left.Norm()
}
