package ros

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// ClockKind says what a Clock counts.
type ClockKind uint8

// Kinds of clocks: ROSTime follows /clock while use_sim_time is true and is the
// system's time otherwise; SteadyTime never jumps.
const (
	ROSTime ClockKind = iota
	SystemTime
	SteadyTime
)

// Clock tells the time. Its methods may be called from any goroutine.
type Clock struct {
	kind ClockKind
	sim  atomic.Bool
	now  atomic.Int64 // simulated; 0 until the first message of /clock
	seen atomic.Int64 // steady time of the last message, 0 for none

	mu      sync.Mutex
	jumps   []*jumpHandler
	changed chan struct{} // closed when simulated time or its use changes; nil when nobody waits
}

type jumpHandler struct{ f func(Jump) }

// steadyOrigin is when steady clocks were 0.
var steadyOrigin = time.Now()

// NewClock is a clock of its own. Those that follow use_sim_time belong to
// nodes: see Node.Clock.
func NewClock(kind ClockKind) *Clock { return &Clock{kind: kind} }

// Kind of the clock.
func (c *Clock) Kind() ClockKind { return c.kind }

// Now is the time; on simulated time that of the last message of /clock, and 0
// before the first.
func (c *Clock) Now() Time {
	switch {
	case c.kind == SteadyTime:
		return Time(time.Since(steadyOrigin))
	case c.kind == ROSTime && c.sim.Load():
		return Time(c.now.Load())
	}
	return Time(time.Now().UnixNano())
}

// Simulated reports whether the clock follows /clock now.
func (c *Clock) Simulated() bool { return c.sim.Load() }

// SilentFor is how long ago, on the wall, simulated time last moved or was
// confirmed; false while there was no message of /clock yet or time is not
// simulated. A watchdog of /clock compares it with its limit.
func (c *Clock) SilentFor() (time.Duration, bool) {
	seen := c.seen.Load()
	if seen == 0 || !c.sim.Load() {
		return 0, false
	}
	return time.Since(steadyOrigin) - time.Duration(seen), true
}

// Jump is a step of a ROS clock that is not the ordinary passing of time.
type Jump struct {
	Kind          JumpKind
	Before, After Time
}

// JumpKind says why a clock jumped.
type JumpKind uint8

// Kinds of jumps: the clock began or ceased to follow /clock, got its first
// simulated time, or was set back (a simulation reset, a bag played again).
const (
	SimulationOn JumpKind = iota
	SimulationOff
	FirstTime
	Backward
)

// OnJump has f called after each jump, on the executor that spins, and returns
// what ends that.
func (c *Clock) OnJump(f func(Jump)) (remove func()) {
	h := &jumpHandler{f}
	c.mu.Lock()
	c.jumps = append(c.jumps, h)
	c.mu.Unlock()
	return func() {
		c.mu.Lock()
		c.jumps = slices.DeleteFunc(c.jumps, func(o *jumpHandler) bool { return o == h })
		c.mu.Unlock()
	}
}

// simulate switches between /clock and the system's time.
func (c *Clock) simulate(on bool) {
	before := c.Now()
	if c.sim.Swap(on) == on {
		return
	}
	c.now.Store(0)
	c.seen.Store(0)
	kind := SimulationOff
	if on {
		kind = SimulationOn
	}
	c.jumped(Jump{kind, before, c.Now()})
}

// set takes a message of /clock.
func (c *Clock) set(t Time) {
	if !c.sim.Load() {
		return
	}
	first := c.seen.Swap(int64(time.Since(steadyOrigin))) == 0
	before := Time(c.now.Swap(int64(t)))
	switch {
	case first:
		c.jumped(Jump{FirstTime, before, t})
	case t < before:
		c.jumped(Jump{Backward, before, t})
	default:
		c.notify()
	}
}

func (c *Clock) jumped(j Jump) {
	c.mu.Lock()
	handlers := slices.Clone(c.jumps)
	c.mu.Unlock()
	c.notify()
	for _, h := range handlers {
		h.f(j)
	}
}

func (c *Clock) notify() {
	c.mu.Lock()
	if c.changed != nil {
		close(c.changed)
		c.changed = nil
	}
	c.mu.Unlock()
}

func (c *Clock) change() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.changed == nil {
		c.changed = make(chan struct{})
	}
	return c.changed
}

// SleepUntil waits until the clock shows t or later, or ctx is done. On
// simulated time somebody else must spin.
func (c *Clock) SleepUntil(ctx context.Context, t Time) error {
	for {
		changed := c.change()
		now := c.Now()
		if now >= t {
			return nil
		}
		if err := c.sleep(ctx, changed, t.Sub(now)); err != nil {
			return err
		}
	}
}

// sleep waits for a change of the clock and, unless it is simulated, for d.
func (c *Clock) sleep(ctx context.Context, changed <-chan struct{}, d time.Duration) error {
	var after <-chan time.Time
	if !c.sim.Load() {
		timer := time.NewTimer(d)
		defer timer.Stop()
		after = timer.C
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-changed:
	case <-after:
	}
	return nil
}
