package controller

import (
	"fmt"
	"time"

	"vnd/pkg/bridge"
	"vnd/pkg/flight/control"
	"vnd/pkg/node"
	"vnd/pkg/ros2/ros"
)

// subscribeState subscribes to the source of the state.
func (c *Controller) subscribeState(p *Params, f *ticker, o ros.Option) (*ros.RawSubscription, error) {
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
	h := &stateReceiver{Controller: c, ticker: f, PoseDecoder: d, foreign: p.Source == control.FromPX4,
		writer: soleWriter{within: recently},
		unstamped: fmt.Errorf("topic %s: the stamp is 0, so samples count as taken when they come: no delay of theirs "+
			"is seen (have the driver stamp them)", full)}
	return ros.NewRawSubscription(c, topic, typeName, node.MocapQoS(), h.receive, o)
}

// stateReceiver makes samples of a topic's messages.
type stateReceiver struct {
	*Controller
	*ticker
	*bridge.PoseDecoder
	foreign bool // stamps may be of the autopilot's own clock
	clock   clockOffset
	writer  soleWriter

	unstamped error // for samples without a stamp
}

func (h *stateReceiver) receive(data []byte, i ros.Info) {
	pose, found, err := h.Decode(data)
	if err != nil {
		h.refuseSample(err)
		return
	}
	if !found || pose.Frame != "" && !h.expected(pose.Frame) {
		return
	}
	if !h.writer.accept(i.Publisher, monotonic()) {
		h.secondSource(h.ticker, &h.writer, i.Publisher)
		return
	}
	now := int64(h.Now())
	switch {
	case pose.Stamp == 0:
		h.noteUnstamped()
		pose.Stamp = now
	case h.foreign:
		steady := monotonic()
		if h.Clock().Simulated() {
			steady = now
		}
		pose.Stamp += h.clock.update(pose.Stamp, now, steady)
	}
	h.addSample(pose, i.Source)
}

// noteUnstamped complains of a sample without a stamp.
func (h *stateReceiver) noteUnstamped() {
	h.Controller.gauges.refuse(h.unstamped)
	if h.logged.First(h.unstamped.Error()) {
		h.Log().Warn().Msg(h.unstamped.Error())
	}
}

// clockOffset is the offset of another clock from ours, ns, learned from when its samples come: the least delay counts
// as none. A late sample whose stamp goes on is a delay, and no other offset.
type clockOffset struct {
	ns    int64
	known bool

	stamp, now, monotonic int64 // of the sample before
}

// update takes a stamp that came at now, and at a time of a monotonic clock. It returns what to add to the stamp. A
// clock that keeps to ours within a second is ours.
func (o *clockOffset) update(stamp, now, monotonic int64) int64 {
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
