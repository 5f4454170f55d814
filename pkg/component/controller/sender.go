package controller

import (
	"vnd/msgs"
	mavrosmsgs "vnd/msgs/mavros_msgs"
	px4msgs "vnd/msgs/px4_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/component"
	"vnd/pkg/quad"
	"vnd/pkg/ros"
)

// sender is the way of a command to the vehicle. It allocates nothing and waits for nobody.
type sender interface {
	send(stamp int64, c quad.Command) error
	topic() string
}

// newSender makes the publishers of a command interface.
func newSender(h ros.Host, p *Params) (sender, error) {
	switch p.CommandInterface {
	case bridge.Mavros:
		pub, err := ros.NewPublisher[mavrosmsgs.AttitudeTarget](h, "mavros/setpoint_raw/attitude", component.CommandQoS())
		return &toMavros{pub: pub, frame: p.BodyFrame, hover: p.HoverThrottle}, err
	case bridge.PX4:
		return newToPX4(h, p.HoverThrottle)
	}
	pub, err := ros.NewPublisher[msgs.ThrustRates](h, "command", component.CommandQoS())
	return &toVND{pub: pub, frame: p.BodyFrame}, err
}

type toVND struct {
	pub   *ros.Publisher[msgs.ThrustRates]
	frame string
	m     msgs.ThrustRates
}

func (s *toVND) topic() string { return s.pub.Topic() }

func (s *toVND) send(stamp int64, c quad.Command) error {
	bridge.PutThrustRates(&s.m, stamp, s.frame, c)
	return s.pub.Publish(&s.m)
}

type toMavros struct {
	pub   *ros.Publisher[mavrosmsgs.AttitudeTarget]
	frame string
	hover float64
	m     mavrosmsgs.AttitudeTarget
}

func (s *toMavros) topic() string { return s.pub.Topic() }

func (s *toMavros) send(stamp int64, c quad.Command) error {
	bridge.PutAttitudeTarget(&s.m, stamp, s.frame, c, s.hover)
	return s.pub.Publish(&s.m)
}

// toPX4 follows each setpoint with the proof of life without which PX4 leaves offboard mode: that never comes without a
// fresh setpoint, for PX4 does not notice when setpoints alone stop.
type toPX4 struct {
	pub   *ros.Publisher[px4msgs.VehicleRatesSetpoint]
	alive *ros.Publisher[px4msgs.OffboardControlMode]
	hover float64
	m     px4msgs.VehicleRatesSetpoint
	mode  px4msgs.OffboardControlMode
}

func newToPX4(h ros.Host, hover float64) (sender, error) {
	s := &toPX4{hover: hover, mode: px4msgs.OffboardControlMode{BodyRate: true}}
	var err error
	if s.pub, err = ros.NewPublisher[px4msgs.VehicleRatesSetpoint](h, "fmu/in/vehicle_rates_setpoint", component.CommandQoS()); err != nil {
		return nil, err
	}
	s.alive, err = ros.NewPublisher[px4msgs.OffboardControlMode](h, "fmu/in/offboard_control_mode", component.CommandQoS())
	return s, err
}

func (s *toPX4) topic() string { return s.pub.Topic() }

// send leaves the stamps to the autopilot, whose clock is another one.
func (s *toPX4) send(_ int64, c quad.Command) error {
	bridge.PutVehicleRatesSetpoint(&s.m, 0, c, s.hover)
	if err := s.pub.Publish(&s.m); err != nil {
		return err
	}
	return s.alive.Publish(&s.mode)
}
