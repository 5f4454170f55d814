package bridge

import (
	"errors"
	"fmt"

	as2msgs "vnd/msgs/as2_msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	mrsmsgs "vnd/msgs/mrs_msgs"
	"vnd/pkg/core/quad"
	"vnd/pkg/ros2/cdr"
)

// Command interfaces of what stands between a controller and an autopilot in two frameworks.
const (
	Aerostack2 = "aerostack2" // a platform of Aerostack2: as2_msgs/msg/Thrust and geometry_msgs/msg/TwistStamped
	MRS        = "mrs"        // the hardware API of the MRS UAV system: mrs_msgs/msg/HwApiAttitudeRateCmd
)

// PutThrust fills m with the force on a mass, kg, and the throttle, 0 where that of a hover is not known.
func PutThrust(m *as2msgs.Thrust, stamp int64, frame string, c quad.Command, mass float64, t *Throttle) {
	m.Header.Stamp, m.Header.FrameID = Time(stamp), frame
	m.Thrust, m.ThrustNormalized = float32(mass*c.Thrust), 0
	if t.Hover > 0 {
		throttle, _ := t.Of(c.Thrust, 0)
		m.ThrustNormalized = float32(throttle)
	}
}

// PutRates fills m with body rates, FLU; frame is the name of the body's frame.
func PutRates(m *geometrymsgs.TwistStamped, stamp int64, frame string, c quad.Command) {
	m.Header.Stamp, m.Header.FrameID = Time(stamp), frame
	m.Twist.Linear, m.Twist.Angular = geometrymsgs.Vector3{}, vector3(c.Rates)
}

// FromThrustAndRates is the inverse of PutThrust and PutRates.
func FromThrustAndRates(m *as2msgs.Thrust, w *geometrymsgs.TwistStamped, mass float64) Command {
	return Command{Stamp: Nanoseconds(m.Header.Stamp),
		Command: quad.Command{Thrust: float64(m.Thrust) / mass, Rates: vec(w.Twist.Angular)}}
}

// ByRates is the mode in which a platform of Aerostack2 follows body rates and thrust.
func ByRates() as2msgs.ControlMode {
	return as2msgs.ControlMode{YawMode: as2msgs.ControlModeYawSpeed, ControlMode: as2msgs.ControlModeAcro,
		ReferenceFrame: as2msgs.ControlModeBodyFluFrame}
}

// BodyRates is the Mode of a platform of Aerostack2 that follows body rates and thrust.
const BodyRates = "BODY_RATES"

var as2Modes = map[int8]string{as2msgs.ControlModeUnset: "UNSET", as2msgs.ControlModeHover: "HOVER",
	as2msgs.ControlModePosition: "POSITION", as2msgs.ControlModeSpeed: "SPEED",
	as2msgs.ControlModeSpeedInAPlane: "SPEED_IN_A_PLANE", as2msgs.ControlModeAttitude: "ATTITUDE",
	as2msgs.ControlModeAcro: BodyRates, as2msgs.ControlModeTrajectory: "TRAJECTORY"}

// ReadPlatformInfo reads a serialized as2_msgs/msg/PlatformInfo of any release: those differ behind the mode. offboard
// is that of the platform, in whichever mode. A state of emergency is an error.
func ReadPlatformInfo(data []byte) (a Autopilot, offboard bool, err error) {
	const name = "as2_msgs/msg/PlatformInfo."
	var d cdr.Decoder
	var frame string
	d.Reset(data)
	header := func(of string) {
		d.Int32(name + of + "header.stamp.sec")
		d.Uint32(name + of + "header.stamp.nanosec")
		d.String(&frame, 0, name+of+"header.frame_id")
	}
	header("")
	a = Autopilot{Connected: d.Bool(name + "connected"), Armed: d.Bool(name + "armed")}
	offboard = d.Bool(name + "offboard")
	state := d.Int8(name + "status.state")
	header("current_control_mode.")
	d.Int8(name + "current_control_mode.yaw_mode")
	mode := d.Int8(name + "current_control_mode.control_mode")
	a.Offboard = offboard && mode == as2msgs.ControlModeAcro
	if a.Mode = as2Modes[mode]; a.Mode == "" {
		a.Mode = fmt.Sprintf("control_mode %d", mode)
	}
	if err = d.Err(); err == nil && state == as2msgs.PlatformStatusEmergency {
		err = errors.New("the platform is in EMERGENCY, and takes no commands: start it anew")
	}
	return a, offboard, err
}

// PutAttitudeRate fills m, at a battery's volts, 0 for not known. It says when the throttle was clipped.
func PutAttitudeRate(m *mrsmsgs.HwApiAttitudeRateCmd, stamp int64, c quad.Command, t *Throttle,
	volts float64) (clipped bool) {
	m.Stamp, m.BodyRate = Time(stamp), vector3(c.Rates)
	m.Throttle, clipped = t.Of(c.Thrust, volts)
	return clipped
}

// FromAttitudeRate is the inverse of PutAttitudeRate.
func FromAttitudeRate(m *mrsmsgs.HwApiAttitudeRateCmd, t *Throttle, volts float64) Command {
	c := Command{Stamp: Nanoseconds(m.Stamp)}
	c.Command.Rates = vec(m.BodyRate)
	c.Command.Thrust, c.Clipped = t.Thrust(m.Throttle, volts)
	return c
}

// CheckCapabilities refuses a hardware API that takes no body rates.
func CheckCapabilities(m *mrsmsgs.HwApiCapabilities) error {
	if !m.AcceptsAttitudeRateCmd {
		return fmt.Errorf("the hardware API %q takes no body rates (accepts_attitude_rate_cmd is false): have its "+
			"plugin take them", m.ApiName)
	}
	return nil
}
