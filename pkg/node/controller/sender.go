package controller

import (
	"vnd/msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	mavrosmsgs "vnd/msgs/mavros_msgs"
	px4msgs "vnd/msgs/px4_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/flight/control"
	"vnd/pkg/node"
	"vnd/pkg/ros2/ros"
)

// sender is the way of what a guard decided, by a state at a stamp, to the vehicle. It allocates nothing and waits for
// nobody.
type sender interface {
	send(stamp int64, s *quad.State, d *control.Decision) error
	topic() string
}

// newSender makes the publishers of a command interface.
func newSender(c *Controller, p *Params, a autopilot) (sender, error) {
	switch p.CommandInterface {
	case bridge.Mavros, bridge.Ardupilot:
		pub, err := ros.NewPublisher[mavrosmsgs.AttitudeTarget](c, p.autopilotName("mavros/setpoint_raw/attitude"),
			node.CommandQoS())
		if err != nil {
			return nil, err
		}
		c.keep(pub)
		return &toMavros{pub: pub, frame: p.BodyFrame, throttle: p.Throttle, to: a}, nil
	case bridge.PX4:
		return newToPX4(c, p, a)
	case bridge.Crazyswarm2:
		pub, err := ros.NewPublisher[geometrymsgs.Twist](c, p.autopilotName("cmd_vel_legacy"), node.CommandQoS())
		if err != nil {
			return nil, err
		}
		c.keep(pub)
		return &toCrazyflie{pub: pub, throttle: p.Throttle, to: a.(*crazyflie)}, nil
	case bridge.Crazyswarm2FullState:
		return newToFullState(c, p, a.(*crazyflie))
	case bridge.Aerostack2:
		return newToAerostack2(c, p, a.(*platform))
	case bridge.MRS:
		return newToMRS(c, p, a.(*platform))
	case bridge.PX4Mode:
		pub, err := ros.NewPublisher[px4msgs.VehicleRatesSetpoint](c, p.autopilotName("fmu/in/vehicle_rates_setpoint"),
			node.CommandQoS())
		if err != nil {
			return nil, err
		}
		c.keep(pub)
		return &toPX4Mode{toPX4: toPX4{pub: pub, throttle: p.Throttle}, to: a.(*px4Mode)}, nil
	}
	if p.commandsMotors() {
		return newToMotors(c, p)
	}
	pub, err := ros.NewPublisher[msgs.ThrustRates](c, "command", node.CommandQoS())
	if err != nil {
		return nil, err
	}
	c.keep(pub)
	return &toVND{pub: pub, frame: p.BodyFrame}, nil
}

type toVND struct {
	pub   *ros.Publisher[msgs.ThrustRates]
	frame string
	m     msgs.ThrustRates
}

func (s *toVND) topic() string { return s.pub.Topic() }

func (s *toVND) send(stamp int64, _ *quad.State, d *control.Decision) error {
	bridge.PutThrustRates(&s.m, stamp, s.frame, d.Sent)
	return s.pub.Publish(&s.m)
}

type toMavros struct {
	pub      *ros.Publisher[mavrosmsgs.AttitudeTarget]
	frame    string
	throttle bridge.Throttle
	to       autopilot
	m        mavrosmsgs.AttitudeTarget
}

func (s *toMavros) topic() string { return s.pub.Topic() }

// send sends nothing to an autopilot that would take it for something else.
func (s *toMavros) send(stamp int64, _ *quad.State, d *control.Decision) error {
	if s.to.fault() != "" {
		return nil
	}
	bridge.PutAttitudeTarget(&s.m, stamp, s.frame, d.Sent, &s.throttle, s.to.volts())
	return s.pub.Publish(&s.m)
}

// toPX4 follows each setpoint with the proof of life without which PX4 leaves offboard mode: that never comes without a
// fresh setpoint, for PX4 does not notice when setpoints alone stop.
type toPX4 struct {
	pub      *ros.Publisher[px4msgs.VehicleRatesSetpoint]
	alive    *ros.Publisher[px4msgs.OffboardControlMode]
	throttle bridge.Throttle
	volts    func() float64
	m        px4msgs.VehicleRatesSetpoint
	mode     px4msgs.OffboardControlMode
}

func newToPX4(c *Controller, p *Params, a autopilot) (sender, error) {
	s := &toPX4{throttle: p.Throttle, volts: a.volts, mode: px4msgs.OffboardControlMode{BodyRate: true}}
	var err error
	if s.pub, err = ros.NewPublisher[px4msgs.VehicleRatesSetpoint](c, p.autopilotName("fmu/in/vehicle_rates_setpoint"),
		node.CommandQoS()); err != nil {
		return nil, err
	}
	c.keep(s.pub)
	s.alive, err = ros.NewPublisher[px4msgs.OffboardControlMode](c, p.autopilotName("fmu/in/offboard_control_mode"),
		node.CommandQoS())
	if err != nil {
		return nil, err
	}
	c.keep(s.alive)
	return s, nil
}

func (s *toPX4) topic() string { return s.pub.Topic() }

// send leaves the stamps to the autopilot, whose clock is another one.
func (s *toPX4) send(_ int64, _ *quad.State, d *control.Decision) error {
	bridge.PutVehicleRatesSetpoint(&s.m, 0, d.Sent, &s.throttle, s.volts())
	if err := s.pub.Publish(&s.m); err != nil {
		return err
	}
	return s.alive.Publish(&s.mode)
}
