package bridge

import (
	"fmt"

	actuatormsgs "vnd/msgs/actuator_msgs"
	sensormsgs "vnd/msgs/sensor_msgs"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/motors"
)

// Rotors is a command interface: actuator_msgs/msg/Actuators, a command for each motor, 0 … 1 of full speed.
const Rotors = "rotors"

// Types of the topics of a vehicle whose motors are commanded.
const (
	TypeActuators = "actuator_msgs/msg/Actuators"
	TypeImu       = "sensor_msgs/msg/Imu"
)

// PutActuators fills m with a share of full speed for each motor, 0 … 1; frame is the name of the body's frame. After
// the first time it allocates nothing.
func PutActuators(m *actuatormsgs.Actuators, stamp int64, frame string, c motors.Command) {
	m.Header.Stamp, m.Header.FrameID = Time(stamp), frame
	m.Normalized = append(m.Normalized[:0], c[:]...)
}

// FromActuators refuses what is no share of full speed for each of four motors.
func FromActuators(m *actuatormsgs.Actuators) (c motors.Command, err error) {
	if len(m.Normalized) != motors.Count {
		return c, fmt.Errorf("normalized has %d numbers, expected %d: front right, rear right, rear left, "+
			"front left", len(m.Normalized), motors.Count)
	}
	for i, u := range m.Normalized {
		if !(u >= 0 && u <= 1) {
			return c, fmt.Errorf("normalized[%d] is %.4g, expected 0 to 1 of full speed", i, u)
		}
		c[i] = u
	}
	return c, nil
}

// PutImu fills m with body rates, rad/s, FLU, and says that there is nothing else in it.
func PutImu(m *sensormsgs.Imu, stamp int64, frame string, rates so3.Vec3) {
	m.Header.Stamp, m.Header.FrameID = Time(stamp), frame
	m.AngularVelocity = vector3(rates)
	m.OrientationCovariance[0], m.LinearAccelerationCovariance[0] = -1, -1
}

// FastestTurn is beyond what a gyroscope gives and what a command asks for, rad/s: 2000 °/s is 35.
const FastestTurn = 70

// RatesOfImu are the body rates that a gyroscope measured, rad/s, FLU.
func RatesOfImu(m *sensormsgs.Imu) (so3.Vec3, error) {
	w := vec(m.AngularVelocity)
	switch n := w.Norm(); {
	case m.AngularVelocityCovariance[0] == -1:
		return w, fmt.Errorf("angular_velocity_covariance[0] is -1: there are no body rates in the message")
	case !(n <= FastestTurn):
		return w, fmt.Errorf("angular_velocity is %.4g rad/s in all, expected at most %d: are these degrees per "+
			"second?", n, FastestTurn)
	}
	return w, nil
}
