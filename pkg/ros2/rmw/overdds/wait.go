package overdds

import (
	"time"

	"vnd/pkg/ros2/rmw"
)

// internalOwner owns an endpoint that this package opened: one half of a service, or
// the graph's. Its events are not reported.
type internalOwner struct {
	user  any  // the owner that data is reported to; nil for none
	graph bool // data are announcements
}

func (c *context) Wake() {
	c.woken.Store(true)
	c.participant.Wake()
}

// wakeOnChange makes a Wait under way report a change of the graph.
func (c *context) wakeOnChange() {
	if c.changed.Load() && c.waiting.Load() {
		c.participant.Wake()
	}
}

func (c *context) Wait(timeout time.Duration, ready []rmw.Ready) ([]rmw.Ready, error) {
	c.waiting.Store(true) // before changed is read; wakeOnChange reads them in the other order
	defer c.waiting.Store(false)
	var end time.Time
	if timeout > 0 {
		end = time.Now().Add(timeout)
	}
	for before := len(ready); ; {
		left := timeout
		if c.changed.Load() {
			left = 0
		} else if timeout > 0 {
			left = max(time.Until(end), 0)
		}
		var err error
		if c.raw, err = c.participant.Wait(left, c.raw[:0]); err != nil {
			return ready, err
		}
		ready = c.translate(ready)
		if c.changed.Swap(false) {
			ready = append(ready, rmw.Ready{Event: true})
		}
		// Without a raw reason the time is over. A Wake may have come together with
		// an internal reason, and the participant reports it once.
		if woken := c.woken.Swap(false); woken || len(ready) > before || len(c.raw) == 0 {
			return ready, nil
		}
	}
}

// translate appends those of the raw reasons that concern users.
func (c *context) translate(ready []rmw.Ready) []rmw.Ready {
	graph := false
	for _, r := range c.raw {
		i, internal := r.Owner.(*internalOwner)
		switch {
		case r.Owner == nil:
			graph = true
		case !internal:
			ready = append(ready, rmw.Ready{Owner: r.Owner, Data: r.Data, Event: r.Event})
		case r.Data && i.graph:
			graph = true
		case r.Data && i.user != nil:
			ready = append(ready, rmw.Ready{Owner: i.user, Data: true})
		}
	}
	if graph {
		c.sync()
	}
	return ready
}
