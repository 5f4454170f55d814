package controller

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	rclinterfaces "vnd/msgs/rcl_interfaces"
	"vnd/pkg/bridge"
	"vnd/pkg/ros2/ros"
)

type (
	getParameters    = rclinterfaces.GetParametersRequest
	parametersAnswer = rclinterfaces.GetParametersResponse
	parameterValue   = rclinterfaces.ParameterValue
)

// peerParameters are parameters of a node that stands between vnd and an autopilot. They are asked for twice a second.
type peerParameters struct {
	client *ros.Client[getParameters, parametersAnswer]
	names  []string
	check  func([]parameterValue) error // gets one value a name, not set where the peer has none
	asked  atomic.Int64                 // monotonic ns of a request without an answer; 0: none waits
	wrong  atomic.Pointer[string]       // nil: they are as they have to be
}

// watchParameters begins to ask a node, until the configuration ends.
func (c *Controller) watchParameters(of string, check func([]parameterValue) error, names ...string) (*peerParameters,
	error) {
	p := &peerParameters{names: names, check: check}
	var err error
	if p.client, err = ros.NewClient[getParameters, parametersAnswer](c, of+"/get_parameters"); err != nil {
		return nil, err
	}
	c.keep(p.client)
	p.verdict(fmt.Errorf("service %s does not answer: nothing is sent before %s of the autopilot is known",
		p.client.Name(), names[0]))
	const often = 500 * time.Millisecond
	t, err := c.NewWallTimer(often, p.ask)
	if err != nil {
		return nil, err
	}
	c.keep(t)
	return p, nil
}

// ask asks, unless an answer is being waited for.
func (p *peerParameters) ask() {
	const lost = 5 * time.Second
	asked := p.asked.Load()
	if asked != 0 && time.Duration(monotonic()-asked) < lost || !p.client.Available() {
		return
	}
	p.asked.Store(monotonic())
	if err := p.client.Send(&getParameters{Names: p.names}, p.answered); err != nil {
		p.asked.Store(0)
	}
}

// answered takes the values. What held goes on to hold while a peer has just lost them, as mavros does when its
// connection comes back.
func (p *peerParameters) answered(r *parametersAnswer, err error) {
	p.asked.Store(0)
	if err != nil {
		return
	}
	values := make([]parameterValue, len(p.names))
	copy(values, r.Values)
	err = p.check(values)
	if p.wrong.Load() == nil && errors.Is(err, bridge.ErrNotKnown) {
		return
	}
	p.verdict(err)
}

func (p *peerParameters) verdict(err error) {
	if err == nil {
		p.wrong.Store(nil)
		return
	}
	text := err.Error()
	p.wrong.Store(&text)
}

// fault says which of them is not as it has to be; "" for none.
func (p *peerParameters) fault() string {
	if w := p.wrong.Load(); w != nil {
		return *w
	}
	return ""
}
