package bridge

import (
	"fmt"
	"math"

	crazyflieinterfaces "vnd/msgs/crazyflie_interfaces"
	geometrymsgs "vnd/msgs/geometry_msgs"
	rclinterfaces "vnd/msgs/rcl_interfaces"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// Command interfaces of a Crazyflie behind crazyswarm2's server: cmd_vel_legacy, and cmd_full_state.
const (
	Crazyswarm2          = "crazyswarm2"
	Crazyswarm2FullState = "crazyswarm2_full_state"
)

// mostPWM is the most that the server and the firmware let through.
const mostPWM = 60000

// PutTwist fills m for cmd_vel_legacy in rate mode, the inverse of FromTwist, at a battery's volts, 0 for not known. It
// says when the throttle that was asked for is beyond what the firmware takes and was clipped.
func PutTwist(m *geometrymsgs.Twist, c quad.Command, t *Throttle, volts float64) (clipped bool) {
	const degree = 180 / math.Pi
	throttle, clipped := t.Of(c.Thrust, volts)
	if throttle > mostPWM/float64(fullPWM) {
		throttle, clipped = mostPWM/float64(fullPWM), true
	}
	*m = geometrymsgs.Twist{
		Linear: geometrymsgs.Vector3{X: c.Rates.Y * degree, Y: c.Rates.X * degree,
			Z: math.Round(throttle * fullPWM)},
		Angular: geometrymsgs.Vector3{Z: -c.Rates.Z * degree},
	}
	return clipped
}

// PutFullState fills m for cmd_full_state: the state s as it is ahead seconds later under c, which the firmware's
// controller then finds no fault with, and thrust and rates of c. Its own mass, not a throttle, makes force of them.
func PutFullState(m *crazyflieinterfaces.FullState, stamp int64, frame string, s *quad.State, c quad.Command,
	ahead float64) {
	const longest = 0.1 // s
	ahead = min(max(ahead, 0), longest)
	q := s.Q.Mul(so3.Exp(c.Rates.Scale(ahead)))
	a := q.ZAxis().Scale(c.Thrust).Sub(so3.Vec3{Z: quad.Gravity})
	p := s.P.Add(s.V.Scale(ahead)).Add(a.Scale(ahead * ahead / 2))
	m.Header.Stamp, m.Header.FrameID = Time(stamp), frame
	putPose(&m.Pose, quad.State{P: p, Q: q})
	m.Twist.Linear, m.Twist.Angular = vector3(s.V.Add(a.Scale(ahead))), vector3(c.Rates)
	m.Acc = vector3(a)
}

// FullStateReach is how far from the origin a FullState may be, m, for its 16 bits.
const FullStateReach = 32.7

// CrazyflieSettings are those of the firmware under which it follows a command interface.
type CrazyflieSettings []struct {
	name  string
	value int64
	takes string // what it does not take under another value
}

// CrazyflieSettingsOf are those of Crazyswarm2 or Crazyswarm2FullState. Of the controllers PID (1) alone is known to
// follow rates by cmd_vel_legacy, where stabModes of 0 are rates, and Mellinger's (2) what cmd_full_state has.
func CrazyflieSettingsOf(commandInterface string) CrazyflieSettings {
	if commandInterface == Crazyswarm2FullState {
		return CrazyflieSettings{{"stabilizer.controller", 2, "accelerations and rates"}}
	}
	return CrazyflieSettings{{"flightmode.stabModeRoll", 0, "rates"}, {"flightmode.stabModePitch", 0, "rates"},
		{"flightmode.stabModeYaw", 0, "rates"}, {"stabilizer.controller", 1, "rates"}}
}

// Parameters are the names of the settings at the server, for the Crazyflie of a name.
func (all CrazyflieSettings) Parameters(name string) []string {
	names := make([]string, len(all))
	for i, s := range all {
		names[i] = name + ".params." + s.name
	}
	return names
}

// Values are those that Check takes.
func (all CrazyflieSettings) Values() []int64 {
	values := make([]int64, len(all))
	for i, s := range all {
		values[i] = s.value
	}
	return values
}

// Check refuses values of Parameters under which setpoints would be taken for something else.
func (all CrazyflieSettings) Check(values []rclinterfaces.ParameterValue) error {
	for i, s := range all {
		n, err := integer(&values[i])
		switch {
		case err != nil:
			return fmt.Errorf("the Crazyflie's parameter %s %w to crazyflie_server: set it to %d under "+
				"firmware_params in crazyflies.yaml", s.name, err, s.value)
		case n != s.value:
			return fmt.Errorf("the Crazyflie's parameter %s is %d, so that it takes no %s: set it to %d under "+
				"firmware_params in crazyflies.yaml", s.name, n, s.takes, s.value)
		}
	}
	return nil
}

// FromCrazyflieStatus reads its state; flying says that it is in the air. locked is what keeps it from flying, "" for
// nothing. Whether it follows is not in it: setpoints are followed as they come.
func FromCrazyflieStatus(m *crazyflieinterfaces.Status) (a Autopilot, flying bool, locked string) {
	has := func(bit uint16) bool { return m.SupervisorInfo&bit != 0 }
	a = Autopilot{Connected: true, Armed: has(crazyflieinterfaces.StatusSupervisorInfoIsArmed), Mode: "HIGH_LEVEL"}
	switch {
	case has(crazyflieinterfaces.StatusSupervisorInfoIsLocked):
		locked = "the Crazyflie's supervisor is locked, after a crash or an emergency stop: start it anew"
	case has(crazyflieinterfaces.StatusSupervisorInfoIsTumbled):
		locked = "the Crazyflie lies on its side or its back: put it on its feet"
	}
	return a, has(crazyflieinterfaces.StatusSupervisorInfoIsFlying), locked
}
