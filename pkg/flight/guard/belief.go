package guard

import (
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// belief is where the robot is: as measured, or carried on from there by the commands sent. It finds states that cannot
// be, and bridges the time without any.
type belief struct {
	jump, jumpAngle, settle, ground float64

	plant plant
	motion
	past  history
	wind  so3.Vec3 // lasting acceleration beyond thrust and gravity, m/s²
	stamp float64  // of the last state given, believed or not, s; −Inf before the first
	known bool     // a state was believed once

	attitudeLeapt bool    // the attitude of the next state has leapt
	rejected      bool    // the last state was not believed
	candidate     motion  // of that state
	agreedFor     float64 // time for which such states agreed among themselves, s
	paused        bool    // the candidate is the belief itself, should the clock have leapt and no time have passed
	elsewhere     bool    // they were believed in the end: the frame is not what it was, or it has moved on unseen
	stalled       bool    // the clock leapt on, and no state since then was seen
	unsure        float64 // stamp up to which it is not known what still acts, s
	struck        bool    // the floor stopped it hard
	raised        float64 // m by which the frame was moved up since the robot flies, as jumps that were believed show
	unproven      bool    // the first state after a stall stands on the ground, and nothing else says so yet
}

// WindMemory is the time constant of the wind's observer, s.
const WindMemory = 1.5

const (
	surprise       = 0.2  // m/s by which the model errs where it is not trusted
	velocityMemory = 0.08 // that of the velocity, in which the model smooths what is measured, s
	maxReckoning   = 0.4  // longest time over which dead reckoning is held against a measurement, s
	afterStall     = 0.3  // time for which what an autopilot did meanwhile may act, s
	astray         = 4.0  // m/s by which it may fly beside what is expected then
	hardTouchdown  = 1.5  // m/s, after which a robot that hit the floor is landed
	quickSettle    = 0.1  // s after which states that agree are believed, not one that has the robot stand
)

// What a prediction may err by beyond the jump, which is for the noise: growth with the time since the last state.
const (
	velocityUncertainty     = 0.3 // m/s
	accelerationUncertainty = 4.0 // m/s²
	turnUncertainty         = 1.5 // rad/s
	velocityJump            = 0.6 // m/s
	againAngle              = 0.7 // of the attitude's jump, for a state after one that was not believed
)

func newBelief(c *Config) belief {
	return belief{jump: c.Jump, jumpAngle: c.JumpAngle, settle: c.Settle, ground: c.Ground, stamp: math.Inf(-1),
		unsure: math.Inf(-1), plant: plant{response: c.Response}, motion: motion{acting: hoverCommand}}
}

// update tests a valid state of a new stamp, and reports whether it is believed. Its velocity lags where it was made of
// positions; another one, made of them and of the commands, does not. A state that is low where the robot should fly
// is not believed by settling: it may be of another body, and motors would stop in the air. Where the robot should be
// below the ground, it has met that; where the source drifts in a landing, upwards by up, the floor may stop it at any
// height.
func (b *belief) update(s *quad.State, velocity so3.Vec3, stamp float64, low, anywhere bool, up float64) bool {
	elapsed := min(stamp-b.stamp, maxReckoning)
	b.stamp = stamp
	if !b.known {
		b.accept(s, stamp, hoverCommand)
		return true
	}
	expected := b.motion
	dt := min(max(stamp-b.at, 0), maxReckoning)
	b.plant.advance(&expected, b.at+dt, b.wind)
	if low && expected.state.P.Z < b.ground { // the floor stopped it, and nobody knows how
		b.struck = b.struck || expected.state.V.Z < -hardTouchdown
		expected.state.P.Z, expected.state.V = s.P.Z, s.V
	}
	agrees := b.agrees(s, &expected.state, dt)
	if !agrees && anywhere && touched(s, &expected.state, up) {
		expected.state.V.Z, expected.state.Q = s.V.Z, s.Q
		agrees = b.agrees(s, &expected.state, dt)
	}
	if agrees && !b.attitudeLeapt {
		off := s.V.Sub(expected.state.V)
		b.wind = b.wind.Add(off.Scale(dt / (velocityMemory * WindMemory))).Shorten(quad.Gravity)
		observed := *s
		if off.Norm() < surprise {
			beside := velocity.Sub(expected.state.V)
			observed.V = expected.state.V.Add(beside.Scale(share(dt, velocityMemory)))
		}
		b.accept(&observed, stamp, expected.acting)
		return true
	}
	if b.stalled { // the clock was not set: nobody knows what it did meanwhile, or what turns it yet
		b.elsewhere, b.unsure = true, stamp+afterStall
		b.accept(s, stamp, hoverCommand)
		return true
	}
	if acting, found := b.cutOff(s, stamp, elapsed); found && !low && !b.attitudeLeapt {
		b.accept(s, stamp, acting)
		return true
	}
	if stamp < b.unsure && s.P.Sub(expected.state.P).Norm() <= b.jump+astray*elapsed {
		b.accept(s, stamp, expected.acting)
		return true
	}
	b.reconsider(s, stamp, &expected, elapsed, low)
	return !b.rejected
}

// reconsider takes in a state that is not believed. Those that agree among themselves for long enough are, in the end.
func (b *belief) reconsider(s *quad.State, stamp float64, expected *motion, elapsed float64, low bool) {
	b.candidate.at = max(b.candidate.at, stamp-maxReckoning)
	b.plant.advance(&b.candidate, stamp, b.wind)
	if b.rejected && b.agrees(s, &b.candidate.state, elapsed) {
		b.agreedFor += elapsed
	} else {
		b.agreedFor = 0
	}
	if b.agreedFor == 0 {
		b.paused = false
	}
	b.candidate, b.rejected = motion{stamp, *s, expected.acting}, true
	settle := b.settle
	if b.unproven {
		settle = quickSettle
	}
	if b.agreedFor >= settle && !low {
		if !b.paused {
			b.elsewhere, b.raised = true, b.raised+s.P.Z-expected.state.P.Z
		}
		b.accept(s, stamp, expected.acting)
	}
}

// touched reports whether a state is one of a robot that the floor stopped and set upright, where states may rise by
// themselves.
func touched(s, expected *quad.State, up float64) bool {
	return expected.V.Z-max(up, 0) < -maxRestSpeed && s.V.Z > -maxRestSpeed &&
		s.Q.Tilt() < expected.Q.Tilt()+uprightSlack
}

// uprightSlack is how much more tilted it may be than expected, rad.
const uprightSlack = 0.05

// begin believes a state at a stamp, whatever was believed before.
func (b *belief) begin(s *quad.State, stamp float64) {
	b.past.cut(stamp)
	b.stamp = stamp
	b.accept(s, stamp, b.plant.acts(stamp))
}

func (b *belief) accept(s *quad.State, stamp float64, acting quad.Command) {
	b.motion = motion{stamp, *s, acting}
	b.state.Q = s.Q.Normalize()
	b.known, b.rejected, b.paused, b.stalled = true, false, false, false
	b.past.add(&memory{b.motion, b.wind})
}

// agrees reports whether a state measured is one that was expected dt seconds after the last.
func (b *belief) agrees(s, expected *quad.State, dt float64) bool {
	turn, jumpAngle := so3.Log(expected.Q.Conj().Mul(s.Q)).Norm(), b.jumpAngle
	if b.rejected { // not to come back by the model's error
		jumpAngle *= againAngle
	}
	return s.P.Sub(expected.P).Norm() <= b.jump+velocityUncertainty*dt+accelerationUncertainty/2*dt*dt &&
		s.V.Sub(expected.V).Norm() <= velocityJump+accelerationUncertainty*dt && turn <= jumpAngle+turnUncertainty*dt
}

// deadReckon carries the belief on to now under the commands sent.
func (b *belief) deadReckon(now float64) {
	if now-b.at > maxReckoning {
		b.at = now - maxReckoning
	}
	b.plant.advance(&b.motion, now, b.wind)
}

// shift takes all times on to a clock that was set by so many seconds, and reads now. A belief that was reckoned on
// over the step is ahead of the robot by as much, and waits for it.
func (b *belief) shift(by, now float64) {
	b.at, b.stamp, b.rejected, b.paused, b.unsure = b.at+by, math.Inf(-1), false, false, math.Inf(-1)
	b.plant.shift(by, now)
	for i := range b.past.ring {
		b.past.ring[i].at += by
	}
}

// pause has the next state believed also where no time has passed since the last: ticks were missed, or the clock was
// set forward.
func (b *belief) pause(now float64) {
	if b.known && !b.rejected {
		b.candidate, b.rejected, b.paused, b.agreedFor = b.motion, true, true, b.settle
		b.candidate.at = now
	}
}

// present is the belief carried on to now, when a command goes out.
func (b *belief) present(now float64) motion {
	m := b.motion
	if now-m.at > 2*maxReckoning { // a hidden delay may be added to the states' age
		m.at = now - 2*maxReckoning
	}
	b.plant.advance(&m, now, b.wind)
	return m
}

// rewind goes back to the last state believed at or before a time, for what was measured since is not true.
func (b *belief) rewind(to, now float64) {
	m := b.past.before(to)
	if m == nil || now-m.at > historySpan {
		return
	}
	b.motion, b.wind = m.motion, m.wind
	b.past.cut(m.at)
	b.plant.advance(&b.motion, now, b.wind)
}

// memory is a motion and a wind believed once.
type memory struct {
	motion
	wind so3.Vec3
}

// history keeps what was believed, some 20 ms apart.
type history struct {
	ring   [64]memory
	newest int
	n      int
}

const (
	historySpacing = 0.018 // s
	historySpan    = 1.2   // s
)

func (h *history) at(i int) *memory { return &h.ring[(h.newest-i+len(h.ring))%len(h.ring)] }

func (h *history) add(m *memory) {
	if h.n > 0 {
		if since := m.at - h.at(0).at; since >= 0 && since < historySpacing {
			return
		} else if since < 0 {
			h.n = 0
		}
	}
	h.newest = (h.newest + 1) % len(h.ring)
	h.ring[h.newest] = *m
	h.n = min(h.n+1, len(h.ring))
}

func (h *history) before(t float64) *memory {
	for i := range h.n {
		if m := h.at(i); m.at <= t {
			return m
		}
	}
	return nil
}

func (h *history) cut(after float64) {
	for h.n > 0 && h.at(0).at > after {
		h.newest = (h.newest - 1 + len(h.ring)) % len(h.ring)
		h.n--
	}
}

// Bounds of what a state in an arena can hold; beyond, a position is a mistake of units and arithmetic might overflow.
const (
	maxDistance = 1e6 // m
	maxSpeed    = 1e3 // m/s
)

// valid reports whether s is a state at all.
func valid(s *quad.State) bool {
	return s.P.Norm() <= maxDistance && s.V.Norm() <= maxSpeed && math.Abs(s.Q.Norm()-1) <= quad.NormSlack
}
