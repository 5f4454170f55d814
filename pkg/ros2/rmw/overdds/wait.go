package overdds

import (
	"time"

	"vnd/pkg/ros2/rmw"
)

// inner is the owner of an endpoint that users do not see as such, and whose
// events are nobody's.
type inner struct {
	owner any  // who hears of data; nil for nobody
	graph bool // data are announcements
}

func (c *context) Wake() {
	c.woken.Store(true)
	c.participant.Wake()
}

// tell makes a Wait under way report a change of the graph.
func (c *context) tell() {
	if c.changed.Load() && c.waiting.Load() {
		c.participant.Wake()
	}
}

func (c *context) Wait(timeout time.Duration, ready []rmw.Ready) ([]rmw.Ready, error) {
	c.waiting.Store(true) // before changed is read: who changes the graph reads them the other way round
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
		// With nothing raw it is time. A Wake may have come together with what
		// concerns no user, and the participant tells of it once.
		if woken := c.woken.Swap(false); woken || len(ready) > before || len(c.raw) == 0 {
			return ready, nil
		}
	}
}

// translate appends what of the raw reasons concerns users.
func (c *context) translate(ready []rmw.Ready) []rmw.Ready {
	graph := false
	for _, r := range c.raw {
		i, isInner := r.Owner.(*inner)
		switch {
		case r.Owner == nil:
			graph = true
		case !isInner:
			ready = append(ready, rmw.Ready{Owner: r.Owner, Data: r.Data, Event: r.Event})
		case r.Data && i.graph:
			graph = true
		case r.Data && i.owner != nil:
			ready = append(ready, rmw.Ready{Owner: i.owner, Data: true})
		}
	}
	if graph {
		c.sync()
	}
	return ready
}
