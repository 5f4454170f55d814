package autopilottest

import (
	"cmp"
	"net"
	"time"

	mavrosmsgs "vnd/msgs/mavros_msgs"
	rclinterfaces "vnd/msgs/rcl_interfaces"
	sensormsgs "vnd/msgs/sensor_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/bridge/ardupilot/sitl"
	"vnd/pkg/bridge/mavlink"
	"vnd/pkg/bridge/mavlink/lockstep"
	px4 "vnd/pkg/bridge/px4/sitl"
	"vnd/pkg/ros2/ros"
)

// modes are those of firmware by mavros' names.
var modes = map[string]map[string]uint32{
	bridge.Ardupilot: {
		mavrosmsgs.StateModeApmCopterStabilize:   0,
		mavrosmsgs.StateModeApmCopterGuided:      sitl.Guided,
		mavrosmsgs.StateModeApmCopterLoiter:      5,
		mavrosmsgs.StateModeApmCopterLand:        sitl.Land,
		mavrosmsgs.StateModeApmCopterBrake:       17,
		mavrosmsgs.StateModeApmCopterGuidedNogps: sitl.GuidedNoGPS,
	},
	bridge.PX4: { // the main mode, and a mode of it
		mavrosmsgs.StateModePx4Manual:   1 << 16,
		mavrosmsgs.StateModePx4Position: 3 << 16,
		mavrosmsgs.StateModePx4Takeoff:  4<<16 | 2<<24,
		mavrosmsgs.StateModePx4Loiter:   4<<16 | 3<<24,
		mavrosmsgs.StateModePx4Rtl:      4<<16 | 5<<24,
		mavrosmsgs.StateModePx4Land:     4<<16 | 6<<24,
		mavrosmsgs.StateModePx4Offboard: px4.Offboard,
	},
}

// networks are those of the lines to firmware.
var networks = map[string]string{bridge.Ardupilot: "tcp4", bridge.PX4: "udp4"}

// Firmware is mavros before an autopilot's own firmware: the topics and services of Mavros, over MAVLink.
type Firmware struct {
	*mavlink.Link
	Setpoint *parameters // of the node mavros/setpoint_raw

	modes   map[string]uint32
	states  *ros.Publisher[mavrosmsgs.State]
	battery *ros.Publisher[sensormsgs.BatteryState]
}

// NewFirmware connects to a line, HOST:PORT, of ArduPilot's or PX4's firmware, as the command interface of that name
// says. All names begin with prefix.
func NewFirmware(n *ros.Node, prefix, kind, address string) (*Firmware, error) {
	conn, err := net.Dial(networks[kind], address)
	if err != nil {
		return nil, err
	}
	f := &Firmware{Link: mavlink.NewLink(conn), modes: modes[kind]}
	f.Setpoint, err = serveParameters(n, prefix+"mavros/setpoint_raw")
	f.Setpoint.Set("thrust_scaling", Double(1)) // of apm_config.yaml
	_, params := ros.NewService(n, prefix+"mavros/param/get_parameters", f.parameters)
	var states, battery error
	f.states, states = ros.NewPublisher[mavrosmsgs.State](n, prefix+"mavros/state", ros.DefaultQoS())
	f.battery, battery = ros.NewPublisher[sensormsgs.BatteryState](n, prefix+"mavros/battery", sensorQoS())
	_, mode := ros.NewService(n, prefix+"mavros/set_mode",
		func(q *mavrosmsgs.SetModeRequest, r *mavrosmsgs.SetModeResponse) {
			number, known := f.modes[q.CustomMode]
			r.ModeSent = known && f.Enter(number) == nil
		})
	const armDisarm = 400 // MAV_CMD_COMPONENT_ARM_DISARM
	_, arming := ros.NewService(n, prefix+"mavros/cmd/arming",
		func(q *mavrosmsgs.CommandBoolRequest, r *mavrosmsgs.CommandBoolResponse) {
			arm := float32(0)
			if q.Value {
				arm = 1
			}
			r.Success, r.Result = f.Ordered(armDisarm, arm)
		})
	_, command := ros.NewService(n, prefix+"mavros/cmd/command",
		func(q *mavrosmsgs.CommandLongRequest, r *mavrosmsgs.CommandLongResponse) {
			r.Success, r.Result = f.Ordered(q.Command, q.Param1, q.Param2, q.Param3, q.Param4, q.Param5, q.Param6,
				q.Param7)
		})
	_, setpoints := ros.NewSubscription(n, prefix+"mavros/setpoint_raw/attitude", sensorQoS(),
		func(m *mavrosmsgs.AttitudeTarget, _ ros.Info) { _ = f.Aim(lockstep.Setpoint(m)) })
	return f, cmp.Or(err, params, states, battery, mode, arming, command, setpoints)
}

// parameters answers for the firmware's: not set for one that has not come yet, which is then asked for.
func (f *Firmware) parameters(q *rclinterfaces.GetParametersRequest, r *rclinterfaces.GetParametersResponse) {
	for _, name := range q.Names {
		v, known := f.Parameter(name)
		switch {
		case !known:
			_ = f.Ask(name)
			r.Values = append(r.Values, parameterValue{})
		case v.Integer:
			r.Values = append(r.Values, Integer(int64(v.Value)))
		default:
			r.Values = append(r.Values, Double(v.Value))
		}
	}
}

// Ordered gives an order and waits for the answer, MAV_RESULT.
func (f *Firmware) Ordered(command uint16, params ...float32) (accepted bool, result uint8) {
	const patience, failed = 5 * time.Second, 4
	if f.Order(command, params...) != nil {
		return false, failed
	}
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if result, answered := f.Result(command); answered {
			return result == 0, result
		}
	}
	return false, failed
}

// Mode is the one that it flies in; "" for another than those above.
func (f *Firmware) Mode() string {
	is, _, _ := f.State()
	for name, number := range f.modes {
		if number == is {
			return name
		}
	}
	return ""
}

// Say publishes what came last.
func (f *Firmware) Say() error {
	_, there, armed := f.State()
	return cmp.Or(f.Beat(), f.states.Publish(&mavrosmsgs.State{Connected: there, Armed: armed, Mode: f.Mode()}),
		f.battery.Publish(&sensormsgs.BatteryState{Voltage: float32(f.Volts())}))
}
