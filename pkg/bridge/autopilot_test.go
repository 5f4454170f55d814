package bridge

import (
	"strings"
	"testing"

	mavrosmsgs "vnd/msgs/mavros_msgs"
	px4msgs "vnd/msgs/px4_msgs"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/ros2/cdr"
)

// Which modes follow setpoints, by the names that mavros gives them and the numbers of PX4.
func TestModes(t *testing.T) {
	for mode, offboard := range map[string]bool{"OFFBOARD": true, "GUIDED": true, "GUIDED_NOGPS": true, "POSCTL": false,
		"AUTO.LAND": false, "": false} {
		got := FromMavrosState(&mavrosmsgs.State{Connected: true, Armed: offboard, Mode: mode})
		if want := (Autopilot{true, offboard, offboard, mode}); got != want {
			t.Errorf("%q: %+v, expected %+v", mode, got, want)
		}
	}
	for nav, mode := range map[uint8]string{14: "OFFBOARD", 2: "POSCTL", 0: "MANUAL", 1: "ALTCTL", 4: "AUTO_LOITER",
		17: "AUTO_TAKEOFF", 5: "AUTO_RTL", 12: "DESCEND", 13: "TERMINATION",
		15: "STAB", 18: "AUTO_LAND", 10: "nav_state 10", 255: "nav_state 255"} {
		m := &px4msgs.VehicleStatus{ArmedTime: 1, ArmingState: px4msgs.VehicleStatusArmingStateArmed,
			NavStateUserIntention: 3, NavState: nav}
		data, err := cdr.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		// Of a version with other fields behind nav_state, and of one with fewer.
		for _, data := range [][]byte{data, append(append([]byte(nil), data...), 1, 2, 3, 4, 5, 6, 7, 8),
			data[:cdr.HeaderSize+42]} {
			got, err := FromVehicleStatus(data)
			if want := (Autopilot{true, true, nav == 14, mode}); err != nil || got != want {
				t.Errorf("nav_state %d in %d bytes: %+v, %v, expected %+v", nav, len(data), got, err, want)
			}
		}
		if _, err := FromVehicleStatus(data[:40]); err == nil ||
			!strings.Contains(err.Error(), "px4_msgs/msg/VehicleStatus.nav_state") {
			t.Errorf("cut off: %v", err)
		}
	}
}

// The two layouts of the battery's head: with an id before connected, and without.
func TestVoltage(t *testing.T) {
	head := []byte{0, 1, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0}
	for name, tail := range map[string][]byte{"without id": {1, 0, 0, 0, 0, 0, 0x78, 0x41},
		"with id": {1, 1, 0, 0, 0, 0, 0x78, 0x41}} {
		if v, err := VoltageOfBatteryStatus(append(append([]byte(nil), head...), tail...)); err != nil || v != 15.5 {
			t.Errorf("%s: %g V, %v", name, v, err)
		}
	}
	if _, err := VoltageOfBatteryStatus(head); err == nil {
		t.Error("a stamp alone had a voltage")
	}
}

// Numbers that PX4 knows, MAV_CMD 400 and 176 with 1 and 6, and who is to hear them.
func TestVehicleCommands(t *testing.T) {
	arm := Disarm() // as a ground station sends it
	arm.Param1 = 1
	for name, c := range map[string]struct {
		m                     px4msgs.VehicleCommand
		command               uint32
		param1, param2        float32
		arm, disarm, offboard bool
	}{
		"arm":      {arm, 400, 1, 0, true, false, false},
		"disarm":   {Disarm(), 400, 0, 0, false, true, false},
		"offboard": {ToOffboard(), 176, 1, 6, false, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			m := c.m
			if m.Command != c.command || m.Param1 != c.param1 || m.Param2 != c.param2 || !m.FromExternal ||
				m.TargetSystem != 1 || m.TargetComponent != 1 || m.Timestamp != 0 {
				t.Errorf("%+v", m)
			}
			arm, disarm, offboard, known := FromVehicleCommand(&m)
			if arm != c.arm || disarm != c.disarm || offboard != c.offboard || !known {
				t.Errorf("%s asks for arm %v, disarm %v, offboard %v", name, arm, disarm, offboard)
			}
		})
	}
	if _, _, offboard, known := FromVehicleCommand(&px4msgs.VehicleCommand{Command: 176, Param1: 1,
		Param2: 3}); offboard || !known {
		t.Error("position mode was taken for offboard")
	}
	if _, _, _, known := FromVehicleCommand(&px4msgs.VehicleCommand{Command: 22}); known {
		t.Error("a takeoff was known")
	}
}

func TestVersion(t *testing.T) {
	const base = "/fmu/out/vehicle_status"
	for name, want := range map[string]int{base: 0, base + "_v1": 1, base + "_v12": 12, base + "_v0": -1,
		base + "_v": -1, base + "_v1x": -1,
		base + "_v01": -1, base + "s": -1, "/fmu/out/vehicle": -1, "/fmu/out/other": -1} {
		if v, ok := Version(name, base); ok != (want >= 0) || ok && v != want {
			t.Errorf("%s: version %d, %v, expected %d", name, v, ok, want)
		}
	}
}

// A state at 1 m north, 2 east and 3 up, nose east, that climbs and rolls, is at (1, 2, −3) in NED with a yaw of 90°.
func TestVehicleOdometryTable(t *testing.T) {
	var m px4msgs.VehicleOdometry
	PutVehicleOdometry(&m, 5_000_000, quad.State{P: so3.Vec3{X: 2, Y: 1, Z: 3}, Q: so3.Identity(),
		V: so3.Vec3{X: 4, Z: 5}}, so3.Vec3{X: 1, Y: 2, Z: 3})
	near := func(x, y float32) bool { return x-y < 1e-6 && y-x < 1e-6 }
	h := float32(0.70710677)
	if m.Position != [3]float32{1, 2, -3} || m.Velocity != [3]float32{0, 4, -5} ||
		m.AngularVelocity != [3]float32{1, -2, -3} ||
		!near(m.Q[0]*m.Q[0], 0.5) || !near(m.Q[3]*m.Q[0], 0.5) || !near(m.Q[1], 0) || !near(m.Q[2], 0) ||
		!near(m.Q[0]*m.Q[0], h*h) {
		t.Errorf("%+v", m)
	}
	if m.TimestampSample != 5000 || m.PoseFrame != px4msgs.VehicleOdometryPoseFrameNed ||
		m.VelocityFrame != px4msgs.VehicleOdometryVelocityFrameNed {
		t.Errorf("%+v", m)
	}
	back, err := FromVehicleOdometry(&m)
	if err != nil || back.Stamp != 5_000_000 || back.State.P.Sub(so3.Vec3{X: 2, Y: 1, Z: 3}).Norm() > 1e-6 ||
		apart(back.State.Q, so3.Identity()) > 1e-3 ||
		back.State.V.Sub(so3.Vec3{X: 4, Z: 5}).Norm() > 1e-6 {
		t.Errorf("came back as %+v, %v", back, err)
	}
}
