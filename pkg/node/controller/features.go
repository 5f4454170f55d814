package controller

import (
	"errors"
	"fmt"
	"sync/atomic"

	"vnd/pkg/bridge"
	"vnd/pkg/flight/policy"
	"vnd/pkg/node"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/diagnostics"
)

// frame is what a camera saw, on its way to the tick.
type frame struct {
	stamp    int64 // ns
	features []policy.Feature
}

// framesWaiting is space for those of half a second at 100 Hz.
const framesWaiting = 50

// frameGauges show how a camera's frames come, on /diagnostics.
type frameGauges struct {
	newest  atomic.Int64 // stamp of the newest frame, ns; 0 before the first
	refused atomic.Uint64
}

// featuresReceiver makes frames of a topic's messages, for policies that see landmarks.
type featuresReceiver struct {
	*Controller
	*ticker
	*bridge.FeaturesDecoder
	topic  string
	writer soleWriter
	last   int64 // stamp of the newest frame, ns
}

// subscribeFeatures subscribes to the source of features.
func (c *Controller) subscribeFeatures(p *Params, f *ticker, o ros.Option) (*ros.RawSubscription, error) {
	topic, typeName := p.Features.Topic()
	full, err := c.ResolveTopic(topic)
	if err != nil {
		return nil, err
	}
	h := &featuresReceiver{Controller: c, ticker: f, topic: full, writer: soleWriter{within: recently}}
	if h.FeaturesDecoder, err = bridge.NewFeaturesDecoder(full, p.Features); err != nil {
		return nil, err
	}
	return ros.NewRawSubscription(c, topic, typeName, node.MocapQoS(), h.receive, o)
}

func (h *featuresReceiver) receive(data []byte, i ros.Info) {
	flies, _ := h.flying()
	if flies == nil || flies.Landmarks() == 0 {
		return
	}
	if !h.writer.accept(i.Publisher, monotonic()) {
		h.refuseFrame(fmt.Errorf("topic %s has more than one publisher: frames of the first alone count", h.topic))
		return
	}
	f, err := h.Decode(data, flies.Landmarks())
	if err == nil {
		err = h.checkStamp(f.Stamp)
	}
	if err != nil {
		h.refuseFrame(err)
		return
	}
	if f.Stranger != "" && h.logged.First(h.ExplainStranger(f)) {
		h.Log().Warn().Msg(h.ExplainStranger(f))
	}
	h.Controller.gauges.frames.newest.Store(f.Stamp)
	if x := h.frames.Slot(); x != nil {
		x.stamp, x.features = f.Stamp, append(x.features[:0], f.Features...)
		h.frames.Push()
	}
}

// checkStamp refuses a frame that is not newer than the last, or is of the future. Where the clock was set back, they
// begin anew.
func (h *featuresReceiver) checkStamp(stamp int64) error {
	now := int64(h.Now())
	switch {
	case stamp-now > mostAhead:
		return fmt.Errorf("topic %s: a frame's stamp is in the future, expected the present: are the clocks "+
			"synchronised?", h.topic)
	case stamp <= h.last && h.last-now <= mostAhead:
		return fmt.Errorf("topic %s: a frame's stamp is not later than that of the frame before, expected stamps that "+
			"rise", h.topic)
	}
	h.last = stamp
	return nil
}

// refuseFrame counts a frame without a use, shows why, and logs each reason once.
func (h *featuresReceiver) refuseFrame(err error) {
	h.Controller.gauges.frames.refused.Add(1)
	h.Controller.gauges.refuse(err)
	if h.logged.First(err.Error()) {
		h.Log().Error().Msg(err.Error())
	}
}

// takeFrames hands the loop the frames that have come.
func (f *ticker) takeFrames() {
	for x := f.frames.Front(); x != nil; x = f.frames.Front() {
		if f.active {
			f.loop.AddFrame(x.stamp, x.features)
		}
		f.frames.Pop()
	}
}

// reportFeatures is the task "features".
func (c *Controller) reportFeatures(s *diagnostics.Status) {
	k, f := &c.gauges.frames, c.ticker()
	flies, _ := c.flying()
	if f == nil || flies == nil || flies.Landmarks() == 0 {
		s.Summary(diagnostics.OK, "not used: the policy sees positions")
		return
	}
	age := float64(int64(c.Now())-k.newest.Load()) / 1e9
	switch most := c.params.Load().Guard.MaxFrameAge; {
	case k.newest.Load() == 0:
		s.Summary(diagnostics.Error, "%v", c.noFrames())
	case age > most:
		s.Summary(diagnostics.Error, "%v for %.1f s", c.noFrames(), age)
	default:
		s.Summary(diagnostics.OK, "frames of %d landmarks", flies.Landmarks())
	}
	s.Add("frames refused", k.refused.Load())
	s.Add("frames dropped", f.frames.Dropped())
}

// noFrames names the topic on which nothing comes that can be used.
func (c *Controller) noFrames() error {
	topic, typeName := c.params.Load().Features.Topic()
	full, err := c.ResolveTopic(topic)
	if err != nil {
		return err
	}
	return errors.New("no frame on " + full + " (" + typeName + ")")
}
