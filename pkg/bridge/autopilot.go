package bridge

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	mavrosmsgs "vnd/msgs/mavros_msgs"
	px4msgs "vnd/msgs/px4_msgs"
	sensormsgs "vnd/msgs/sensor_msgs"
	"vnd/pkg/ros2/cdr"
)

// Autopilot is what an autopilot says of itself.
type Autopilot struct {
	Connected bool   // it is heard
	Armed     bool   // its motors may run
	Offboard  bool   // it follows setpoints from outside
	Mode      string // that it flies in
}

// Follows reports whether it does what is sent.
func (a Autopilot) Follows() bool { return a.Armed && a.Offboard }

// ReadAutopilot reads a serialized message of TypeMavrosState or TypeVehicleStatus.
func ReadAutopilot(typeName string, data []byte) (Autopilot, error) {
	if typeName == TypeVehicleStatus {
		return FromVehicleStatus(data)
	}
	var m mavrosmsgs.State
	err := cdr.Unmarshal(data, &m)
	return FromMavrosState(&m), err
}

// ReadVoltage reads volts out of a serialized message of TypeBatteryState or TypeBatteryStatus.
func ReadVoltage(typeName string, data []byte) (float64, error) {
	if typeName == TypeBatteryStatus {
		return VoltageOfBatteryStatus(data)
	}
	var m sensormsgs.BatteryState
	err := cdr.Unmarshal(data, &m)
	return float64(m.Voltage), err
}

// FromMavrosState reads mavros_msgs/msg/State. PX4 follows setpoints in OFFBOARD, ArduPilot in GUIDED.
func FromMavrosState(m *mavrosmsgs.State) Autopilot {
	modes := []string{mavrosmsgs.StateModePx4Offboard, mavrosmsgs.StateModeApmCopterGuided,
		mavrosmsgs.StateModeApmCopterGuidedNogps}
	return Autopilot{m.Connected, m.Armed, slices.Contains(modes, m.Mode), strings.Clone(m.Mode)}
}

// FromBridgeState reads mavros_msgs/msg/State of betaflight_bridge. Its modes are sentences; guided says that commands
// are followed.
func FromBridgeState(m *mavrosmsgs.State) Autopilot {
	return Autopilot{m.Connected, m.Armed, m.Guided, strings.Clone(m.Mode)}
}

// ReadBridgeState is FromBridgeState of a serialized message.
func ReadBridgeState(data []byte) (Autopilot, error) {
	var m mavrosmsgs.State
	err := cdr.Unmarshal(data, &m)
	return FromBridgeState(&m), err
}

// FromVehicleStatus reads a serialized px4_msgs/msg/VehicleStatus of any version: its first fields are the same in all.
func FromVehicleStatus(data []byte) (Autopilot, error) {
	return FromVehicleStatusIn(data, px4msgs.VehicleStatusNavigationStateOffboard)
}

// FromVehicleStatusIn is FromVehicleStatus of a vehicle that follows setpoints in the nav_state follows.
func FromVehicleStatusIn(data []byte, follows uint8) (Autopilot, error) {
	const name = "px4_msgs/msg/VehicleStatus."
	var d cdr.Decoder
	d.Reset(data)
	for _, field := range [...]string{"timestamp", "armed_time", "takeoff_time"} {
		d.Uint64(name + field)
	}
	arming := d.Uint8(name + "arming_state")
	d.Uint8(name + "latest_arming_reason")
	d.Uint8(name + "latest_disarming_reason")
	d.Uint64(name + "nav_state_timestamp")
	d.Uint8(name + "nav_state_user_intention")
	nav := d.Uint8(name + "nav_state")
	return Autopilot{true, arming == px4msgs.VehicleStatusArmingStateArmed, nav == follows, navState(nav)}, d.Err()
}

// navState names a nav_state of PX4.
func navState(n uint8) string {
	switch n {
	case px4msgs.VehicleStatusNavigationStateManual:
		return "MANUAL"
	case px4msgs.VehicleStatusNavigationStateAltctl:
		return "ALTCTL"
	case px4msgs.VehicleStatusNavigationStatePosctl:
		return "POSCTL"
	case px4msgs.VehicleStatusNavigationStateAutoTakeoff:
		return "AUTO_TAKEOFF"
	case px4msgs.VehicleStatusNavigationStateAutoLoiter:
		return "AUTO_LOITER"
	case px4msgs.VehicleStatusNavigationStateAutoRtl:
		return "AUTO_RTL"
	case px4msgs.VehicleStatusNavigationStateDescend:
		return "DESCEND"
	case px4msgs.VehicleStatusNavigationStateTermination:
		return "TERMINATION"
	case px4msgs.VehicleStatusNavigationStateOffboard:
		return "OFFBOARD"
	case px4msgs.VehicleStatusNavigationStateStab:
		return "STAB"
	case px4msgs.VehicleStatusNavigationStateAutoLand:
		return "AUTO_LAND"
	}
	return fmt.Sprintf("nav_state %d", n)
}

// VoltageOfBatteryStatus reads volts out of a serialized px4_msgs/msg/BatteryStatus of any version: voltage_v is the
// second word behind the stamp in all, whether or not an id stands before it.
func VoltageOfBatteryStatus(data []byte) (float64, error) {
	const name = "px4_msgs/msg/BatteryStatus."
	var d cdr.Decoder
	d.Reset(data)
	d.Uint64(name + "timestamp")
	d.Uint8(name + "connected")
	return float64(d.Float32(name + "voltage_v")), d.Err()
}

// Disarm is the command that disarms PX4: a person arms it. PX4 stamps it.
func Disarm() px4msgs.VehicleCommand {
	return px4Command(uint32(px4msgs.VehicleCommandVehicleCmdComponentArmDisarm),
		float32(px4msgs.VehicleCommandArmingActionDisarm), 0)
}

// disarmForce is the magic number of MAV_CMD_COMPONENT_ARM_DISARM's param2: the motors stop in the air, too.
const disarmForce = 21196

// Kill is Disarm by which PX4 stops the motors in the air, too.
func Kill() px4msgs.VehicleCommand {
	return px4Command(uint32(px4msgs.VehicleCommandVehicleCmdComponentArmDisarm),
		float32(px4msgs.VehicleCommandArmingActionDisarm), disarmForce)
}

// KillByMavros is the same of PX4 or ArduPilot behind mavros.
func KillByMavros() mavrosmsgs.CommandLongRequest {
	return mavrosmsgs.CommandLongRequest{Command: uint16(px4msgs.VehicleCommandVehicleCmdComponentArmDisarm),
		Param1: float32(px4msgs.VehicleCommandArmingActionDisarm), Param2: disarmForce}
}

// Kills reports whether a MAVLink command with its first two numbers stops the motors in the air.
func Kills(command uint32, param1, param2 float32) bool {
	return command == uint32(px4msgs.VehicleCommandVehicleCmdComponentArmDisarm) &&
		param1 == float32(px4msgs.VehicleCommandArmingActionDisarm) && param2 == disarmForce
}

// Land is the command that has PX4 land where it is.
func Land() px4msgs.VehicleCommand {
	return px4Command(uint32(px4msgs.VehicleCommandVehicleCmdNavLand), 0, 0)
}

// PX4's offboard mode, as VEHICLE_CMD_DO_SET_MODE has it: base mode with MAV_MODE_FLAG_CUSTOM_MODE_ENABLED, and main
// mode.
const (
	px4CustomMode   = 1
	px4MainOffboard = 6
)

// ToOffboard is the command that has PX4 follow setpoints from outside. PX4 stamps it.
func ToOffboard() px4msgs.VehicleCommand {
	return px4Command(uint32(px4msgs.VehicleCommandVehicleCmdDoSetMode), px4CustomMode, px4MainOffboard)
}

func px4Command(command uint32, param1, param2 float32) px4msgs.VehicleCommand {
	return px4msgs.VehicleCommand{Command: command, Param1: param1, Param2: param2,
		TargetSystem: 1, TargetComponent: 1, SourceSystem: 1, SourceComponent: 1, FromExternal: true}
}

// FromVehicleCommand says what a command asks for: to arm, to disarm, or offboard mode. known is false for all else.
func FromVehicleCommand(m *px4msgs.VehicleCommand) (arm, disarm, offboard, known bool) {
	switch m.Command {
	case uint32(px4msgs.VehicleCommandVehicleCmdComponentArmDisarm):
		arm = m.Param1 == float32(px4msgs.VehicleCommandArmingActionArm)
		return arm, !arm, false, true
	case uint32(px4msgs.VehicleCommandVehicleCmdDoSetMode):
		return false, false, m.Param1 == px4CustomMode && m.Param2 == px4MainOffboard, true
	}
	return false, false, false, false
}

// Version is that of a PX4 topic: name is base, of version 0, or base_vN. ok is false for another topic.
func Version(name, base string) (version int, ok bool) {
	rest, ok := strings.CutPrefix(name, base)
	if !ok || rest == "" {
		return 0, ok
	}
	n, ok := strings.CutPrefix(rest, "_v")
	if !ok {
		return 0, false
	}
	v, err := strconv.Atoi(n)
	return v, err == nil && v > 0 && strconv.Itoa(v) == n
}
