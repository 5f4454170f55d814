package ros

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// ClockKind is the time that a Clock shows.
type ClockKind uint8

// Kinds of clocks. ROSTime follows /clock while use_sim_time is true, and is the system's
// time otherwise. SteadyTime never jumps.
const (
	ROSTime ClockKind = iota
	SystemTime
	SteadyTime
)

// Clock shows the time. Its methods may be called from any goroutine.
type Clock struct {
	kind    ClockKind
	sim     atomic.Bool
	now     atomic.Int64 // simulated; 0 until the first message of /clock
	updated atomic.Int64 // steady time of the last message, 0 for none

	changed broadcast // of simulated time or its use

	mu    sync.Mutex // guards jumps
	jumps []*jumpHandler
}

type jumpHandler struct{ f func(Jump) }

// steadyOrigin is when steady clocks were 0.
var steadyOrigin = time.Now()

// NewClock makes a clock that belongs to no node and does not follow use_sim_time.
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

// SinceUpdate is the wall time since the last message of /clock. It is false before the
// first message and while time is not simulated. A watchdog of /clock limits it.
func (c *Clock) SinceUpdate() (time.Duration, bool) {
	updated := c.updated.Load()
	if updated == 0 || !c.sim.Load() {
		return 0, false
	}
	return time.Since(steadyOrigin) - time.Duration(updated), true
}

// Jump is a step of a ROS clock that is not the ordinary passing of time.
type Jump struct {
	Kind          JumpKind
	Before, After Time
}

// JumpKind says why a clock jumped.
type JumpKind uint8

// Kinds of jumps: the clock began to follow /clock, ceased to, got its first simulated time,
// or was set back. A simulation's reset and a bag's replay set it back.
const (
	SimulationOn JumpKind = iota
	SimulationOff
	FirstTime
	Backward
)

// OnJump calls f after each jump, on the executor that spins, until remove is called.
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
	c.updated.Store(0)
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
	first := c.updated.Swap(int64(time.Since(steadyOrigin))) == 0
	before := Time(c.now.Swap(int64(t)))
	switch {
	case first:
		c.jumped(Jump{FirstTime, before, t})
	case t < before:
		c.jumped(Jump{Backward, before, t})
	default:
		c.changed.notify()
	}
}

func (c *Clock) jumped(j Jump) {
	c.mu.Lock()
	handlers := slices.Clone(c.jumps)
	c.mu.Unlock()
	c.changed.notify()
	for _, h := range handlers {
		h.f(j)
	}
}

// SleepUntil waits until the clock shows t or later, or ctx is done. On simulated time
// another goroutine must spin.
func (c *Clock) SleepUntil(ctx context.Context, t Time) error {
	for {
		changed := c.changed.next()
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
