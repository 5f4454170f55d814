package controller

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"vnd/msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/flight/control"
	"vnd/pkg/flight/estimator"
	"vnd/pkg/flight/guard"
	"vnd/pkg/flight/motors"
	"vnd/pkg/node"
	"vnd/pkg/ros2/ros"
)

// sample is a measured state on its way to the tick.
type sample struct {
	control.Sample
	sent ros.Time // by whom it comes from, on the system's clock
}

// Space for what waits: samples of half a second at 360 Hz, ticks of a second at 400 Hz.
const (
	samplesWaiting = 200
	ticksWaiting   = 400
	ordersWaiting  = 16
)

// ticker is the loop with the one thread that ticks it. Everybody else hands things over without making it wait.
type ticker struct {
	loop   *control.Loop // nil before the first activation
	pace   control.Scheduler
	active bool // ticks are made
	clock  *ros.Clock
	sim    func() bool // reports whether the clock follows /clock
	sender sender
	gauges *gauges
	link   autopilot
	rivals *rivals // nil where nobody listens for others
	mocap  bool    // ticks at samples, and by the clock where none come

	guard     *remoteGuard // in another process; nil: it is the loop's own
	requester *requester   // of the policy in another process; nil: it is the loop's own

	samples *control.Ring[sample]
	frames  *control.Ring[frame]
	latent  node.Latest[control.Latent]
	rates   node.Latest[bodyRates]
	orders  chan func(*ticker)
	alarm   atomic.Bool // the clock's timer has come

	rolledBack atomic.Pointer[control.LoadedPolicy] // that flies again since a trip; nil: none, or it was told
	asking     atomic.Bool                          // the autopilot is asked to land
	wake       chan struct{}
	ticks      *control.Ring[control.TickRecord]
	recorded   chan struct{}
	counts     node.Latest[estimator.Counts]
	rejected   node.Latest[rejectedSample]
	newest     atomic.Int64 // stamp of the newest sample, ns; 0 before the first
	at         atomic.Int64 // when it came, ns
	gap        atomic.Int64 // the last one between two ticks that was none of the pace's, ns
	stopped    atomic.Bool  // by ~/emergency: no thrust
	silent     atomic.Bool  // another one commands the vehicle
	sending    atomic.Int64 // since when commands go out without a gap of a second, ns of monotonic; 0: they do not
	sentAt     int64        // when the last one went out, ns of monotonic

	sent      ros.Time           // when the sample of this tick was sent; 0 for a tick by the clock
	before    int64              // when the tick before was, ns; 0: there was none
	clocked   int64              // what the clock showed last, ns
	passed    int64              // when the thread looked last at what had come, ns of monotonic
	decision  control.Decision   // of the last tick, as it went out
	scratch   control.TickRecord // of a tick for which the ring has no space
	setLatent func(*control.Latent)
	setRates  func(*bodyRates)
	count     func(*estimator.Counts)
	refuse    func(*rejectedSample)
	refused   rejectedSample
}

// rejectedSample is a sample that the loop did not take, and why.
type rejectedSample struct {
	control.Sample
	control.Validity
}

func newTicker(p *Params, clock *ros.Clock, s sender, g *gauges) *ticker {
	f := &ticker{clock: clock, sim: clock.Simulated, sender: s, gauges: g, link: noAutopilot{},
		mocap: p.Tick == onMocap, samples: control.NewRing(samplesWaiting, func() sample { return sample{} }),
		frames: control.NewRing(framesWaiting, func() frame { return frame{} }),
		orders: make(chan func(*ticker), ordersWaiting), wake: make(chan struct{}, 1),
		ticks: control.NewRing(ticksWaiting, control.NewTickRecord), recorded: make(chan struct{}, 1),
		scratch: control.NewTickRecord()}
	f.setLatent = func(z *control.Latent) { f.loop.SetLatent(z) }
	f.setRates = func(r *bodyRates) { f.loop.SetRates(r.at, r.rates) }
	f.count = func(c *estimator.Counts) { *c = f.loop.Counts() }
	f.refuse = func(d *rejectedSample) { *d = f.refused }
	return f
}

// run ticks until stop is closed, on an OS thread of its own.
func (f *ticker) run(stop <-chan struct{}) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for {
		select {
		case <-stop:
			return
		case <-f.wake:
			f.catchUp()
			f.runOnce()
		}
	}
}

// Simulated time goes on while a process is stopped. What waited for it then comes one after the other, and would have
// each tick take a piece of the gap for all of it.
const (
	stoppedFor   = 250 * time.Millisecond // at least, between two passes of the thread
	comesIn      = 10 * time.Millisecond
	fastest      = 3 // times as fast as the wall's: what waited still comes
	mostCatching = 500 * time.Millisecond
)

// catchUp waits after a stop until simulated time no longer leaps on, so that the tick sees the whole gap.
func (f *ticker) catchUp() {
	if f.sim() && f.passed != 0 && monotonic()-f.passed > int64(stoppedFor) {
		awaitSteady(f.clock.Now, monotonic, time.Sleep)
	}
	f.passed = monotonic()
}

// awaitSteady waits until a clock goes on at about the wall's pace, but not for ever. A busy machine sleeps for longer.
func awaitSteady(now func() ros.Time, wall func() int64, sleep func(time.Duration)) {
	for begun := wall(); wall()-begun < int64(mostCatching); {
		before, from := now(), wall()
		sleep(comesIn)
		if int64(now()-before) <= fastest*(wall()-from) {
			return
		}
	}
}

// runOnce carries out orders, takes in what has come, and ticks when that is due.
func (f *ticker) runOnce() {
	f.runOrders()
	f.runOnceAt(int64(f.clock.Now()))
}

func (f *ticker) runOnceAt(now int64) {
	alarm := f.alarm.Swap(false)
	now, due := f.takeSamples(now)
	f.takeFrames()
	switch {
	case !f.active:
	case due:
		f.tick(now)
	case f.mocap && f.pace.DueByClock(now), !f.mocap && alarm:
		f.sent = 0
		f.tick(now)
	}
}

// Simulated time: samples may come before the message of /clock. By less than mostAhead they bring the time on; up to
// awaitedAhead they wait for it, unless there is no space; beyond, their stamps are wrong.
const (
	mostAhead    = int64(150 * time.Millisecond)
	awaitedAhead = int64(300 * time.Millisecond)
)

// takeSamples hands the loop what has come, and reports whether that makes a tick due, and the time by which it came.
func (f *ticker) takeSamples(clock int64) (at int64, due bool) {
	now, steady := clock, monotonic()
	if f.sim() && clock >= f.clocked { // no tick is before the last, unless the clock was set back
		now = max(clock, f.before)
	}
	f.clocked = clock
	for s := f.samples.Front(); s != nil; s = f.samples.Front() {
		if f.active {
			if ahead := s.Stamp - clock; f.sim() && ahead >= mostAhead && ahead < awaitedAhead {
				break
			}
			now = max(now, f.atLeast(s.Stamp, clock))
			if f.sim() {
				steady = now
			}
			f.passOn(s, now, steady)
			due = f.mocap && f.pace.DueAtSample(s.Stamp, now) || due
		}
		f.samples.Pop()
	}
	return now, due
}

// setLoop has another loop tick from now on.
func (f *ticker) setLoop(l *control.Loop) {
	f.loop = l
	if f.requester != nil {
		l.SetRequested(f.requester.bundle)
	}
}

// atLeast is the time by which what has a stamp has come.
func (f *ticker) atLeast(stamp, clock int64) int64 {
	if f.sim() && stamp-clock < mostAhead {
		return max(clock, stamp)
	}
	return clock
}

// passOn hands the loop a sample that came by now, and by what a clock that nobody sets reads.
func (f *ticker) passOn(s *sample, now, steady int64) {
	f.newest.Store(s.Stamp)
	f.at.Store(now)
	f.sent = s.sent
	f.loop.SamplesCame(now, steady)
	f.loop.AddSample(&s.Sample)
	if d := f.loop.Validity(); d != control.Valid {
		f.gauges.refused.Add(1)
		f.refused = rejectedSample{s.Sample, d}
		f.rejected.TryPut(f.refuse)
	}
}

// stop takes the thrust away from a decision, and has it go out.
func stop(d *control.Decision) {
	d.Sent, d.Motors, d.Silent = quad.Command{}, motors.Command{}, false
}

// tick is one control tick: the command goes out first, then what there is to say about it.
func (f *ticker) tick(now int64) {
	if f.guard != nil {
		f.ask(now)
		return
	}
	f.latent.TryTake(f.setLatent)
	f.rates.TryTake(f.setRates)
	f.loop.SetOffboard(!f.silent.Load() && !f.link.notOffboard())
	if _, ok := f.loop.Tick(now); !ok {
		return
	}
	f.decision = *f.loop.Decision()
	stopped := f.stopped.Load()
	if stopped {
		stop(&f.decision)
	}
	if f.loop.RolledBack() {
		f.rolledBack.Store(f.loop.Policy())
	}
	err := f.send(&f.decision)
	f.noteTick(now, err)
	t := f.ticks.Slot()
	if t == nil {
		f.loop.FinishTick(&f.scratch)
		return
	}
	f.loop.FinishTick(t)
	if stopped {
		t.Sent = f.decision.Sent
	}
	f.ticks.Push()
	signal(f.recorded)
}

// send has a command go out, unless another one commands the vehicle, or the guard has its autopilot land.
func (f *ticker) send(d *control.Decision) error {
	switch {
	case f.silent.Load():
	case d.Silent: // no heartbeat: the autopilot notices, and lands
		f.askToLand()
	default:
		f.noteSending()
		return f.sender.send(f.loop.Stamp(), f.loop.State(), d)
	}
	return nil
}

// noteTick takes a tick down whose command has gone out.
func (f *ticker) noteTick(now int64, err error) {
	if f.before != 0 && f.loop.Guard().Violation() == guard.Missed {
		f.gap.Store(now - f.before)
	}
	f.before = now
	f.gauges.ticked(f, err)
	f.counts.TryPut(f.count)
}

// landPatience is for one request to land.
const landPatience = 500 * time.Millisecond

// askToLand has the autopilot land, one request at a time, without making the tick wait.
func (f *ticker) askToLand() {
	if f.asking.Swap(true) {
		return
	}
	link := f.link
	go func() {
		defer f.asking.Store(false)
		ctx, cancel := context.WithTimeout(context.Background(), landPatience)
		defer cancel()
		if err := link.land(ctx); err != nil {
			f.gauges.refuse(err)
		}
		<-ctx.Done()
	}()
}

// runOrders carries out what services and topics ask for, between two ticks.
func (f *ticker) runOrders() {
	for {
		select {
		case order := <-f.orders:
			order(f)
		default:
			return
		}
	}
}

// signal has the thread that ticks look at what has come.
func (f *ticker) signal() {
	switch {
	case f.requester != nil:
		f.requester.Wake()
	case f.guard != nil:
		f.guard.Wake()
	default:
		signal(f.wake)
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// addSample hands a sample over.
func (f *ticker) addSample(p bridge.Pose, sent ros.Time) {
	s := sample{control.Sample{Stamp: p.Stamp, State: p.State, HasVelocity: p.HasVelocity}, sent}
	f.hold(s)
	if r := f.requester; r != nil { // a request that answers it comes
		r.pass(&s, p.Frame)
		return
	}
	signal(f.wake)
}

// hold keeps a sample for the tick.
func (f *ticker) hold(s sample) {
	if x := f.samples.Slot(); x != nil {
		*x = s
		f.samples.Push()
	}
}

// addLatent hands a latent over.
func (f *ticker) addLatent(m *msgs.Latent) {
	f.latent.Put(func(z *control.Latent) {
		mean := append(z.Mean[:0], m.Mean...)
		*z = bridge.FromLatent(m)
		z.Mean = mean
	})
}

// onTimer is the clock's timer.
func (f *ticker) onTimer() {
	f.alarm.Store(true)
	f.signal()
}
