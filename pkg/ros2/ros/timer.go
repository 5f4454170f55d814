package ros

import (
	"slices"
	"sync"
	"time"
)

// Timer calls a function periodically, on a grid of periods from its start. A late call does
// not move the next one. Periods that have passed entirely are skipped and counted.
type Timer struct {
	group *Group
	clock *Clock
	call  func()
	off   func() // removes the handler of OnJump

	mu       sync.Mutex
	schedule schedule
	expected Time
	canceled bool
	queued   bool
}

// NewTimer calls f every period on the node's clock, which follows /clock while use_sim_time
// is true. The first call is one period from now.
func (n *Node) NewTimer(period time.Duration, f func(), options ...Option) (*Timer, error) {
	return n.newTimer(n.clock, period, f, options)
}

// NewWallTimer calls f every period on the steady clock, independent of ROS time.
func (n *Node) NewWallTimer(period time.Duration, f func(), options ...Option) (*Timer, error) {
	return n.newTimer(steady, period, f, options)
}

var steady = NewClock(SteadyTime)

func (n *Node) newTimer(clock *Clock, period time.Duration, f func(), options []Option) (*Timer, error) {
	if period <= 0 {
		return nil, n.errorf("a timer of period %v, expected more than 0", period)
	}
	t := &Timer{group: n.applyOptions(options).group, clock: clock, call: f}
	t.schedule = newSchedule(clock.Now(), period)
	t.off = clock.OnJump(func(j Jump) {
		t.mu.Lock()
		t.schedule.jump(j)
		t.mu.Unlock()
	})
	if err := n.addCloser(t); err != nil {
		return nil, err
	}
	n.context.executor.add(t)
	return t, nil
}

// Cancel ends the calls. It may be called from the timer's own callback.
func (t *Timer) Cancel() {
	t.mu.Lock()
	t.canceled = true
	t.mu.Unlock()
	t.off()
}

// Close is Cancel.
func (t *Timer) Close() error {
	t.Cancel()
	return nil
}

// Reset starts a new period now.
func (t *Timer) Reset() {
	t.mu.Lock()
	t.schedule.next = t.clock.Now().Add(t.schedule.period)
	t.mu.Unlock()
	t.group.queue.wake()
}

// Missed counts the periods that passed without a call.
func (t *Timer) Missed() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.schedule.missed
}

// Expected is the time at which the present or last call was due, on the timer's clock.
func (t *Timer) Expected() Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.expected
}

// run makes the call if it is still due.
func (t *Timer) run() {
	t.mu.Lock()
	queued := t.queued
	t.queued = false
	now := t.clock.Now()
	due := t.schedule.due(now) && !t.canceled
	if due {
		t.expected = t.schedule.advance(now)
	}
	t.mu.Unlock()
	if queued { // a wait under way does not include this timer
		t.group.queue.wake()
	}
	if due {
		t.call()
	}
}

// enqueue queues the call, once.
func (t *Timer) enqueue() {
	t.mu.Lock()
	queued := t.queued
	t.queued = true
	t.mu.Unlock()
	if !queued {
		t.group.push(t)
	}
}

// state returns when the timer is due on its clock, whether to wait for it, and whether to
// keep it.
func (t *Timer) state() (next Time, waits, keep bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.schedule.next, !t.queued, !t.canceled
}

func (x *executor) add(t *Timer) {
	x.timersMu.Lock()
	x.timers = append(x.timers, t)
	x.timersMu.Unlock()
	x.wakeWaiter()
}

// untilTimer is the time until the next timer is due, negative without one to wait for.
// Timers on simulated time that are not due wait for /clock.
func (x *executor) untilTimer() time.Duration {
	x.timersMu.Lock()
	defer x.timersMu.Unlock()
	wait := time.Duration(-1)
	x.timers = slices.DeleteFunc(x.timers, func(t *Timer) bool {
		next, waits, keep := t.state()
		left := max(next.Sub(t.clock.Now()), 0)
		if keep && waits && (left == 0 || !t.clock.Simulated()) && (wait < 0 || left < wait) {
			wait = left
		}
		return !keep
	})
	return wait
}

// runTimers calls f with the due timers, earliest first, then in the order of their
// creation. Each is called at most once: a timer that is always late does not starve
// messages.
func (x *executor) runTimers(f func(*Timer)) {
	x.timersMu.Lock()
	n := len(x.timers)
	x.timersMu.Unlock()
	for range n {
		t := x.nextDue()
		if t == nil {
			return
		}
		f(t)
	}
}

func (x *executor) nextDue() *Timer {
	x.timersMu.Lock()
	defer x.timersMu.Unlock()
	var first *Timer
	var late time.Duration
	for _, t := range x.timers {
		next, waits, keep := t.state()
		if by := t.clock.Now().Sub(next); keep && waits && by >= 0 && (first == nil || by > late) {
			first, late = t, by
		}
	}
	return first
}
