package control

import (
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
	"vnd/pkg/flight/motors"
	"vnd/pkg/flight/policy"
)

// Request is what the policy asks for at a tick, of the guard.
type Request struct {
	Seq     uint64         // from 1, one more at each tick
	Stamp   int64          // of the sample that Command answers, as it came, ns
	Command quad.Command   // what the policy asks for
	Motors  motors.Command // that come to Command, of a policy that commands rotors
	Target  so3.Vec3       // where the task has the robot at Stamp, m in the world
	Ended   bool           // the task has the robot rest there from now on, or go with a pad
	Bundle  string         // of the policy
	Task    string

	FrameAge float64 // of the newest frame that shows the policy its landmarks, s; 0: it sees positions
}

// policySide is what asks: policy, task, latent, and the bundle to go back to.
type policySide struct {
	runner     *policy.Runner
	actuator   actuator
	policy     *LoadedPolicy
	task       *TaskReference
	lateness   guard.Lateness
	latent     Latent        // received last; Mean is latent's own
	latentUsed []float32     // z that the policy had in the last tick; nil: the prior mean
	previous   *LoadedPolicy // before the one that flies; nil: none, or it was rolled back to
	rolledBack bool
	swapped    int64      // time of the tick at which previous left, ns
	flown      [16]string // bundles that flew, the newest ones
	swaps      int        // of bundles
	here       quad.Reference
	lag        so3.Vec3                     // by which the policy usually stays behind its reference, m
	fromHere   func(float64) quad.Reference // here
	ahead      func(s *quad.State, from, to float64) quad.State
	predictor  *guard.Predictor // of a guard of another process; nil: it is the loop's own

	seq       uint64
	seen      quad.State   // of the robot, that the policy answers
	seenAt    int64        // time of it, ns
	sawAt     int64        // time of the one before, ns
	byFilter  bool         // seen is the filter's
	commanded quad.Command // of the last tick
	lastStamp int64        // stamp of the state of the last tick, ns
	tripped   bool         // the policy did not fly in the last tick
}

// longest latent that is taken, as the sizes of models are bounded.
const maxLatent = 64

// SetReference takes up a task reference at the next tick. In flight a blend leads over from the one before.
func (l *Loop) SetReference(c *TaskReference) {
	before := l.task
	if before != nil && before != c && !math.IsNaN(before.start) && !l.notOffboard && !l.tripped && !l.byLandmarks() {
		way := before.blend // as it is: that of a reference that comes back would lead over from itself
		from := func(t float64) quad.Reference { return way.at(t, before.unblended(t)) }
		c.blend = blend{from: from, since: math.NaN()}
	}
	l.task = c
}

// startFromHere sets the reference to where the robot is, while the guard holds control authority: so the policy begins
// there when it gets authority back. In a wind it stays behind its reference by what its integral has not taken up yet,
// and that error tilts it. So the reference begins that lag ahead.
func (l *Loop) startFromHere() {
	if l.task.Blended || l.byLandmarks() {
		return
	}
	l.here = quad.Reference{P: l.seen.P.Add(l.lag), Yaw: l.seen.Q.Yaw()}
	if !math.IsNaN(l.task.start) {
		l.task.halt(l.here.P, seconds(l.seenAt, l.origin))
	}
	l.task.blend = blend{from: l.fromHere, since: math.NaN(), over: backTime}
}

// backTime is how long the way from where the guard held back to a path takes at least, s. On a quicker one the policy
// turns the robot by several rad/s, and what took authority from it may come again just then.
const backTime = 2.0

// byLandmarks reports whether the policy sees landmarks. Where they stand is where its reference is, with its heading:
// nothing leads over to there.
func (l *Loop) byLandmarks() bool { return l.policy != nil && l.policy.Landmarks() > 0 }

// AddFrame takes what a camera saw at a stamp, ns on the clock of the samples' stamps: the policy's landmarks, in their
// order. Before the first sample, or in another number, they are not taken.
func (l *Loop) AddFrame(stamp int64, features []policy.Feature) {
	if l.runner != nil && l.originKnown {
		l.runner.AddFrame(seconds(stamp, l.origin), features)
	}
}

func (l *Loop) reference(t float64) quad.Reference { return l.task.at(t) }

// SetLatent takes an encoder's latent. Tick decides whether it is usable.
func (l *Loop) SetLatent(z *Latent) {
	if len(z.Mean) > maxLatent {
		return
	}
	mean := append(l.latent.Mean[:0], z.Mean...)
	l.latent = *z
	l.latent.Mean = mean
}

// Ask has the policy answer the newest state at now (ns); false before there is a state, a policy and a task
// reference.
func (l *Loop) Ask(now int64, q *Request) bool {
	if !l.ready || l.policy == nil || l.task == nil {
		return false
	}
	l.reads(now)
	l.ticked = now
	l.clock.tick(now)
	l.see(now)
	t := seconds(l.seenAt, l.origin)
	if l.seq > 0 && !l.notOffboard && l.decision.Stage.HoldsAuthority() {
		l.startFromHere()
		if l.filter != nil {
			l.filter.Yield()
		}
	}
	l.continuity(t)
	l.latentUsed = l.usableLatent(now)
	l.runner.SetLatent(l.latentUsed)
	l.commanded = l.ask(t, seconds(now, l.origin))
	l.lastStamp = l.stamp
	l.seq++
	*q = Request{Seq: l.seq, Stamp: l.stamp + l.clock.shift, Command: l.commanded, Target: l.task.at(t).P,
		Ended: l.task.ended(t), Bundle: l.policy.ID, Task: l.task.Task,
		FrameAge: l.runner.FrameAge(seconds(now, l.origin))}
	if l.rotors != nil {
		q.Motors = l.rotors.asked
	}
	return true
}

// Take hands the policy's side the decision on its request. One on an older request, which came late, says nothing of
// the command that the policy takes for its last.
func (l *Loop) Take(d *Decision) {
	l.decision = *d
	if !l.tripped && d.Stage.HoldsAuthority() {
		l.rollBack(l.ticked)
	}
	if l.tripped = !d.Stage.PolicyFlies(); !l.tripped {
		l.learnLag(seconds(l.seenAt, l.origin))
	}
	if d.Stage == guard.Limited && l.rotors == nil && d.Seq == l.seq { // else what was not flown would look like a push
		l.runner.OverrideLastCommand(d.Sent)
	}
}

// learnLag follows where the policy stays behind its reference, as fast as that.
func (l *Loop) learnLag(t float64) {
	r := l.task.at(t)
	if r.V.Sub(l.seen.V).Norm() > maxLagSpeed {
		return
	}
	behind := r.P.Sub(l.seen.P).Shorten(maxLag)
	l.lag = l.lag.Add(behind.Sub(l.lag).Scale(1 / (lagMemory * l.config.Rate)))
}

const (
	lagMemory   = 2.0 // time constant, s
	maxLag      = 0.3 // m
	maxLagSpeed = 0.3 // m/s
)

// see takes what the policy is to know of the robot at now (ns): the newest state as it came, or of now where there is
// a filter. Where poses do not bear that out, the newest state is carried on by what was commanded.
func (l *Loop) see(now int64) {
	l.seen, l.seenAt, l.sawAt, l.byFilter = l.state, l.stamp, l.seenAt, false
	from, to := seconds(l.stamp, l.origin), seconds(now, l.origin)
	if l.filter == nil || !(to-from < l.config.Guard.MaxAge) {
		return
	}
	if l.seen, l.byFilter = l.filter.At(to); !l.byFilter {
		l.seen = l.ahead(&l.state, from, to)
	}
	l.seenAt = now
}

// ask returns what the policy asks for at the state of t. One that is late is first carried on by what was commanded.
// So is the one before a pose that comes again, as long as the guard cannot tell whether its source is frozen: the
// policy would answer a robot that stopped at once.
func (l *Loop) ask(t, now float64) quad.Command {
	if l.notOffboard {
		l.lateness = guard.Lateness{}
	}
	if l.filter != nil {
		return l.answer(t, &l.seen)
	}
	s, from, until := &l.state, t, t
	if moved := seconds(l.movedAt, l.origin); moved < t && t-moved < l.config.Guard.MaxAge {
		s, from = &l.moved, moved
	}
	if late := l.lateness.Of(now - t); late < l.config.Guard.MaxAge {
		until += late
	}
	if from == until {
		return l.answer(t, s)
	}
	ahead := l.ahead(s, from, until)
	return l.answer(until, &ahead)
}

// answer is the policy's command at a state of t.
func (l *Loop) answer(t float64, s *quad.State) quad.Command {
	if l.rotors != nil {
		return l.rotors.answer(l, t, s)
	}
	return l.runner.Command(t, s)
}

// probation is how long after a swap a trip of the guard rolls the new bundle back, s.
const probation = 60.0

// rollBack returns to the previous bundle when the guard trips soon after a swap.
func (l *Loop) rollBack(now int64) {
	if l.previous == nil || seconds(now, l.swapped) > probation || !l.decision.Cause.OfPolicy() {
		return
	}
	l.SetPolicy(l.previous)
	l.previous, l.rolledBack = nil, true
}

// RolledBack reports, once, that the previous bundle flies again.
func (l *Loop) RolledBack() bool {
	was := l.rolledBack
	l.rolledBack = false
	return was
}

// continuity begins a new task reference, and has the policy forget what it commanded where that is not what was flown:
// after a gap, a clock set back or a time under the guard's law.
func (l *Loop) continuity(t float64) {
	if math.IsNaN(l.task.start) || l.notOffboard {
		l.task.start, l.task.resume.over = t, true
	}
	if !l.tripped {
		l.task.goOn(t)
	}
	l.task.blend.begin(t, l.task.unblended)
	const rows = 5 // that may be missed
	gap := seconds(l.seenAt, l.sawAt)
	if gap < 0 || gap > rows*l.policy.dt || l.tripped {
		l.runner.ResetActions()
	}
	if gap < 0 {
		l.runner.ResetFrames()
	}
	l.runner.HoldCorrection(l.tripped)
	if l.notOffboard {
		l.runner.ResetCorrection()
	}
}

// absurdLatent is beyond what any encoder makes: such a latent is none.
const absurdLatent = 20

// usableLatent is the latent for a tick at now. It is nil, for the prior mean, where the one received is of another
// bundle or size, stale, from the future, or not finite.
func (l *Loop) usableLatent(now int64) []float32 {
	if l.notOffboard || l.policy.policy.Observation.Camera.StateFree { // commands were not flown; it is of states
		return nil
	}
	z := &l.latent
	age := seconds(now, z.Stamp)
	if z.Bundle != l.policy.ID || len(z.Mean) != l.policy.Latent() || z.Stamp == 0 ||
		!(math.Abs(age) <= l.config.LatentAge) {
		return nil
	}
	for i, x := range z.Mean {
		if !(x > -absurdLatent && x < absurdLatent) {
			return nil
		}
		z.Mean[i] = min(max(x, l.policy.least[i]), l.policy.most[i])
	}
	return z.Mean
}
