package bridge

import (
	"errors"
	"fmt"
	"math"

	mavrosmsgs "vnd/msgs/mavros_msgs"
	rclinterfaces "vnd/msgs/rcl_interfaces"
)

// ArduPilot's settings that a command of body rates and thrust needs, as mavros names them.
const (
	GuidOptions   = "GUID_OPTIONS" // parameter of the firmware, of the node mavros/param
	AngleBoost    = "ATC_ANGLE_BOOST"
	SpinMin       = "MOT_SPIN_MIN"
	SpinMax       = "MOT_SPIN_MAX"
	ThrustExpo    = "MOT_THST_EXPO"
	ThrustScaling = "thrust_scaling" // parameter of the node mavros/setpoint_raw

	thrustAsThrust = 8 // bit 3 of GUID_OPTIONS, SetAttitudeTarget_ThrustAsThrust
)

// ErrNotKnown says that a peer has no such parameter, or has not got it from the firmware yet.
var ErrNotKnown = errors.New("is not known")

// ArdupilotGuided reports whether a mode by mavros' name is one in which ArduPilot Copter follows setpoints.
func ArdupilotGuided(mode string) bool {
	return mode == mavrosmsgs.StateModeApmCopterGuided || mode == mavrosmsgs.StateModeApmCopterGuidedNogps
}

// CheckGuidOptions refuses a GUID_OPTIONS under which ArduPilot takes the field thrust for a climb rate.
func CheckGuidOptions(v *rclinterfaces.ParameterValue) error {
	n, err := integer(v)
	switch {
	case err != nil:
		return fmt.Errorf("ArduPilot's %s %w to mavros: is the firmware ArduPilot Copter, and has mavros read its "+
			"parameters (ros2 service call mavros/param/pull)?", GuidOptions, err)
	case n&thrustAsThrust == 0:
		return fmt.Errorf("ArduPilot's %s is %d, so that it takes thrust for a climb rate: set bit 3 (value %d)",
			GuidOptions, n, n|thrustAsThrust)
	}
	return nil
}

// CheckAngleBoost refuses an ATC_ANGLE_BOOST under which ArduPilot gives a tilted vehicle more thrust than it is told.
func CheckAngleBoost(v *rclinterfaces.ParameterValue) error {
	switch n, err := integer(v); {
	case err != nil:
		return fmt.Errorf("ArduPilot's %s %w to mavros", AngleBoost, err)
	case n != 0:
		return fmt.Errorf("ArduPilot's %s is %d, so that it divides thrust by the cosine of the tilt: set 0",
			AngleBoost, n)
	}
	return nil
}

// Spin is how ArduPilot's throttle u becomes what drives a motor: Min + (Max − Min)·r, where r is the root of
// (1 − Expo)·r + Expo·r² = u. With the right Expo, thrust is then that at Min and one in proportion to u.
type Spin struct{ Min, Max, Expo float64 }

// ReadSpin reads it out of MOT_SPIN_MIN, MOT_SPIN_MAX and MOT_THST_EXPO, as mavros holds them.
func ReadSpin(least, most, expo *rclinterfaces.ParameterValue) (s Spin, err error) {
	for _, p := range []struct {
		name string
		v    *rclinterfaces.ParameterValue
		to   *float64
	}{{SpinMin, least, &s.Min}, {SpinMax, most, &s.Max}, {ThrustExpo, expo, &s.Expo}} {
		switch p.v.Type {
		case rclinterfaces.ParameterTypeParameterDouble:
			*p.to = p.v.DoubleValue
		case rclinterfaces.ParameterTypeParameterInteger:
			*p.to = float64(p.v.IntegerValue)
		default:
			return s, fmt.Errorf("ArduPilot's %s %w to mavros", p.name, ErrNotKnown)
		}
	}
	return s, nil
}

// Least is the thrust at no throttle over that of a hover at a throttle. The motors' own curve of thrust over what
// drives them, (1 − c)·x + c·x², is the one that Expo makes up for.
func (s Spin) Least(hover float64) float64 {
	b := s.Max - s.Min
	c := s.Expo / (b + s.Expo*(1-2*s.Min-b))
	of := func(x float64) float64 { return x * (1 - c + c*x) }
	return max(0, of(s.Min)/(of(s.Min)+(of(s.Max)-of(s.Min))*hover)) // rounding has a sign
}

// CheckLeastThrust refuses a Throttle that does not know of the thrust at which ArduPilot keeps motors turning.
func CheckLeastThrust(t *Throttle, s Spin) error {
	const near = 0.03 // of the weight
	if want := s.Least(t.force(t.Hover)); !(math.Abs(t.Least-want) <= near) {
		return fmt.Errorf("parameter least_thrust is %g, expected %.3f: ArduPilot's motors give that share of the "+
			"weight at no throttle, by %s %g, %s %g and %s %g", t.Least, want, SpinMin, s.Min, SpinMax, s.Max,
			ThrustExpo, s.Expo)
	}
	return nil
}

// CheckThrustScaling refuses a factor of mavros' other than 1; without one mavros drops what has thrust.
func CheckThrustScaling(v *rclinterfaces.ParameterValue) error {
	switch {
	case v.Type != rclinterfaces.ParameterTypeParameterDouble:
		return fmt.Errorf("parameter %s of mavros/setpoint_raw %w, expected 1", ThrustScaling, ErrNotKnown)
	case v.DoubleValue != 1:
		return fmt.Errorf("parameter %s of mavros/setpoint_raw is %g, expected 1, as apm_config.yaml has it",
			ThrustScaling, v.DoubleValue)
	}
	return nil
}

// integer is a parameter's whole number, which mavros may hold as a float.
func integer(v *rclinterfaces.ParameterValue) (int64, error) {
	const most = 1 << 53 // up to here each is known; beyond int64 processors convert differently
	switch x := v.DoubleValue; {
	case v.Type == rclinterfaces.ParameterTypeParameterInteger:
		return v.IntegerValue, nil
	case v.Type == rclinterfaces.ParameterTypeParameterDouble && x == math.Trunc(x) && math.Abs(x) <= most:
		return int64(x), nil
	}
	return 0, ErrNotKnown
}
