package bridge

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	px4msgs "vnd/msgs/px4_msgs"
	"vnd/pkg/ros2/cdr"
)

// The bytes of a registration, field by field as the definitions of PX4 1.17 and 1.18 have them.
func TestRegistrationOnTheWire(t *testing.T) {
	for v, end := range map[ModeAPI]string{ModeAPI1: "", ModeAPI2: "0000"} { // selectable, no setpoints by MAVLink
		data, err := RegisterMode(0x0102030405060708, v)
		if err != nil {
			t.Fatal(err)
		}
		want := "00010000" + "0000000000000000" + "0807060504030201" +
			"766e64" + strings.Repeat("00", 22) + "00" + fmt.Sprintf("%02d00", v) + // name, alignment, version
			"010100" + "00" + "00" + "00" + end // arming check, mode; no executor, nothing replaced or at once
		if got := hex.EncodeToString(data); got != want {
			t.Errorf("%d: %s, expected\n%s", v, got, want)
		}
		var m px4msgs.RegisterExtComponentRequest
		if err := cdr.Unmarshal(append(data, 0, 0), &m); err != nil || !IsMode(&m) {
			t.Errorf("%d: it is none of a mode: %v", v, err)
		}
	}
}

func TestRegisterReply(t *testing.T) {
	good := px4msgs.RegisterExtComponentReply{RequestID: 7, Name: cName(), Success: true, ArmingCheckID: 2, ModeID: 23,
		ModeExecutorID: -1}
	type reply = px4msgs.RegisterExtComponentReply
	for name, c := range map[string]struct {
		spoil func(*reply)
		ours  bool
		want  string
	}{
		"taken":           {func(*reply) {}, true, ""},
		"another request": {func(m *reply) { m.RequestID++ }, false, ""},
		"another's name":  {func(m *reply) { m.Name[0] = 'x' }, false, ""},
		"later PX4":       {func(m *reply) { m.Px4Ros2ApiVersion = 3 }, true, "is of version 3, expected "},
		"refused": {func(m *reply) { m.Success = false }, true,
			"refused to register the mode \"vnd\": it takes none while it is armed"},
		"no id": {func(m *reply) { m.ModeID = -1 }, true, "refused to register"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, v := range []ModeAPI{ModeAPI1, ModeAPI2} {
				m := good
				m.Px4Ros2ApiVersion = uint16(v)
				c.spoil(&m)
				data, err := cdr.Marshal(&m)
				if err != nil {
					t.Fatal(err)
				}
				r, ours, err := ReadRegisterReply(data[:len(data)-2+int(v)], v, 7) // one flag fewer in version 1
				if ours != c.ours || (err == nil) != (c.want == "") ||
					err != nil && !strings.Contains(err.Error(), c.want) {
					t.Errorf("%d: ours %v, %v", v, ours, err)
				}
				if c.ours && c.want == "" && (r != ModeRegistration{ArmingCheck: 2, Mode: 23}) {
					t.Errorf("%d: %+v", v, r)
				}
			}
		})
	}
	if _, ours, err := ReadRegisterReply([]byte{0, 1, 0, 0, 9}, ModeAPI1, 7); ours || err == nil {
		t.Errorf("half a reply: ours %v, %v", ours, err)
	}
}

// PX4 1.18 is told that the setpoints are rates, and says whether it takes them.
func TestSetpointConfig(t *testing.T) {
	r := ModeRegistration{ArmingCheck: 2, Mode: 23}
	m := RateSetpoints(r, 500*time.Millisecond)
	if m.Type != 5 || m.SourceID != 23 || !m.ShouldApply || m.TimeoutMs != 500 {
		t.Errorf("%+v", m)
	}
	for name, c := range map[string]struct {
		m    px4msgs.SetpointConfigReply
		ours bool
		want string
	}{
		"taken":          {px4msgs.SetpointConfigReply{Type: 5, SourceID: 23}, true, ""},
		"refused":        {px4msgs.SetpointConfigReply{Type: 5, SourceID: 23, Result: 2}, true, "result 2"},
		"another mode":   {px4msgs.SetpointConfigReply{Type: 5, SourceID: 24, Result: 2}, false, ""},
		"other setpoint": {px4msgs.SetpointConfigReply{Type: 4, SourceID: 23, Result: 2}, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			ours, err := FromSetpointConfigReply(&c.m, r)
			if ours != c.ours || (err == nil) != (c.want == "") ||
				err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("ours %v, %v", ours, err)
			}
		})
	}
}

// PX4 1.16 asks and is answered in version 0, PX4 1.17 in version 1: a mask more, and a flag more.
func TestArmingChecksOfTwoVersions(t *testing.T) {
	r := ModeRegistration{ArmingCheck: 2, Mode: 23}
	m := px4msgs.ArmingCheckRequest{Timestamp: 1, RequestID: 9, ValidRegistrationsMask: 1 << 3}
	data, err := cdr.Marshal(&m)
	if err != nil {
		t.Fatal(err)
	}
	newer, err := ReadArmingCheck(data, 1)
	if err != nil || newer.Request != 9 || newer.Counts(r) || !newer.Counts(ModeRegistration{ArmingCheck: 3}) {
		t.Errorf("%+v, %v", newer, err)
	}
	older, err := ReadArmingCheck(data[:13], 0) // header, timestamp, request_id
	if err != nil || older.Request != 9 || !older.Counts(r) {
		t.Errorf("%+v, %v", older, err)
	}
	if _, err := ReadArmingCheck(data, 2); err == nil || !strings.Contains(err.Error(), "version 2") {
		t.Errorf("version 2: %v", err)
	}
	if _, err := ReadArmingCheck(data[:9], 1); err == nil {
		t.Error("half a request was read")
	}
	full, err := AnswerArmingCheck(newer, r, true, 1)
	if err != nil {
		t.Fatal(err)
	}
	short, err := AnswerArmingCheck(newer, r, true, 0)
	if err != nil || len(short) != len(full)-1 || !bytes.Equal(short, full[:len(short)]) {
		t.Errorf("%d and %d bytes, %v", len(short), len(full), err)
	}
	var back px4msgs.ArmingCheckReply
	if err := cdr.Unmarshal(full, &back); err != nil || back.RequestID != 9 || back.RegistrationID != 2 ||
		!back.CanArmAndRun || !back.ModeReqAngularVelocity || back.ModeReqLocalPosition {
		t.Errorf("%+v, %v", back, err)
	}
	// 11 flags end the reply: the first alone is set, so that one less at the end is version 0.
	if flags := full[len(full)-11:]; !bytes.Equal(flags, append([]byte{1}, make([]byte, 10)...)) {
		t.Errorf("flags %v", flags)
	}
}

func TestModeIsTakenUpByNavState(t *testing.T) {
	r := ModeRegistration{ArmingCheck: 2, Mode: 24}
	if m := ToMode(r); m.Command != 100001 || m.Param1 != 24 || !m.FromExternal {
		t.Errorf("%+v", m)
	}
	status, err := cdr.Marshal(&px4msgs.VehicleStatus{ArmingState: 2, NavState: 24})
	if err != nil {
		t.Fatal(err)
	}
	if a, err := FromVehicleStatusIn(status, r.Mode); err != nil || !a.Follows() {
		t.Errorf("%+v, %v", a, err)
	}
	if a, err := FromVehicleStatus(status); err != nil || a.Follows() || a.Mode != "nav_state 24" {
		t.Errorf("%+v, %v", a, err)
	}
}
