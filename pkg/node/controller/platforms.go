package controller

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	as2msgs "vnd/msgs/as2_msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	mrsmsgs "vnd/msgs/mrs_msgs"
	sensormsgs "vnd/msgs/sensor_msgs"
	stdsrvs "vnd/msgs/std_srvs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/flight/control"
	"vnd/pkg/node"
	"vnd/pkg/ros2/ros"
)

// platform is what stands between a controller and an autopilot in the frameworks Aerostack2 and MRS. It repeats the
// last command, so that a landing is the guard's law's.
type platform struct {
	reports
	c      *Controller
	arming *ros.Client[stdsrvs.SetBoolRequest, stdsrvs.SetBoolResponse]
	follow func(context.Context) error // asks it to follow commands
	wrong  atomic.Pointer[string]      // why none go out; nil: they do
}

// newPlatform is one with a service that arms it.
func newPlatform(c *Controller, p *Params, arming string) (*platform, error) {
	a := &platform{reports: reports{clock: c.Clock()}, c: c}
	var err error
	if a.arming, err = keptClient[stdsrvs.SetBoolRequest, stdsrvs.SetBoolResponse](c, p, arming); err != nil {
		return nil, err
	}
	s, err := ros.NewSubscription(c, p.AutopilotTopics()[1], node.AutopilotQoS(),
		func(m *sensormsgs.BatteryState, i ros.Info) {
			if v := float64(m.Voltage); c.voltage(v, i.Publisher) {
				a.measured(v)
			}
		})
	if err == nil {
		c.keep(s)
	}
	return a, err
}

// refuse has no commands go out, for a reason; nil: they do.
func (a *platform) refuse(err error) {
	if err == nil {
		a.wrong.Store(nil)
		return
	}
	text := err.Error()
	a.wrong.Store(&text)
}

func (a *platform) fault() string {
	if w := a.wrong.Load(); w != nil {
		return *w
	}
	return ""
}

func (a *platform) offboard(ctx context.Context) error { return a.follow(ctx) }

func (a *platform) disarm(ctx context.Context) error {
	if s, _ := a.lastReport(); s.Armed && a.c.aboveGround() {
		return errFalls
	}
	return a.kill(ctx)
}

func (a *platform) kill(ctx context.Context) error { return switchBy(ctx, a.arming, false) }

func (a *platform) land(context.Context) error { return nil } // the guard's law does

func (a *platform) landsUnasked() bool { return false }

// switchBy asks a service for on or off.
func switchBy(ctx context.Context, s *ros.Client[stdsrvs.SetBoolRequest, stdsrvs.SetBoolResponse], on bool) error {
	r, err := s.Call(ctx, &stdsrvs.SetBoolRequest{Data: on})
	if err == nil && !r.Success {
		err = fmt.Errorf("service %s: refused: %s", s.Name(), r.Message)
	}
	return err
}

// newAerostack2 is a platform of Aerostack2.
func newAerostack2(c *Controller, p *Params) (*platform, error) {
	a, err := newPlatform(c, p, "set_arming_state")
	if err != nil {
		return nil, err
	}
	var inOffboard atomic.Bool
	topic := p.AutopilotTopics()[0]
	s, err := ros.NewRawSubscription(c, topic, "as2_msgs/msg/PlatformInfo", node.AutopilotQoS(),
		func(data []byte, _ ros.Info) {
			said, offboard, err := bridge.ReadPlatformInfo(data)
			if err != nil {
				a.refuse(fmt.Errorf("topic %s: %w", topic, err))
				return
			}
			a.refuse(nil)
			inOffboard.Store(offboard)
			a.addReport(said)
		})
	if err != nil {
		return nil, err
	}
	c.keep(s)
	mode, err := keptClient[as2msgs.SetControlModeRequest, as2msgs.SetControlModeResponse](c, p,
		"set_platform_control_mode")
	if err != nil {
		return nil, err
	}
	offboard, err := keptClient[stdsrvs.SetBoolRequest, stdsrvs.SetBoolResponse](c, p, "set_offboard_mode")
	a.follow = func(ctx context.Context) error {
		r, err := mode.Call(ctx, &as2msgs.SetControlModeRequest{ControlMode: bridge.ByRates()})
		switch {
		case err != nil:
			return err
		case !r.Success:
			return fmt.Errorf("service %s: the platform has no mode of body rates and thrust: add 0b00100100 to its "+
				"control_modes.yaml", mode.Name())
		case inOffboard.Load(): // it refuses to be asked again
			return nil
		}
		return switchBy(ctx, offboard, true)
	}
	return a, err
}

// newMRS is a vehicle behind the hardware API of MRS.
func newMRS(c *Controller, p *Params) (*platform, error) {
	a, err := newPlatform(c, p, "hw_api/arming")
	if err != nil {
		return nil, err
	}
	capabilities := p.autopilotName("hw_api/capabilities")
	a.refuse(fmt.Errorf("topic %s: nothing is sent before it says that body rates are taken", capabilities))
	able, err := ros.NewSubscription(c, capabilities, node.AutopilotQoS(),
		func(m *mrsmsgs.HwApiCapabilities, _ ros.Info) { a.refuse(bridge.CheckCapabilities(m)) })
	if err != nil {
		return nil, err
	}
	c.keep(able)
	status, err := ros.NewSubscription(c, p.AutopilotTopics()[0], node.AutopilotQoS(),
		func(m *mrsmsgs.HwApiStatus, _ ros.Info) {
			a.addReport(bridge.Autopilot{Connected: m.Connected, Armed: m.Armed, Offboard: m.Offboard,
				Mode: strings.Clone(m.Mode)})
		})
	if err != nil {
		return nil, err
	}
	c.keep(status)
	offboard, err := keptClient[stdsrvs.TriggerRequest, stdsrvs.TriggerResponse](c, p, "hw_api/offboard")
	a.follow = func(ctx context.Context) error {
		r, err := offboard.Call(ctx, &stdsrvs.TriggerRequest{})
		if err == nil && !r.Success {
			err = fmt.Errorf("service %s: %s", offboard.Name(), r.Message)
		}
		return err
	}
	return a, err
}

// toAerostack2 sends body rates and then the force while the platform is in their mode: another one takes the rates for
// a velocity. A platform sends both on at a pace of its own.
type toAerostack2 struct {
	rates    *ros.Publisher[geometrymsgs.TwistStamped]
	thrust   *ros.Publisher[as2msgs.Thrust]
	frame    string
	mass     float64
	throttle bridge.Throttle
	to       *platform
	w        geometrymsgs.TwistStamped
	m        as2msgs.Thrust
}

func newToAerostack2(c *Controller, p *Params, to *platform) (sender, error) {
	s := &toAerostack2{frame: p.BodyFrame, mass: p.Mass, throttle: p.Throttle, to: to}
	var err error
	if s.rates, err = ros.NewPublisher[geometrymsgs.TwistStamped](c, p.autopilotName("actuator_command/twist"),
		node.CommandQoS()); err != nil {
		return nil, err
	}
	c.keep(s.rates)
	topic, _ := p.CommandTopic()
	if s.thrust, err = ros.NewPublisher[as2msgs.Thrust](c, topic, node.CommandQoS()); err == nil {
		c.keep(s.thrust)
	}
	return s, err
}

func (s *toAerostack2) topic() string { return s.thrust.Topic() }

// beside is the other topic of a command.
func (s *toAerostack2) beside() string { return s.rates.Topic() }

func (s *toAerostack2) send(stamp int64, _ *quad.State, d *control.Decision) error {
	if said, _ := s.to.lastReport(); said.Mode != bridge.BodyRates || s.to.fault() != "" {
		return nil
	}
	bridge.PutRates(&s.w, stamp, s.frame, d.Sent)
	if err := s.rates.Publish(&s.w); err != nil {
		return err
	}
	bridge.PutThrust(&s.m, stamp, s.frame, d.Sent, s.mass, &s.throttle)
	return s.thrust.Publish(&s.m)
}

type toMRS struct {
	pub      *ros.Publisher[mrsmsgs.HwApiAttitudeRateCmd]
	throttle bridge.Throttle
	to       *platform
	m        mrsmsgs.HwApiAttitudeRateCmd
}

func newToMRS(c *Controller, p *Params, to *platform) (sender, error) {
	topic, _ := p.CommandTopic()
	pub, err := ros.NewPublisher[mrsmsgs.HwApiAttitudeRateCmd](c, topic, node.CommandQoS())
	if err == nil {
		c.keep(pub)
	}
	return &toMRS{pub: pub, throttle: p.Throttle, to: to}, err
}

func (s *toMRS) topic() string { return s.pub.Topic() }

func (s *toMRS) send(stamp int64, _ *quad.State, d *control.Decision) error {
	if s.to.fault() != "" {
		return nil
	}
	bridge.PutAttitudeRate(&s.m, stamp, d.Sent, &s.throttle, s.to.volts())
	return s.pub.Publish(&s.m)
}
