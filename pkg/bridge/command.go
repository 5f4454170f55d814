package bridge

import (
	"fmt"
	"math"

	"vnd/msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	mavrosmsgs "vnd/msgs/mavros_msgs"
	px4msgs "vnd/msgs/px4_msgs"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// Command interfaces, as the parameters command_interface name them: of policy_controller, and of recordings (package
// flightlog). PX4Mode and Crazyswarm2 are beside their messages. The first Crazyswarm is in recordings alone.
const (
	VND        = "vnd"        // vnd/msg/ThrustRates, or Step of vnd's own controller
	Mavros     = "mavros"     // mavros_msgs/msg/AttitudeTarget, to PX4
	Ardupilot  = "ardupilot"  // the same, to ArduPilot Copter
	PX4        = "px4"        // px4_msgs/msg/VehicleRatesSetpoint
	Betaflight = "betaflight" // vnd/msg/ThrustRates, to betaflight_bridge
	Crazyswarm = "crazyswarm" // geometry_msgs/msg/Twist on cmd_vel_legacy
)

// fullPWM is the Crazyflie's thrust at full throttle.
const fullPWM = 65535

// FromThrustRates has our own frames and units.
func FromThrustRates(m *msgs.ThrustRates) Command {
	c := Command{Stamp: Nanoseconds(m.Header.Stamp)}
	c.Command.Rates = vec(m.BodyRates)
	c.Command.Thrust, c.Clipped = clip(float64(m.Thrust), 0, math.Inf(1))
	return c
}

// CommandFromStep takes the command that vnd's own controller sent, after its guard; whether it was flown is said by
// the guard's stage.
func CommandFromStep(m *msgs.Step) Command {
	s := m.CommandSent
	c := Command{Stamp: Nanoseconds(m.Header.Stamp)}
	c.Command.Rates = so3.Vec3{X: s[1], Y: s[2], Z: s[3]}
	c.Command.Thrust, c.Clipped = clip(s[0], 0, math.Inf(1))
	return c
}

// ignoreRates are the bits of type_mask that leave a body rate to the autopilot.
const ignoreRates = mavrosmsgs.AttitudeTargetIgnoreRollRate | mavrosmsgs.AttitudeTargetIgnorePitchRate |
	mavrosmsgs.AttitudeTargetIgnoreYawRate

// FromAttitudeTarget wants a setpoint of body rates and thrust: type_mask IGNORE_ATTITUDE and nothing else. mavros
// takes FLU, and throttle clipped to 0…1, at a battery's volts, 0 for not known.
func FromAttitudeTarget(m *mavrosmsgs.AttitudeTarget, t *Throttle, volts float64) (Command, error) {
	mask := m.TypeMask
	switch {
	case mask&ignoreRates != 0:
		return Command{}, fmt.Errorf("type_mask is %d, which ignores body_rate (bits 1, 2, 4): an attitude is "+
			"commanded, expected 128, body rates and thrust", mask)
	case mask&mavrosmsgs.AttitudeTargetIgnoreThrust != 0:
		return Command{}, fmt.Errorf("type_mask is %d, which ignores thrust (bit 64), expected 128, body rates and "+
			"thrust", mask)
	case mask&mavrosmsgs.AttitudeTargetIgnoreAttitude == 0:
		return Command{}, fmt.Errorf("type_mask is %d, which commands orientation too, so that body_rate is not "+
			"what is followed, expected 128, body rates and thrust", mask)
	}
	c := Command{Stamp: Nanoseconds(m.Header.Stamp)}
	c.Command.Rates = vec(m.BodyRate)
	c.Command.Thrust, c.Clipped = t.Thrust(float64(m.Thrust), volts)
	return c, nil
}

// FromVehicleRatesSetpoint takes FRD to FLU; thrust_body is (0, 0, −throttle), at a battery's volts, 0 for not known.
func FromVehicleRatesSetpoint(m *px4msgs.VehicleRatesSetpoint, t *Throttle, volts float64) (Command, error) {
	if m.ThrustBody[0] != 0 || m.ThrustBody[1] != 0 {
		return Command{}, fmt.Errorf("thrust_body is %v, expected 0, 0, −throttle as of a multirotor", m.ThrustBody)
	}
	c := Command{Stamp: microseconds(m.Timestamp)}
	c.Command.Rates = SwapBody(vec32([3]float32{m.Roll, m.Pitch, m.Yaw}))
	c.Command.Thrust, c.Clipped = t.Thrust(-float64(m.ThrustBody[2]), volts)
	return c, nil
}

// FromTwist reads what Crazyswarm's cmd_vel_legacy carries when the firmware's flightmode.stabModeRoll, Pitch and Yaw
// are 0 (rates): deg/s about roll in linear.y, pitch in linear.x and, reversed, yaw in angular.z, and PWM in linear.z.
// The server negates the pitch and the firmware once more; the firmware alone negates the yaw.
func FromTwist(m *geometrymsgs.Twist, t *Throttle, volts float64) Command {
	const radian = math.Pi / 180
	var c Command
	c.Command.Rates = so3.Vec3{X: m.Linear.Y, Y: m.Linear.X, Z: -m.Angular.Z}.Scale(radian)
	c.Command.Thrust, c.Clipped = t.Thrust(m.Linear.Z/fullPWM, volts)
	return c
}

// clip keeps NaN.
func clip(x, low, high float64) (float64, bool) {
	if x < low {
		return low, true
	}
	if x > high {
		return high, true
	}
	return x, false
}

// PutThrustRates fills m; frame is the name of the body's frame. It allocates nothing.
func PutThrustRates(m *msgs.ThrustRates, stamp int64, frame string, c quad.Command) {
	m.Header.Stamp, m.Header.FrameID = Time(stamp), frame
	m.Thrust = float32(c.Thrust)
	m.BodyRates = vector3(c.Rates)
}

// PutAttitudeTarget fills m with a setpoint of body rates and thrust (type_mask 128), at a battery's volts, 0 for not
// known. It says when the throttle that was asked for is beyond 0…1 and was clipped.
func PutAttitudeTarget(m *mavrosmsgs.AttitudeTarget, stamp int64, frame string, c quad.Command, t *Throttle,
	volts float64) (clipped bool) {
	m.Header.Stamp, m.Header.FrameID = Time(stamp), frame
	m.TypeMask = mavrosmsgs.AttitudeTargetIgnoreAttitude
	m.Orientation = geometrymsgs.Quaternion{W: 1}
	m.BodyRate = vector3(c.Rates)
	throttle, clipped := t.Of(c.Thrust, volts)
	m.Thrust = float32(throttle)
	return clipped
}

// PutVehicleRatesSetpoint fills m, at a battery's volts, 0 for not known; with stamp 0 the autopilot stamps it. It says
// when the throttle that was asked for is beyond 0…1 and was clipped.
func PutVehicleRatesSetpoint(m *px4msgs.VehicleRatesSetpoint, stamp int64, c quad.Command, t *Throttle,
	volts float64) (clipped bool) {
	throttle, clipped := t.Of(c.Thrust, volts)
	rates := SwapBody(c.Rates)
	*m = px4msgs.VehicleRatesSetpoint{
		Timestamp: uint64(max(stamp, 0)) / 1000,
		Roll:      float32(rates.X), Pitch: float32(rates.Y), Yaw: float32(rates.Z),
		ThrustBody: [3]float32{0, 0, -float32(throttle)},
	}
	return clipped
}
