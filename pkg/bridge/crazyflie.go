package bridge

import (
	"fmt"
	"math"

	crazyflieinterfaces "vnd/msgs/crazyflie_interfaces"
	geometrymsgs "vnd/msgs/geometry_msgs"
	rclinterfaces "vnd/msgs/rcl_interfaces"
	"vnd/pkg/core/quad"
)

// Crazyswarm2 is the command interface of a Crazyflie behind crazyswarm2's server.
const Crazyswarm2 = "crazyswarm2"

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

// crazyflieSettings are those of the firmware under which cmd_vel_legacy carries rates: stabModes of 0 are rates, and
// of the controllers PID (1) alone is known to follow them.
var crazyflieSettings = []struct {
	name  string
	value int64
}{{"flightmode.stabModeRoll", 0}, {"flightmode.stabModePitch", 0}, {"flightmode.stabModeYaw", 0},
	{"stabilizer.controller", 1}}

// CrazyflieParameters are the names of these settings at the server, for the Crazyflie of a name.
func CrazyflieParameters(name string) []string {
	all := make([]string, len(crazyflieSettings))
	for i, s := range crazyflieSettings {
		all[i] = name + ".params." + s.name
	}
	return all
}

// CheckCrazyflie refuses values of CrazyflieParameters under which cmd_vel_legacy carries angles.
func CheckCrazyflie(values []rclinterfaces.ParameterValue) error {
	for i, s := range crazyflieSettings {
		n, err := integer(&values[i])
		switch {
		case err != nil:
			return fmt.Errorf("the Crazyflie's parameter %s %w to crazyflie_server: set it to %d under "+
				"firmware_params in crazyflies.yaml", s.name, err, s.value)
		case n != s.value:
			return fmt.Errorf("the Crazyflie's parameter %s is %d, so that it takes no rates: set it to %d under "+
				"firmware_params in crazyflies.yaml", s.name, n, s.value)
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
