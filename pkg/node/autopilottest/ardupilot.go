package autopilottest

import (
	"cmp"
	"net"
	"time"

	mavrosmsgs "vnd/msgs/mavros_msgs"
	rclinterfaces "vnd/msgs/rcl_interfaces"
	sensormsgs "vnd/msgs/sensor_msgs"
	"vnd/pkg/bridge/ardupilot/sitl"
	"vnd/pkg/ros2/ros"
)

// copterModes are those of ArduPilot Copter by mavros' names.
var copterModes = map[string]uint32{
	mavrosmsgs.StateModeApmCopterStabilize:   0,
	mavrosmsgs.StateModeApmCopterGuided:      sitl.Guided,
	mavrosmsgs.StateModeApmCopterLoiter:      5,
	mavrosmsgs.StateModeApmCopterLand:        sitl.Land,
	mavrosmsgs.StateModeApmCopterBrake:       17,
	mavrosmsgs.StateModeApmCopterGuidedNogps: sitl.GuidedNoGPS,
}

// Ardupilot is mavros before ArduPilot's own firmware: the topics and services of Mavros, over MAVLink.
type Ardupilot struct {
	*sitl.Link
	Setpoint *parameters // of the node mavros/setpoint_raw

	states  *ros.Publisher[mavrosmsgs.State]
	battery *ros.Publisher[sensormsgs.BatteryState]
}

// NewArdupilot connects to a firmware's serial line, HOST:PORT. All names begin with prefix.
func NewArdupilot(n *ros.Node, prefix, address string) (*Ardupilot, error) {
	conn, err := net.Dial("tcp4", address)
	if err != nil {
		return nil, err
	}
	a := &Ardupilot{Link: sitl.NewLink(conn)}
	a.Setpoint, err = serveParameters(n, prefix+"mavros/setpoint_raw")
	a.Setpoint.Set("thrust_scaling", Double(1)) // of apm_config.yaml
	_, params := ros.NewService(n, prefix+"mavros/param/get_parameters", a.parameters)
	var states, battery error
	a.states, states = ros.NewPublisher[mavrosmsgs.State](n, prefix+"mavros/state", ros.DefaultQoS())
	a.battery, battery = ros.NewPublisher[sensormsgs.BatteryState](n, prefix+"mavros/battery", sensorQoS())
	_, mode := ros.NewService(n, prefix+"mavros/set_mode",
		func(q *mavrosmsgs.SetModeRequest, r *mavrosmsgs.SetModeResponse) {
			number, known := copterModes[q.CustomMode]
			r.ModeSent = known && a.Enter(number) == nil
		})
	const armDisarm = 400 // MAV_CMD_COMPONENT_ARM_DISARM
	_, arming := ros.NewService(n, prefix+"mavros/cmd/arming",
		func(q *mavrosmsgs.CommandBoolRequest, r *mavrosmsgs.CommandBoolResponse) {
			arm := float32(0)
			if q.Value {
				arm = 1
			}
			r.Success, r.Result = a.Ordered(armDisarm, arm)
		})
	_, command := ros.NewService(n, prefix+"mavros/cmd/command",
		func(q *mavrosmsgs.CommandLongRequest, r *mavrosmsgs.CommandLongResponse) {
			r.Success, r.Result = a.Ordered(q.Command, q.Param1, q.Param2, q.Param3, q.Param4, q.Param5, q.Param6,
				q.Param7)
		})
	_, setpoints := ros.NewSubscription(n, prefix+"mavros/setpoint_raw/attitude", sensorQoS(),
		func(m *mavrosmsgs.AttitudeTarget, _ ros.Info) { _ = a.Aim(sitl.Setpoint(m)) })
	return a, cmp.Or(err, params, states, battery, mode, arming, command, setpoints)
}

// parameters answers for the firmware's: not set for one that has not come yet, which is then asked for.
func (a *Ardupilot) parameters(q *rclinterfaces.GetParametersRequest, r *rclinterfaces.GetParametersResponse) {
	const float = 9 // MAV_PARAM_TYPE_REAL32
	for _, name := range q.Names {
		v, known := a.Parameter(name)
		switch {
		case !known:
			_ = a.Ask(name)
			r.Values = append(r.Values, parameterValue{})
		case v.Type == float:
			r.Values = append(r.Values, Double(float64(v.Value)))
		default:
			r.Values = append(r.Values, Integer(int64(v.Value)))
		}
	}
}

// Ordered gives an order and waits for the answer, MAV_RESULT.
func (a *Ardupilot) Ordered(command uint16, params ...float32) (accepted bool, result uint8) {
	const patience, failed = 5 * time.Second, 4
	if a.Order(command, params...) != nil {
		return false, failed
	}
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if result, answered := a.Result(command); answered {
			return result == 0, result
		}
	}
	return false, failed
}

// Mode is the one that it flies in; "" for another than those above.
func (a *Ardupilot) Mode() string {
	is, _, _ := a.State()
	for name, number := range copterModes {
		if number == is {
			return name
		}
	}
	return ""
}

// Say publishes what came last.
func (a *Ardupilot) Say() error {
	_, there, armed := a.State()
	return cmp.Or(a.Beat(), a.states.Publish(&mavrosmsgs.State{Connected: there, Armed: armed, Mode: a.Mode()}),
		a.battery.Publish(&sensormsgs.BatteryState{Voltage: float32(a.Volts())}))
}
