package ros

import (
	"slices"
	"sync"
	"time"
)

// Timer calls a function periodically. Its calls keep to the grid of the period
// from its start: one that comes late does not move the next, and periods that
// have passed whole are skipped and counted.
type Timer struct {
	group *Group
	clock *Clock
	call  func()
	off   func() // ends what OnJump began

	mu       sync.Mutex
	schedule schedule
	expected Time
	canceled bool
	queued   bool
}

// NewTimer calls f every period on the node's clock, which stands still and
// jumps with /clock while use_sim_time is true. The first call is one period
// from now.
func (n *Node) NewTimer(period time.Duration, f func(), options ...Option) (*Timer, error) {
	return n.newTimer(n.clock, period, f, options)
}

// NewWallTimer calls f every period on the steady clock, whatever happens to
// ROS time.
func (n *Node) NewWallTimer(period time.Duration, f func(), options ...Option) (*Timer, error) {
	return n.newTimer(steady, period, f, options)
}

var steady = NewClock(SteadyTime)

func (n *Node) newTimer(clock *Clock, period time.Duration, f func(), options []Option) (*Timer, error) {
	if period <= 0 {
		return nil, n.errorf("a timer of period %v, expected more than 0", period)
	}
	t := &Timer{group: n.settle(options).group, clock: clock, call: f}
	t.schedule = newSchedule(clock.Now(), period)
	t.off = clock.OnJump(func(j Jump) {
		t.mu.Lock()
		t.schedule.jump(j)
		t.mu.Unlock()
	})
	if err := n.own(t); err != nil {
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

// Reset begins a period anew, now.
func (t *Timer) Reset() {
	t.mu.Lock()
	t.schedule.next = t.clock.Now().Add(t.schedule.period)
	t.mu.Unlock()
	t.group.queue.woken()
}

// Missed counts the periods that passed without a call.
func (t *Timer) Missed() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.schedule.missed
}

// Expected is when the present call, or else the last one, should have been, on
// the timer's clock.
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
	if queued { // whoever waits does not wait for this timer yet
		t.group.queue.woken()
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

// state says when the timer is due on its clock, and whether it is to be waited
// for and kept.
func (t *Timer) state() (next Time, waits, keep bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.schedule.next, !t.queued, !t.canceled
}

func (x *executor) add(t *Timer) {
	x.timersMu.Lock()
	x.timers = append(x.timers, t)
	x.timersMu.Unlock()
	x.pushed()
}

// untilTimer is how long it is until a timer is due, negative when none is to
// be waited for: those on simulated time are looked at when /clock comes.
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

// runTimers calls f with the due timers, earliest first, and in the order in
// which they were made where that is equal. One that is always late does not
// keep the executor from messages.
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
