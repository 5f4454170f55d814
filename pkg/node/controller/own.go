package controller

import (
	"errors"
	"fmt"
	"io"

	"vnd/pkg/core/quad"
	"vnd/pkg/flight/control"
	"vnd/pkg/ros2/ros"
)

// Autopilot is one of a lab's own, which command_interface does not name.
type Autopilot interface {
	// Send takes the command for the state at stamp, ns on the node's clock. The thread that ticks calls it, once a
	// tick: it allocates nothing and waits for nobody.
	Send(stamp int64, c quad.Command) error
	// Topic names where commands go, in diagnostics and errors.
	Topic() string
	// Follows reports whether the vehicle flies what is sent; true where nothing says so. That thread calls it, too.
	Follows() bool
	// Close ends what Connect began, after the last command.
	io.Closer
}

// Connect makes an Autopilot, each time the node is configured. Its publishers and subscriptions are of h.
type Connect func(h ros.Host, p *Params) (Autopilot, error)

// Option changes what New makes.
type Option func(*Controller)

// WithAutopilot has an autopilot of a lab's own take the commands, in place of that of command_interface.
func WithAutopilot(connect Connect) Option {
	return func(c *Controller) { c.connectOwn = connect }
}

// connectAutopilot makes the autopilot of a flight and what sends commands to it.
func (c *Controller) connectAutopilot(p *Params) (autopilot, sender, error) {
	if err := c.flyMotors(p); err != nil {
		return nil, nil, err
	}
	if c.connectOwn == nil {
		a, err := newAutopilot(c, p)
		if err != nil {
			return nil, nil, err
		}
		s, err := newSender(c, p, a)
		return a, s, err
	}
	a, err := c.connectOwn(c, p)
	if err == nil && a == nil {
		err = errors.New("there is none, and no error")
	}
	if err != nil {
		return nil, nil, fmt.Errorf("the lab's own autopilot: %w", err)
	}
	c.keep(a)
	own := ownAutopilot{a: a}
	return own, own, nil
}

// ownAutopilot has nothing to ask for; whoever wrote it arms it.
type ownAutopilot struct {
	noAutopilot
	a Autopilot
}

func (o ownAutopilot) notOffboard() bool { return !o.a.Follows() }
func (o ownAutopilot) topic() string     { return o.a.Topic() }

func (o ownAutopilot) send(stamp int64, _ *quad.State, d *control.Decision) error {
	return o.a.Send(stamp, d.Sent)
}

// arms reports whether an autopilot can be asked to follow commands.
func arms(a autopilot) bool {
	switch a.(type) {
	case noAutopilot, ownAutopilot:
		return false
	}
	return true
}
