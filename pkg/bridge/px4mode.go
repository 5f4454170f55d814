package bridge

import (
	"bytes"
	"fmt"

	px4msgs "vnd/msgs/px4_msgs"
	"vnd/pkg/ros2/cdr"
)

// PX4Mode is the command interface of a flight mode that PX4 1.16 and 1.17 take from outside: VehicleRatesSetpoint, as
// in PX4, and in place of offboard's proof of life answers to PX4's arming checks.
const PX4Mode = "px4_mode"

// modeName is the mode's at a ground station.
const modeName = "vnd"

// ModeRegistration is what PX4 has given a mode that it took.
type ModeRegistration struct {
	ArmingCheck int8  // id of its answers to arming checks
	Mode        uint8 // nav_state while it flies
}

// RegisterMode asks PX4 for a mode; id is random. PX4 stamps it.
func RegisterMode(id uint64) px4msgs.RegisterExtComponentRequest {
	return px4msgs.RegisterExtComponentRequest{RequestID: id, Name: cName(),
		Px4Ros2ApiVersion:   px4msgs.RegisterExtComponentRequestLatestPx4Ros2ApiVersion,
		RegisterArmingCheck: true, RegisterMode: true}
}

// FromRegisterReply reads the reply to the request of id. ours is false for the reply to somebody else.
func FromRegisterReply(m *px4msgs.RegisterExtComponentReply, id uint64) (r ModeRegistration, ours bool, err error) {
	const version = px4msgs.RegisterExtComponentRequestLatestPx4Ros2ApiVersion
	switch {
	case m.RequestID != id || m.Name != cName():
		return r, false, nil
	case m.Px4Ros2ApiVersion != version:
		return r, true, fmt.Errorf("PX4's interface to modes is of version %d, expected %d (PX4 1.16 and 1.17): use "+
			"command_interface px4", m.Px4Ros2ApiVersion, version)
	case !m.Success || m.ArmingCheckID < 0 || m.ModeID < 0:
		return r, true, fmt.Errorf("PX4 refused to register the mode %q: it takes none while it is armed, and "+
			"eight at most", modeName)
	}
	return ModeRegistration{ArmingCheck: m.ArmingCheckID, Mode: uint8(m.ModeID)}, true, nil
}

// UnregisterMode takes the mode away again.
func UnregisterMode(r ModeRegistration) px4msgs.UnregisterExtComponent {
	return px4msgs.UnregisterExtComponent{Name: cName(), ArmingCheckID: r.ArmingCheck, ModeID: int8(r.Mode),
		ModeExecutorID: -1}
}

// RatesAndThrust has PX4 run the rate controller and the allocation to motors alone in the mode.
func RatesAndThrust(r ModeRegistration) px4msgs.VehicleControlMode {
	return px4msgs.VehicleControlMode{FlagControlRatesEnabled: true, FlagControlAllocationEnabled: true,
		SourceID: r.Mode}
}

// ToMode has PX4 take the mode up, as VEHICLE_CMD_SET_NAV_STATE.
func ToMode(r ModeRegistration) px4msgs.VehicleCommand {
	return px4Command(px4msgs.VehicleCommandVehicleCmdSetNavState, float32(r.Mode), 0)
}

// ModeDone says that the mode has ended by itself.
func ModeDone(r ModeRegistration) px4msgs.ModeCompleted {
	return px4msgs.ModeCompleted{NavState: r.Mode, Result: px4msgs.ModeCompletedResultSuccess}
}

// ArmingCheck is a request of PX4's. Valid is what its registrations mask says; without one, as of PX4 1.16, all are.
type ArmingCheck struct {
	Request uint8
	Valid   uint32
}

// ReadArmingCheck reads a serialized px4_msgs/msg/ArmingCheckRequest of a version.
func ReadArmingCheck(data []byte, version int) (ArmingCheck, error) {
	const name = "px4_msgs/msg/ArmingCheckRequest."
	if version > 1 {
		return ArmingCheck{}, fmt.Errorf("PX4 asks in version %d of ArmingCheckRequest, expected at most 1 (PX4 1.17)",
			version)
	}
	var d cdr.Decoder
	d.Reset(data)
	d.Uint64(name + "timestamp")
	c := ArmingCheck{Request: d.Uint8(name + "request_id"), Valid: ^uint32(0)}
	if version == 1 {
		c.Valid = d.Uint32(name + "valid_registrations_mask")
	}
	return c, d.Err()
}

// Counts reports whether a registration does to PX4; one that did not answer does not any more.
func (c ArmingCheck) Counts(r ModeRegistration) bool {
	return r.ArmingCheck >= 0 && r.ArmingCheck < 32 && c.Valid>>r.ArmingCheck&1 == 1
}

// AnswerArmingCheck is the serialized reply in the request's version: whether commands flow. Rates are all that PX4 has
// to know in the mode. Version 0 lacks one of the flags at the end, all of which are false.
func AnswerArmingCheck(c ArmingCheck, r ModeRegistration, ready bool, version int) ([]byte, error) {
	m := px4msgs.ArmingCheckReply{RequestID: c.Request, RegistrationID: uint8(r.ArmingCheck), CanArmAndRun: ready,
		ModeReqAngularVelocity: true}
	data, err := cdr.Marshal(&m)
	if err == nil && version == 0 {
		data = data[:len(data)-1]
	}
	return data, err
}

// cName is the mode's name as C has it.
func cName() (name [25]uint8) {
	copy(name[:len(name)-1], modeName)
	return name
}

// IsMode reports whether a request is for the mode of RegisterMode, for tests that play PX4.
func IsMode(m *px4msgs.RegisterExtComponentRequest) bool {
	name := m.Name[:]
	if end := bytes.IndexByte(name, 0); end >= 0 {
		name = name[:end]
	}
	return string(name) == modeName && m.RegisterMode && m.RegisterArmingCheck && !m.RegisterModeExecutor
}
