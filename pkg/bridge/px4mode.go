package bridge

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	px4msgs "vnd/msgs/px4_msgs"
	"vnd/pkg/ros2/cdr"
)

// PX4Mode is the command interface of a flight mode that PX4 takes from outside, from 1.15 on: VehicleRatesSetpoint, as
// in PX4, and in place of offboard's proof of life answers to PX4's arming checks.
const PX4Mode = "px4_mode"

// ModeAPI is a version of PX4's interface to such modes.
type ModeAPI uint16

// Versions of the interface.
const (
	ModeAPI1 ModeAPI = 1 // of PX4 1.15 to 1.17
	ModeAPI2 ModeAPI = 2 // of PX4 1.18
)

// Topics are those of a registration's request and of its reply, below fmu/in and fmu/out.
func (v ModeAPI) Topics() (request, reply string) {
	request, reply = "register_ext_component_request", "register_ext_component_reply"
	if v == ModeAPI2 {
		request, reply = request+"_v2", reply+"_v1"
	}
	return request, reply
}

// modeName is the mode's at a ground station.
const modeName = "vnd"

// ModeRegistration is what PX4 has given a mode that it took.
type ModeRegistration struct {
	ArmingCheck int8  // id of its answers to arming checks
	Mode        uint8 // nav_state while it flies
}

// RegisterMode is the serialized request for a mode; id is random. PX4 stamps it.
func RegisterMode(id uint64, v ModeAPI) ([]byte, error) {
	data, err := cdr.Marshal(&px4msgs.RegisterExtComponentRequest{RequestID: id, Name: cName(),
		Px4Ros2ApiVersion: uint16(v), RegisterArmingCheck: true, RegisterMode: true})
	if err == nil && v == ModeAPI1 {
		data = data[:len(data)-2] // its message lacks the two flags at the end
	}
	return data, err
}

// ReadRegisterReply reads the serialized reply to the request of id. ours is false for the reply to somebody else.
func ReadRegisterReply(data []byte, v ModeAPI, id uint64) (r ModeRegistration, ours bool, err error) {
	if v == ModeAPI1 {
		data = append(slices.Clip(data), 0) // its message lacks the flag at the end
	}
	var m px4msgs.RegisterExtComponentReply
	err = cdr.Unmarshal(data, &m)
	switch {
	case err != nil:
		return r, false, err
	case m.RequestID != id || m.Name != cName():
		return r, false, nil
	case m.Px4Ros2ApiVersion != uint16(v):
		return r, true, fmt.Errorf("PX4's interface to modes is of version %d, expected %d: use command_interface px4",
			m.Px4Ros2ApiVersion, v)
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

// RatesAndThrust has PX4 1.15 to 1.17 run the rate controller and the allocation to motors alone in the mode.
func RatesAndThrust(r ModeRegistration) px4msgs.VehicleControlMode {
	return px4msgs.VehicleControlMode{FlagControlRatesEnabled: true, FlagControlAllocationEnabled: true,
		SourceID: r.Mode}
}

// RateSetpoints has PX4 1.18 do the same, and hold where setpoints do not come for a time.
func RateSetpoints(r ModeRegistration, timeout time.Duration) px4msgs.SetpointConfig {
	return px4msgs.SetpointConfig{Type: px4msgs.SetpointConfigTypeRates, SourceID: r.Mode, ShouldApply: true,
		TimeoutMs: uint16(timeout.Milliseconds())}
}

// FromSetpointConfigReply reads the reply to RateSetpoints of a mode. ours is false for the reply to somebody else.
func FromSetpointConfigReply(m *px4msgs.SetpointConfigReply, r ModeRegistration) (ours bool, err error) {
	switch {
	case m.SourceID != r.Mode || m.Type != px4msgs.SetpointConfigTypeRates:
		return false, nil
	case m.Result != px4msgs.SetpointConfigReplyResultSuccess:
		return true, fmt.Errorf("PX4 takes no body rates in the mode %q (result %d of its SetpointConfigReply): "+
			"is the vehicle a multirotor?", modeName, m.Result)
	}
	return true, nil
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
		return ArmingCheck{}, fmt.Errorf("PX4 asks in version %d of ArmingCheckRequest, expected at most 1 (PX4 "+
			"1.17, 1.18)", version)
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
