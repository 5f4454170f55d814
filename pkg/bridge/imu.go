package bridge

import (
	"errors"
	"fmt"

	sensormsgs "vnd/msgs/sensor_msgs"
	"vnd/pkg/core/so3"
)

// Inertial is one sample of an IMU, in its own frame.
type Inertial struct {
	Stamp int64    // of the sender, ns since the epoch of its clock; 0: the message has none
	Rates so3.Vec3 // rad/s
	Force so3.Vec3 // specific force, m/s²: REP-145 has +9.81 along z where an FLU sensor lies level
	Frame string   // name of its frame
}

// PutInertial fills m with body rates, rad/s, and specific force, m/s², and says that there is no attitude.
func PutInertial(m *sensormsgs.Imu, stamp int64, frame string, rates, force so3.Vec3) {
	m.Header.Stamp, m.Header.FrameID = Time(stamp), frame
	m.AngularVelocity, m.LinearAcceleration = vector3(rates), vector3(force)
	m.OrientationCovariance[0] = -1
}

// greatestForce is beyond what an accelerometer gives, m/s²: 32 g are 314.
const greatestForce = 1000

// FromImu refuses messages without rates or acceleration, and those in units of their own.
func FromImu(m *sensormsgs.Imu) (Inertial, error) {
	w, err := RatesOfImu(m)
	if err != nil {
		return Inertial{}, err
	}
	f := vec(m.LinearAcceleration)
	switch n := f.Norm(); {
	case m.LinearAccelerationCovariance[0] == -1:
		return Inertial{}, errors.New("linear_acceleration_covariance[0] is -1: there is no acceleration in the " +
			"message")
	case !(n <= greatestForce):
		return Inertial{}, fmt.Errorf("linear_acceleration is %.4g in all, expected at most %d m/s²", n, greatestForce)
	}
	return Inertial{Stamp: Nanoseconds(m.Header.Stamp), Rates: w, Force: f, Frame: m.Header.FrameID}, nil
}
