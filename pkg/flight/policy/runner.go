package policy

import (
	"math"
	"slices"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/nn/nets"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/robot/rotors"
)

// Runner flies a policy along a reference: a quad.Controller for one goroutine,
// which allocates nothing per tick.
type Runner struct {
	*Buffers
	dt        float64 // s between two past actions
	reference func(t float64) quad.Reference

	actionSum [nA]float64 // of the commands since the youngest was entered
	actions   int
	nextPast  float64 // when the next is entered; NaN before the first tick

	learned   correction                    // of the reference, from position errors
	fading    correction                    // what is left of those of policies before
	moved     correction                    // both
	held      bool                          // learned stays as it is
	push      so3.Vec3                      // newest one, m/s² in the world
	recent    recent                        // of which it is
	swing     swing                         // what of it the policy does not see
	arrival   arrival                       // whether the robot holds a place
	hiding    hiding                        // whether it should see what moves
	at        func(float64) *quad.Reference // of ahead, around the robot and moved
	relative  quad.Reference                // what it returned last
	t         float64
	now       quad.State
	s         [rotors.Measured]float32
	frameTime float64 // when the newest frame was taken
	shownAt   float64 // when the newest one was that shows points enough
	heading   [2]float32
	fresh     bool // a frame waits for the attitude of a tick
	u         [nA]float32
	transfer  transfer
	trim      trim // of rotors
}

// Buffers are a policy with all that a Runner needs to fly it, made beforehand. They are
// one runner's at a time.
type Buffers struct {
	policy *Policy[float32]
	z      []float32 // [Z] that the network sees
	newest []float32 // [Z] that was set last
	mean   latents   // of which z is the mean
	past   []float32 // [K][A], eldest first
	ref    []float32
	ahead  []quad.Reference // at the look-aheads, as the task has it
	seen   []float32        // [N][3] relative features of the newest frame; nil where the policy sees positions
	hidden []float32        // [N][3] of no frame
	servo  *servo           // of a policy that is given no state; nil: it is
	x      []float32
	tape   *nets.PolicyTape[float32]
	sensor *sensor // nil: neither pushes nor lags are measured
}

// NewBuffers makes a policy ready.
func NewBuffers(p *Policy[float32]) *Buffers {
	s := &Buffers{policy: p, tape: p.Net.NewTape(1, 1), z: make([]float32, p.Latent),
		newest: make([]float32, p.Latent), mean: latents{off: make([]float32, p.Latent)},
		past: make([]float32, p.Observation.PastActions*nA), ref: make([]float32, p.Observation.RefSize()),
		x: make([]float32, p.Net.Inputs), ahead: make([]quad.Reference, p.Observation.PreviewPoints)}
	if n := p.Observation.Camera.Size(); n > 0 {
		s.seen, s.hidden = make([]float32, n), make([]float32, p.Observation.Shown())
		if p.Observation.Camera.StateFree {
			s.servo = new(servo)
		}
	}
	return s
}

// NewRunner makes a runner of a policy trained at steps of dt seconds.
func NewRunner(p *Policy[float32], dt float64, reference func(t float64) quad.Reference) *Runner {
	return NewRunnerOf(NewBuffers(p), dt, reference)
}

// NewRunnerOf is NewRunner for a policy made ready.
func NewRunnerOf(b *Buffers, dt float64, reference func(t float64) quad.Reference) *Runner {
	f := &Runner{Buffers: b, dt: dt, reference: reference}
	f.at = func(t float64) *quad.Reference {
		f.relative = f.ahead[f.policy.Observation.nearest(t)]
		f.relative.P = f.relative.P.Sub(f.now.P).Add(f.moved.at(&f.relative)) // float32 is fine near 0
		return &f.relative
	}
	f.SetLatent(nil)
	f.Reset()
	return f
}

// Policy is what flies.
func (f *Runner) Policy() *Policy[float32] { return f.policy }

// SetPolicy flies another policy from the next tick on. Past actions and the latent
// are kept where they fit.
func (f *Runner) SetPolicy(p *Policy[float32]) { f.Swap(NewBuffers(p), f.dt) }

// Swap is SetPolicy for a policy made ready, trained at steps of dt seconds: it allocates nothing. The correction
// begins anew, for what one policy lacks in a wind another has, and the old one fades.
func (f *Runner) Swap(s *Buffers, dt float64) {
	before := f.Buffers
	f.goOn(s.policy)
	f.Buffers = s
	switch {
	case s.sensor == nil: // nothing of it is put on trial, nor hidden
		f.hiding.share = 0
	case before.sensor != nil:
		s.sensor.follow(before.sensor)
	default: // it may have flown before
		s.sensor.reset()
		s.sensor.lag = lag{}
	}
	f.fading.add(&f.learned)
	f.learned = correction{}
	f.hiding = hiding{share: f.hiding.share} // errors of two policies tell nothing of answers
	if s.mean.begin(); len(s.z) == len(before.z) {
		copy(s.z, before.z)
	} else {
		clear(s.z)
	}
	if s.policy.Observation.Camera.same(&before.policy.Observation.Camera) {
		copy(s.seen, before.seen)
		s.servo, before.servo = before.servo, s.servo
	} else {
		clear(s.seen)
		f.ResetFrames()
	}
	if before.policy.Limits != s.policy.Limits || len(before.past) != len(s.past) || f.dt != dt {
		f.dt = dt
		f.resetPast()
		return
	}
	copy(s.past, before.past)
}

// SetLatent sets z[Z] for the ticks that follow, or the mean of it and those before, see LatentMean; nil or a latent of
// another size is the prior mean, 0.
func (f *Runner) SetLatent(z []float32) {
	if len(z) != len(f.z) {
		if f.mean.rows > 0 { // what the prior mean asks for may be far from what the latent did
			f.goOn(f.policy)
		}
		clear(f.z)
		f.mean.begin()
		return
	}
	if f.mean.rows > 0 && slices.Equal(z, f.newest) { // a tick between two rows
		return
	}
	copy(f.newest, z)
	f.policy.LatentMean.add(f.z, &f.mean, z, f.Hidden())
}

// Hidden is how much of what moves of push and latent the policy does not see, from 0 to 1.
func (f *Runner) Hidden() float64 {
	k, speed := &f.policy.Push, f.ahead[0].V.Norm()
	if k.Swing == 0 {
		return 0
	}
	return max(f.swing.hidden(k, speed), f.hiding.share*min(1, speed/pathSpeed))
}

// AddFrame takes the features of a frame of time t, one for each point of the policy's
// camera and in their order. A frame of another size, older than the newest, or
// for a policy that sees positions is not taken.
func (f *Runner) AddFrame(t float64, features []Feature) {
	if f.seen == nil || perFeature*len(features) != len(f.seen) || !(t >= f.frameTime) {
		return
	}
	f.frameTime = t
	visible := 0
	for i, p := range features {
		y := f.seen[perFeature*i:][:perFeature]
		y[0], y[1], y[2] = 0, 0, 0
		if p.Visible && math.Abs(p.X) < farthest && math.Abs(p.Y) < farthest {
			y[0], y[1], y[2] = float32(p.X), float32(p.Y), 1
			visible++
		}
	}
	if f.fresh = f.servo != nil; f.fresh {
		return
	}
	if f.policy.Pinhole.Relative(f.seen); visible >= fewest {
		f.shownAt = t
	}
}

// FrameAge is how old the newest frame is at t that tells where the robot is, s: 0 of a policy that sees positions,
// +Inf before the first.
func (f *Runner) FrameAge(t float64) float64 {
	if f.seen == nil {
		return 0
	}
	return t - f.shownAt
}

// see makes the image error of a new frame, by the attitudes of the ticks around it.
func (f *Runner) see(t float64, q so3.Quat, yaw float64) {
	if f.servo == nil {
		return
	}
	f.servo.tick(t, q)
	if !f.fresh {
		return
	}
	f.fresh = false
	var e [ErrorSize]float32
	sin, cos := math.Sincos(yaw)
	f.heading = [2]float32{float32(cos), float32(sin)}
	q, _ = f.servo.attitude(f.frameTime)
	f.policy.Pinhole.turn(q, yaw, f.seen)
	f.policy.Pinhole.Relative(f.seen)
	if f.policy.Pinhole.Offset(f.seen, f.heading[:], e[:]); e[axes] != 0 {
		f.shownAt = f.frameTime
	}
	f.servo.add(f.frameTime, e)
}

// ResetFrames forgets all frames: those of a clock that was set back are none of the future.
func (f *Runner) ResetFrames() {
	f.frameTime, f.shownAt = math.Inf(-1), math.Inf(-1)
	if f.fresh = false; f.servo != nil {
		f.servo.reset()
	}
}

// farthest is how far from its middle a frame may show a feature, in focal lengths.
const farthest = 1e3

// features is what the policy sees of the newest frame at a time.
func (f *Runner) features(t float64) []float32 {
	stale := f.seen != nil && t-f.frameTime > f.policy.Observation.Camera.Stale
	switch {
	case f.servo != nil && !stale:
		f.servo.look(f.dt)
		f.servo.move(f.moved.steady)
		return f.servo.shown[:]
	case stale:
		return f.hidden
	}
	return f.seen
}

// Reset implements quad.Controller: the robot is taken to have hovered, without a wind.
func (f *Runner) Reset() {
	f.ResetActions()
	f.ResetCorrection()
	f.ResetFrames()
}

// ResetActions takes the robot to have hovered, without a wind.
func (f *Runner) ResetActions() {
	f.resetPast()
	f.push, f.recent, f.swing, f.transfer = so3.Vec3{}, recent{}, swing{}, transfer{}
	f.arrival = arrival{}
	if f.sensor != nil {
		f.sensor.reset()
	}
}

func (f *Runner) resetPast() {
	u := f.policy.Hover()
	for k := 0; k < len(f.past); k += nA {
		copy(f.past[k:], u[:])
	}
	f.actionSum, f.actions, f.nextPast = [nA]float64{}, 0, math.NaN()
}

// ResetCorrection has the corrections from position errors begin anew.
func (f *Runner) ResetCorrection() {
	f.learned, f.fading, f.trim, f.hiding = correction{}, correction{}, trim{at: math.NaN()}, hiding{}
	if f.sensor != nil {
		f.sensor.lag = lag{}
	}
}

// HoldCorrection keeps the corrections from position errors as they are while somebody else flies.
func (f *Runner) HoldCorrection(hold bool) { f.held = hold }

// lookAhead takes the reference at the look-aheads from t on. Accelerations are those of its velocities, from one
// look-ahead to the next: a flight comes out again from a record of places and velocities.
func (f *Runner) lookAhead(t float64) {
	o := &f.policy.Observation
	for k := range f.ahead {
		f.ahead[k] = f.reference(t + o.Look(k))
		f.ahead[k].A = so3.Vec3{}
	}
	for k := range f.ahead {
		i := min(k, len(f.ahead)-2)
		if dt := o.Look(1); i >= 0 && dt > 0 {
			f.ahead[k].A = f.ahead[i+1].V.Sub(f.ahead[i].V).Scale(1 / dt)
		}
	}
}

// fade is the time in which what was of a policy before is forgotten, s.
const fade = 0.5

// correct moves the reference by what the position error was since the last tick.
func (f *Runner) correct(t float64, s *quad.State) {
	dt := t - f.t
	if dt > 0 {
		f.fading.scale(math.Exp(-min(dt, longestTick) / fade))
	}
	r := &f.ahead[0]
	switch {
	case f.held:
	case f.seen == nil:
		if f.sensor != nil { // of a policy that answers
			f.hiding.step(r.P.Sub(s.P), r.V.Norm(), dt)
		}
		f.policy.Steady.step(&f.learned, r, r.P.Sub(s.P), dt)
	case f.servo != nil && t-f.frameTime <= f.policy.Observation.Camera.Stale:
		if off, ok := f.servo.off(); ok {
			f.policy.Steady.step(&f.learned, r, off.Scale(-1), dt)
		}
	}
	f.moved = f.learned
	f.moved.add(&f.fading)
}

// Command implements quad.Controller.
func (f *Runner) Command(t float64, s *quad.State) quad.Command {
	f.act(t, &rotors.State{State: *s})
	return f.policy.Command(f.u)
}

// act makes the action u of a tick.
func (f *Runner) act(t float64, s *rotors.State) {
	if f.addPastAction(t) {
		f.measure(t, &s.State)
	}
	f.lookAhead(t)
	f.see(t, s.Q, f.ahead[0].Yaw)
	f.correct(t, &s.State)
	dt := t - f.t
	f.t, f.now = t, s.State
	here := *s
	here.P = here.P.Sub(s.P)
	here.Put(f.s[:])
	p := f.policy
	PutReference(&p.Observation, f.at, f.ref)
	view := p.Observation.View(len(f.s), len(f.x))
	quadrotor.Observe(&view, 1, f.s[:], f.ref, f.features(t), f.past, f.x)
	PutRates(&p.Observation, f.s[:], f.x, len(f.s), len(f.x))
	PutPush(&p.Observation, f.swing.of(&p.Push, f.push, f.Hidden()), f.x)
	PutLag(&p.Observation, f.lag(), f.x)
	Blank(&p.Observation, f.x)
	copy(f.x[p.Observation.Size():], f.z)
	p.Norm.Apply(f.x)
	p.Net.Forward(f.tape, 0, 1, f.x, f.u[:])
	f.transfer.apply(p, &f.u, dt)
	for j, u := range f.u {
		f.actionSum[j] += float64(u)
	}
	f.actions++
}

// OverrideLastCommand has c taken for what the last tick commanded: by who knows what was flown.
func (f *Runner) OverrideLastCommand(c quad.Command) {
	middle, half := f.policy.Middle, f.policy.Half
	for j, x := range [nA]float64{c.Thrust, c.Rates.X, c.Rates.Y, c.Rates.Z} {
		u := float32((x - float64(middle[j])) / float64(half[j])) // to the bit, as Command makes it
		f.actionSum[j] += float64(u) - float64(f.u[j])
		f.u[j] = u
	}
}

// Inputs are those of the network in the last tick, normalised: the observation, then the latent. They are valid until
// the next tick.
func (f *Runner) Inputs() []float32 { return f.x }

// addPastAction puts the mean action of each Δt that has passed into the past: a policy
// that ticks faster than it was trained sees what it saw in training. It reports whether one was put there.
func (f *Runner) addPastAction(t float64) bool {
	if math.IsNaN(f.nextPast) {
		f.nextPast = t + f.dt
		return false
	}
	tick := t - f.t // since the last one
	if t < f.nextPast-tick/2 || f.actions == 0 {
		return false
	}
	copy(f.past, f.past[nA:])
	last := f.past[len(f.past)-nA:]
	for j := range last {
		last[j] = float32(f.actionSum[j] / float64(f.actions))
	}
	f.actionSum, f.actions = [nA]float64{}, 0
	f.nextPast = max(f.nextPast+f.dt, t+tick/2) // ticks that were missed are not made up for
	return true
}
