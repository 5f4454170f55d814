package controller

import (
	"errors"
	"fmt"

	actuatormsgs "vnd/msgs/actuator_msgs"
	sensormsgs "vnd/msgs/sensor_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/control"
	"vnd/pkg/node"
	"vnd/pkg/robot/rotors"
	"vnd/pkg/ros2/ros"
)

// Topics of a vehicle whose motors are commanded.
const (
	motorsTopic = node.MotorsTopic
	imuTopic    = "imu"
)

// commandsMotors reports whether each motor is commanded.
func (p *Params) commandsMotors() bool { return p.CommandInterface == bridge.Rotors }

// robot is the kind that bundles have to be of.
func (p *Params) robot() string {
	if p.commandsMotors() {
		return rotors.Name
	}
	return p.Robot
}

// checkMotors refuses what cannot fly by motors.
func (p *Params) checkMotors() error {
	switch {
	case !p.commandsMotors() && p.Robot == rotors.Name:
		return fmt.Errorf("parameter robot is rotors, and command_interface %s takes thrust and body rates: expected "+
			"command_interface rotors", p.CommandInterface)
	case !p.commandsMotors():
		return nil
	case p.GuardProcess:
		return errors.New("command_interface rotors: parameter guard_process is true, expected false: flight_guard " +
			"takes thrust and body rates")
	}
	return p.Rotors.Check()
}

// flyMotors refuses commands of motors where somebody else would take thrust and body rates for them.
func (c *Controller) flyMotors(p *Params) error {
	switch {
	case !p.commandsMotors():
		return nil
	case c.role != bothSides:
		return errors.New("command_interface rotors: flight_guard takes thrust and body rates, expected none")
	case c.connectOwn != nil:
		return errors.New("command_interface rotors: the lab's autopilot takes thrust and body rates, expected none")
	}
	return nil
}

// bodyRates are what a gyroscope measured.
type bodyRates struct {
	at    int64 // ns
	rates so3.Vec3
}

// subscribeRates subscribes to body rates, where motors are commanded.
func (c *Controller) subscribeRates(p *Params, f *ticker, o ros.Option) error {
	if !p.commandsMotors() {
		return nil
	}
	full, err := c.ResolveTopic(imuTopic)
	if err != nil {
		return err
	}
	s, err := ros.NewSubscription(c, imuTopic, node.MocapQoS(), func(m *sensormsgs.Imu, _ ros.Info) {
		w, err := bridge.RatesOfImu(m)
		if err != nil {
			c.gauges.refuse(fmt.Errorf("topic %s: %w", full, err))
			return
		}
		at := bridge.Nanoseconds(m.Header.Stamp)
		if at == 0 {
			at = int64(c.Now())
		}
		f.rates.Put(func(r *bodyRates) { *r = bodyRates{at, w} })
	}, o)
	if err == nil {
		c.keep(s)
	}
	return err
}

// toMotors publishes a command of each motor.
type toMotors struct {
	pub   *ros.Publisher[actuatormsgs.Actuators]
	frame string
	m     actuatormsgs.Actuators
}

func newToMotors(c *Controller, p *Params) (sender, error) {
	pub, err := ros.NewPublisher[actuatormsgs.Actuators](c, motorsTopic, node.CommandQoS())
	if err != nil {
		return nil, err
	}
	c.keep(pub)
	return &toMotors{pub: pub, frame: p.BodyFrame}, nil
}

func (s *toMotors) topic() string { return s.pub.Topic() }

func (s *toMotors) send(stamp int64, _ *quad.State, d *control.Decision) error {
	bridge.PutActuators(&s.m, stamp, s.frame, d.Motors)
	return s.pub.Publish(&s.m)
}
