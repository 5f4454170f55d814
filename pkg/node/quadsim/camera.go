package quadsim

import (
	"fmt"

	"vnd/msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/policy"
	"vnd/pkg/learning/task"
	"vnd/pkg/node"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/sim/closedloop"
)

// camera publishes what the vehicle's camera sees. A nil one sees nothing.
type camera struct {
	*simulator
	of     closedloop.Camera
	place  quad.Reference
	frames *closedloop.FrameSource
	pub    *ros.Publisher[msgs.Features]
	m      msgs.Features
}

// mountCamera gives the vehicle its camera.
func (n *simulator) mountCamera(p *Params) (err error) {
	k := &p.Camera
	if k.Rate == 0 {
		return nil
	}
	c := &camera{simulator: n, of: closedloop.Camera{Optics: k.Optics, Rate: k.Rate, Latency: k.Latency,
		Outage: k.Outage}, place: quad.Reference{P: so3.Vec3{X: k.At[0], Y: k.At[1], Z: k.At[2]}, Yaw: k.At[3]}}
	if len(c.of.Points) == 0 {
		c.of.Points = task.Points()
	}
	if c.frames, err = c.source(); err != nil {
		return fmt.Errorf("parameter camera: %w", err)
	}
	c.m.Header.FrameID, c.m.Features = k.Frame, make([]msgs.Feature, c.of.Count())
	if c.pub, err = ros.NewPublisher[msgs.Features](n.Node, "features", node.MocapQoS()); err != nil {
		return err
	}
	n.camera = c
	return nil
}

func (c *camera) source() (*closedloop.FrameSource, error) {
	return closedloop.NewFrameSource(&c.of, c.place, c.params.Step, uint64(c.params.Seed))
}

// begin begins anew, with the same randomness.
func (c *camera) begin() {
	if c != nil {
		c.frames, _ = c.source() // which was good before
	}
}

// look takes a frame of the vehicle where one is due.
func (c *camera) look(v *closedloop.Vehicle) {
	if c != nil {
		truth := v.Truth()
		c.frames.Tick(truth.Time, &truth.State, c)
	}
}

// AddFrame implements closedloop.FrameReceiver: it publishes a frame that was taken at t s.
func (c *camera) AddFrame(t float64, features []policy.Feature) {
	c.m.Header.Stamp = bridge.Time(c.stamp(t))
	bridge.PutFeatures(&c.m, features)
	c.warn(c.pub.Publish(&c.m))
}
