package controller

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"vnd/pkg/flight/control"
)

// maxOrderAge is the age from which an order is not carried out any more: whoever gave it has given up.
const maxOrderAge = 2 * time.Second

// late refuses an order that waited here, or came late.
func late(queued, sent time.Duration) error {
	if queued > maxOrderAge {
		return fmt.Errorf("not carried out: the order waited %.1f s for those before it", queued.Seconds())
	}
	if sent > maxOrderAge {
		return fmt.Errorf("not carried out: the order was sent %.1f s ago by its stamp: it came late, or the clocks "+
			"of the two machines differ", sent.Seconds())
	}
	return nil
}

// stalls notices that the whole process stood still, as after SIGSTOP.
type stalls struct {
	beat  atomic.Int64 // of watch, ns of monotonic; 0 before the first
	ended atomic.Int64 // when the last stall did; 0: there was none
}

const (
	stallBeat  = 100 * time.Millisecond
	shortStall = time.Second
	suspicious = 5 * time.Second // after a stall, stamps of orders are looked at
)

// watch beats until ctx is done.
func (s *stalls) watch(ctx context.Context) {
	tick := time.NewTicker(stallBeat)
	defer tick.Stop()
	for {
		now := monotonic()
		if last := s.beat.Swap(now); last != 0 && now-last > int64(shortStall) {
			s.ended.Store(now)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// lately reports whether the process stood still until a moment ago.
func (s *stalls) lately() bool {
	now, beat, ended := monotonic(), s.beat.Load(), s.ended.Load()
	return beat != 0 && now-beat > int64(shortStall) || ended != 0 && now-ended < int64(suspicious)
}

// late is late for the orders that end a flight. Clocks of two machines may differ, and a landing must not fail for
// that: stamps count only where this process stood still, so that old orders are to be expected.
func (s *stalls) late(queued, sent time.Duration) error {
	if !s.lately() {
		sent = 0
	}
	return late(queued, sent)
}

var errStopped = errors.New("the motors are off by ~/emergency: clean up and configure the node to fly again")

// emergency takes the thrust away at once and for good, wherever the robot is; the autopilot is asked to disarm.
func (c *Controller) emergency() error {
	f := c.ticker()
	if f == nil {
		return fmt.Errorf("the controller is %s, expected active", c.State())
	}
	f.stopped.Store(true)
	c.Log().Error().Msg("~/emergency: motors off")
	if a := c.autopilot(); a != nil && arms(a) {
		ctx, cancel := context.WithTimeout(c.ctx, patience)
		go func() { // the answer does not wait for it
			defer cancel()
			for a.kill(ctx) == nil && wait(ctx) {
			}
		}()
	}
	return c.inFlight(func(l *control.Loop) error {
		l.Guard().Trip()
		return nil
	})
}
