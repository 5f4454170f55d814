package controller

import (
	"sync/atomic"
	"time"

	"vnd/pkg/bridge"
	"vnd/pkg/flight/control"
	"vnd/pkg/node"
	"vnd/pkg/ros2/ros"
)

// subscribeState subscribes to the source of the state.
func (c *Controller) subscribeState(p *Params, f *flight, o ros.Option) (*ros.RawSubscription, error) {
	topic, typeName := p.StateTopic()
	full, err := c.ResolveTopic(topic)
	if err != nil {
		return nil, err
	}
	d, err := bridge.NewPoseDecoder(full, typeName, p.PoseOptions())
	if err != nil {
		return nil, err
	}
	c.source = full
	h := &stateReceiver{Controller: c, flight: f, PoseDecoder: d, foreign: p.Source == control.FromPX4,
		writer: soleWriter{within: recently}}
	return ros.NewRawSubscription(c, topic, typeName, node.MocapQoS(), h.take, o)
}

// stateReceiver makes samples of a topic's messages.
type stateReceiver struct {
	*Controller
	*flight
	*bridge.PoseDecoder
	foreign bool // stamps may be of the autopilot's own clock
	clock   offset
	writer  soleWriter
	wrong   atomic.Bool // a message that was none has been told of
}

func (h *stateReceiver) take(data []byte, i ros.Info) {
	pose, found, err := h.Decode(data)
	if err != nil {
		h.gauges().refused.Add(1)
		if !h.wrong.Swap(true) {
			h.gauges().refuse(err)
			h.Log().Error().Msg(err.Error())
		}
		return
	}
	if !found || pose.Frame != "" && !h.expected(pose.Frame) {
		return
	}
	if !h.writer.accept(i.Publisher, monotonic()) {
		h.secondSource(h.flight, &h.writer, i.Publisher)
		return
	}
	now := int64(h.Now())
	switch {
	case pose.Stamp == 0: // the message has none
		pose.Stamp = now
	case h.foreign:
		steady := monotonic()
		if h.Clock().Simulated() {
			steady = now
		}
		pose.Stamp += h.clock.of(pose.Stamp, now, steady)
	}
	h.addSample(pose, i.Source)
}

func (h *stateReceiver) gauges() *gauges { return h.Controller.gauges }

// offset is that of another clock against ours, ns, learned from when its samples come: the least delay counts as none.
// A sample that comes late under a stamp that goes on is one, and no other offset.
type offset struct {
	ns    int64
	known bool

	stamp, now, monotonic int64 // of the sample before
}

// of takes a stamp that came at now, and at a time of a clock that nobody sets. It returns what to add to the stamp. A
// clock that keeps ours to within a second is ours.
func (o *offset) of(stamp, now, monotonic int64) int64 {
	const kept, share = int64(time.Second), 1000
	const least, drift = int64(10 * time.Millisecond), int64(time.Microsecond) // a sample
	d := now - stamp
	if !o.known && d > -kept && d < kept {
		return 0
	}
	if step := now - o.now - (monotonic - o.monotonic); o.known && (step > least || step < -least) { // ours was set
		o.ns += step
	}
	switch late := d - o.ns; {
	case !o.known || late < 0 || stamp < o.stamp: // the first one, a quicker one, or the autopilot has begun anew
		o.ns, o.known = d, true
	default:
		o.ns += min(late/share, drift) // clocks drift
	}
	o.stamp, o.now, o.monotonic = stamp, now, monotonic
	return o.ns
}
