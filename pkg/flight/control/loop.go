package control

import (
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/estimator"
	"vnd/pkg/flight/guard"
	"vnd/pkg/flight/policy"
)

// Loop is the control loop of one robot, for one goroutine. Sense, Hear, Tick and Record allocate nothing.
type Loop struct {
	config    Config
	estimator *estimator.Estimator
	guard     *guard.Guard
	runner    *policy.Runner
	actuator  actuator
	policy    *LoadedPolicy
	task      *TaskReference

	origin      int64 // ns; times below count from here
	originKnown bool
	state       quad.State // newest whole one
	stamp       int64      // of state, ns
	ready       bool       // there was one
	before      int        // samples in a row from before it
	ticked      int64      // time of the last tick, ns; 0 before the first
	clock       stampClock
	track       track
	usualAge    float64  // of states at ticks, s; 0 before the first
	validity    Validity // about the newest sample

	latent      Latent        // heard last; Mean is latent's own
	latentUsed  []float32     // z that the policy had in the last tick; nil: the prior mean
	notOffboard bool          // commands are not followed
	lands       bool          // the autopilot lands by itself
	previous    *LoadedPolicy // before the one that flies; nil: none, or it was rolled back to
	rolledBack  bool
	swapped     int64 // time of the tick at which it left, ns
	here        quad.Reference
	lag         so3.Vec3                     // by which the policy usually stays behind its reference, m
	fromHere    func(float64) quad.Reference // here

	seq             uint64
	commanded, sent quad.Command // of the last tick
	lastStamp       int64        // stamp of the state of the last tick, ns
	tripped         bool         // the policy did not fly in the last tick
}

// longest latent that is taken, as the sizes of models are bounded.
const maxLatent = 64

// New refuses a configuration out of range; the error names the parameter at fault.
func New(c Config) (*Loop, error) {
	if c.MeasuresVelocity() { // whose topic it is matters to nobody below
		c.Source = FromOdometry
	} else {
		c.Source = FromPose
	}
	e, err := estimator.New(c.Estimate)
	if err != nil {
		return nil, err
	}
	g, err := guard.New(c.Guard, c.Limits)
	if err != nil {
		return nil, err
	}
	l := &Loop{config: c, estimator: e, guard: g}
	l.fromHere = func(float64) quad.Reference { return l.here }
	l.latent.Mean = make([]float32, 0, maxLatent)
	l.actuator.hover()
	return l, nil
}

// SetPolicy runs a policy from the next tick on. Past commands are kept where the policy before was of the same
// kind. After the first it allocates nothing.
func (l *Loop) SetPolicy(c *LoadedPolicy) {
	if l.runner != nil {
		l.runner.Swap(c.buffers, c.dt)
	} else {
		l.runner = policy.NewRunner(c.policy, c.dt, l.reference)
	}
	l.actuator.setModel(c.actuator, c.dt, 1/l.config.Rate)
	if l.policy != c {
		l.previous, l.swapped = l.policy, l.ticked
	}
	l.policy = c
}

// SetReference takes up a task reference at the next tick. In flight a blend leads over from the one before.
func (l *Loop) SetReference(c *TaskReference) {
	if before := l.task; before != nil && before != c && !math.IsNaN(before.start) && !l.notOffboard && !l.tripped {
		c.blend = blend{from: before.at, since: math.NaN()}
	}
	l.task = c
}

// Reset returns control authority to the policy.
func (l *Loop) Reset() error { return l.guard.Reset() }

// beginHere has the policy, while the guard holds control authority, be asked to stay where the robot is: what it is
// given back, by a reset or by the guard itself, begins there. A policy has no integral: in a wind it stays a little
// behind its reference, which is what tilts it.
func (l *Loop) beginHere() {
	if l.task.Blended {
		return
	}
	l.here = quad.Reference{P: l.state.P.Add(l.lag), Yaw: l.state.Q.Yaw()}
	if !math.IsNaN(l.task.start) {
		l.task.halt(l.here.P, seconds(l.stamp, l.origin))
	}
	l.task.blend = blend{from: l.fromHere, since: math.NaN()}
}

func (l *Loop) reference(t float64) quad.Reference { return l.task.at(t) }

// AddSample takes a sample and reports whether the state is now that of its stamp. An invalid sample is dropped.
func (l *Loop) AddSample(m *Sample) bool {
	l.SetOrigin(m.Stamp)
	shifted := *m
	shifted.Stamp = l.clock.correct(m.Stamp, l.ticked)
	m = &shifted
	if l.validity = l.config.validity(m, l.seq > 0); l.validity != Valid {
		return false
	}
	if l.early(m.Stamp) {
		l.validity = Early
		return false
	}
	s := m.State
	if l.config.Source == FromOdometry {
		if l.late(m.Stamp) {
			return false
		}
	} else {
		switch l.track.add(&s, m.Stamp) {
		case leftOut:
			l.validity = OffTrack
			return false
		case jumped:
			l.estimator.Restart()
		}
		var outcome estimator.Outcome
		s, outcome = l.estimator.Add(estimator.Pose{T: seconds(m.Stamp, l.origin), P: s.P, Q: s.Q})
		if outcome != estimator.Ready {
			return false
		}
	}
	l.state, l.stamp, l.ready = s, m.Stamp, true
	return true
}

// late reports whether a sample is of the past, but not of a clock that was set back: that shows in many in a row.
func (l *Loop) late(stamp int64) bool {
	const second, run = 1e9, 5
	if !l.ready || stamp > l.stamp {
		l.before = 0
		return false
	}
	l.before++
	return l.stamp-stamp < second && l.before < run
}

// early reports whether a sample is from the future.
func (l *Loop) early(stamp int64) bool {
	return l.ticked != 0 && stamp-l.ticked > maxEarly
}

// SetOrigin has a loop without samples count its times from the second of an instant, ns: that of the first sample,
// where the sample itself is not at hand.
func (l *Loop) SetOrigin(ns int64) {
	if !l.originKnown {
		const second = 1e9
		l.origin, l.originKnown = ns-ns%second, true
	}
}

// SetEngaged says whether the autopilot follows commands (offboard) from the next tick on. While it does not, the task
// reference waits at its beginning, the policy runs under the prior mean, and nothing trips the guard. A robot that is
// not ready for handover gets the guard's command: it may be followed before the autopilot reports so. The guard keeps
// control authority if commands are followed from such a place on.
func (l *Loop) SetEngaged(engaged bool) { l.notOffboard = !engaged }

// SetAutopilotLands says whether the autopilot lands by itself, without a position from here, where commands stop.
func (l *Loop) SetAutopilotLands(lands bool) { l.lands = lands }

// SetLatent takes an encoder's latent. Tick decides whether it is usable.
func (l *Loop) SetLatent(z *Latent) {
	if len(z.Mean) > maxLatent {
		return
	}
	mean := append(l.latent.Mean[:0], z.Mean...)
	l.latent = *z
	l.latent.Mean = mean
}

// Tick returns the command that goes out at now (ns); false before there is a state, a policy and a task reference.
func (l *Loop) Tick(now int64) (quad.Command, bool) {
	if !l.ready || l.policy == nil || l.task == nil {
		return quad.Command{}, false
	}
	t := seconds(l.stamp, l.origin)
	l.ticked = now
	l.clock.tick()
	if l.seq > 0 && !l.notOffboard && l.guard.Stage().HoldsAuthority() {
		l.beginHere()
	}
	l.continuity(t)
	l.latentUsed = l.usableLatent(now)
	l.runner.SetLatent(l.latentUsed)
	l.commanded = l.ask(t, seconds(now, l.origin))
	in := guard.Input{Now: seconds(now, l.origin), Stamp: t, State: l.state, Command: l.commanded,
		NotOffboard: l.notOffboard, AutopilotLands: l.lands, TwoSources: l.track.mixed.found(l.stamp)}
	if l.notOffboard || l.guard.Stage() == guard.NotOffboard { // or it was, in the last tick
		r := l.task.at(t)
		in.NotReady = !l.config.ReadyForHandover(&l.state, &r)
	}
	l.sent = l.guard.Tick(&in)
	if before := l.tripped; !before && l.guard.Stage().HoldsAuthority() {
		l.rollBack(now)
	}
	if l.tripped = !l.guard.Stage().PolicyFlies(); !l.tripped {
		l.learnLag(t)
	}
	l.lastStamp = l.stamp
	l.seq++
	return l.sent, true
}

// learnLag follows where the policy stays behind its reference, as fast as that.
func (l *Loop) learnLag(t float64) {
	r := l.task.at(t)
	if r.V.Sub(l.state.V).Norm() > maxLagSpeed {
		return
	}
	behind := r.P.Sub(l.state.P)
	if n := behind.Norm(); n > maxLag {
		behind = behind.Scale(maxLag / n)
	}
	l.lag = l.lag.Add(behind.Sub(l.lag).Scale(1 / (lagMemory * l.config.Rate)))
}

const (
	lagMemory   = 2.0 // time constant, s
	maxLag      = 0.3 // m
	maxLagSpeed = 0.3 // m/s
)

// Excess is the age of a state beyond the usual one, s, from which on the policy gets a predicted one; forgetting is
// how slowly the usual one follows.
const (
	excess     = 0.012
	forgetting = 0.005
)

// ask returns what the policy asks for at the state of t. What its latency usually is, the policy was trained with; a
// state that is older is first carried on by what was commanded.
func (l *Loop) ask(t, now float64) quad.Command {
	age := now - t
	if l.usualAge == 0 || l.notOffboard {
		l.usualAge = age
	}
	late := age - l.usualAge
	if !(late > excess && late < l.config.Guard.MaxAge) {
		l.usualAge += forgetting * late
		return l.runner.Command(t, &l.state)
	}
	ahead := l.guard.Ahead(&l.state, t, t+late)
	return l.runner.Command(t+late, &ahead)
}

// trialTime is how long after a swap a trip is the new bundle's fault, s.
const trialTime = 60.0

// rollBack flies the bundle of before again, from a trip soon after a swap on.
func (l *Loop) rollBack(now int64) {
	if l.previous == nil || seconds(now, l.swapped) > trialTime || !l.guard.Tripped().OfPolicy() {
		return
	}
	l.SetPolicy(l.previous)
	l.previous, l.rolledBack = nil, true
}

// RolledBack reports, once, that the bundle of before flies again.
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
	if gap := seconds(l.stamp, l.lastStamp); gap < 0 || gap > rows*l.policy.dt || l.tripped {
		l.runner.Reset()
	}
}

// A latent is near N(0, I): one further out is cut, and one that no encoder makes is none.
const (
	maxUsedLatent = 2.5
	absurdLatent  = 20
)

// usableLatent is the latent for a tick at now: nil, the prior mean, where what was heard is of another bundle, of
// another size, stale or from the future, or no number.
func (l *Loop) usableLatent(now int64) []float32 {
	if l.notOffboard { // of commands that were not flown
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
		z.Mean[i] = min(max(x, -maxUsedLatent), maxUsedLatent)
	}
	return z.Mean
}

// Guard is the loop's guard: what it did, and what it is to do. It belongs to the loop's goroutine.
func (l *Loop) Guard() *guard.Guard { return l.guard }

// Policy and TaskReference are what flies now; nil before the first.
func (l *Loop) Policy() *LoadedPolicy         { return l.policy }
func (l *Loop) TaskReference() *TaskReference { return l.task }

// OverrideLastCommand has c taken for what the policy asked for in the last tick: by who knows what was flown.
func (l *Loop) OverrideLastCommand(c quad.Command) { l.runner.OverrideLastCommand(c) }

// Inputs are those of the policy's network in the last tick, normalised; they are valid until the next tick.
func (l *Loop) Inputs() []float32 { return l.runner.Inputs() }

// Counts of the estimator.
func (l *Loop) Counts() estimator.Counts { return l.estimator.Counts() }

// Validity is that of the sample that AddSample took last.
func (l *Loop) Validity() Validity { return l.validity }

// Stamp is that of the state of the last tick, ns.
func (l *Loop) Stamp() int64 { return l.lastStamp }
