package overdds

import (
	"sync/atomic"
	"time"

	"vnd/pkg/dds"
	"vnd/pkg/rmw"
)

// inner is the owner of an endpoint that users do not see as such.
type inner struct {
	owner    any  // who hears of data; nil for nobody
	graph    bool // data are announcements
	endpoint atomic.Value
}

type hasStatus interface{ Status() dds.Status }

// drain takes note of an endpoint's events on nobody's behalf, lest Wait return
// for them again and again. Status only counts up: nothing is lost.
func (i *inner) drain() {
	if e, made := i.endpoint.Load().(hasStatus); made {
		e.Status()
	}
}

func (c *context) newWriter(t dds.Topic, q dds.QoS, i *inner) (dds.Writer, error) {
	w, err := c.participant.NewWriter(t, q, i)
	if err == nil {
		i.endpoint.Store(w)
	}
	return w, err
}

func (c *context) newReader(t dds.Topic, q dds.QoS, i *inner) (dds.Reader, error) {
	r, err := c.participant.NewReader(t, q, i)
	if err == nil {
		i.endpoint.Store(r)
	}
	return r, err
}

func (c *context) Wake() { c.participant.Wake() }

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
		// With nothing raw it is time, or somebody called Wake.
		if len(ready) > before || len(c.raw) == 0 {
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
		default:
			if r.Event {
				i.drain()
			}
			if r.Data && i.graph {
				graph = true
			} else if r.Data && i.owner != nil {
				ready = append(ready, rmw.Ready{Owner: i.owner, Data: true})
			}
		}
	}
	if graph {
		c.sync()
	}
	return ready
}
