package controller

import (
	"context"
	"strings"
	"testing"
	"time"

	mavrosmsgs "vnd/msgs/mavros_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/node/autopilottest"
)

// saying has something said every 10 ms until the test ends.
func saying(t *testing.T, say func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	t.Cleanup(func() { cancel(); <-ended })
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			_ = say()
			time.Sleep(10 * time.Millisecond)
		}
	}()
}

// eventually waits for something that others bring about.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(long); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(what + " did not come about")
		}
	}
}

// Nothing goes to ArduPilot before it is known to take thrust for thrust; then rates and thrust do, in the mode that
// was asked for. A setting that is undone ends that.
func TestArdupilotNeedsThrustAsThrust(t *testing.T) {
	const mode = mavrosmsgs.StateModeApmCopterGuidedNogps
	h := newHarness(t, "-p", "command_interface:=ardupilot", "-p", "hover_throttle:=0.4", "-p", "ardupilot_mode:="+mode,
		"-p", "bundle_file:="+path("a.vnd"), "-p", "autostart:=true")
	m := must(autopilottest.NewMavros(h.n, ""))(t)
	saying(t, m.Say)
	eventually(t, "a tick", func() bool { return h.c.ticking() && len(h.steps) > 10 })
	refusal := func(want string) {
		t.Helper()
		eventually(t, want, func() bool { return strings.Contains(h.c.autopilot().fault(), want) })
		since := time.Now().UnixNano()
		m.Enter(mode) // by the transmitter's switch
		eventually(t, "not following", func() bool { return h.c.autopilot().notOffboard() })
		for _, s := range m.Take() {
			if bridge.Nanoseconds(s.Header.Stamp) > since { // of a state that came after the fault
				t.Error("a setpoint, while it is not known what thrust means")
			}
		}
		m.Enter(mavrosmsgs.StateModeApmCopterLoiter)
	}
	refusal("GUID_OPTIONS is not known to mavros")
	if err := h.c.arm(context.Background()); err == nil || !strings.Contains(err.Error(), "GUID_OPTIONS") ||
		strings.Contains(err.Error(), "\n") {
		t.Errorf("%v, expected one line with the parameter", err)
	}
	m.Firmware.Set(bridge.GuidOptions, autopilottest.Integer(1))
	refusal("GUID_OPTIONS is 1, so that it takes thrust for a climb rate: set bit 3 (value 9)")
	m.Firmware.Set(bridge.GuidOptions, autopilottest.Integer(9))
	refusal("ATC_ANGLE_BOOST is not known to mavros")
	m.Firmware.Set(bridge.AngleBoost, autopilottest.Integer(1))
	refusal("ATC_ANGLE_BOOST is 1, so that it divides thrust by the cosine of the tilt: set 0")
	m.Firmware.Set(bridge.AngleBoost, autopilottest.Integer(0))
	refusal("MOT_SPIN_MIN is not known to mavros")
	m.Firmware.Spins(bridge.Spin{Min: 0.15, Max: 0.95, Expo: 0.65})
	refusal("least_thrust is 0, expected 0.097: ArduPilot's motors give that share of the weight at no throttle")
	m.Firmware.Spins(bridge.Spin{Min: 0, Max: 1, Expo: 0.65})
	refusal("parameter thrust_scaling of mavros/setpoint_raw is not known")
	m.Setpoint.Set(bridge.ThrustScaling, autopilottest.Double(1))
	eventually(t, "setpoints", func() bool { return len(m.Take()) > 0 })
	if err := h.c.autopilot().offboard(context.Background()); err != nil || m.Mode() != mode {
		t.Errorf("%v, mode %s", err, m.Mode())
	}
	eventually(t, "rates and thrust", func() bool {
		s := m.Take()
		for i := range s {
			if s[i].TypeMask != mavrosmsgs.AttitudeTargetIgnoreAttitude || s[i].Thrust < 0 || s[i].Thrust > 1 {
				t.Fatalf("%+v", s[i])
			}
		}
		return len(s) > 0
	})
	if err := h.c.autopilot().land(context.Background()); err != nil || m.Mode() != "LAND" {
		t.Errorf("landing: %v, mode %s", err, m.Mode())
	}
	if h.c.autopilot().landsUnasked() {
		t.Error("ArduPilot counts as landing by itself")
	}
	m.Firmware.Set(bridge.GuidOptions, autopilottest.Integer(0)) // of a firmware that was set otherwise since
	refusal("GUID_OPTIONS is 0")
}

// ArduPilot behind command_interface mavros gets nothing while it would follow: nobody asked what thrust means to it.
func TestMavrosRefusesArdupilot(t *testing.T) {
	h := newHarness(t, "-p", "command_interface:=mavros", "-p", "hover_throttle:=0.4", "-p",
		"bundle_file:="+path("a.vnd"), "-p", "autostart:=true")
	m := must(autopilottest.NewMavros(h.n, ""))(t)
	saying(t, m.Say)
	eventually(t, "setpoints", func() bool { return len(m.Take()) > 0 })
	m.Enter(mavrosmsgs.StateModeApmCopterGuided)
	eventually(t, "a fault", func() bool {
		return strings.Contains(h.c.autopilot().fault(), "set command_interface to ardupilot")
	})
	if !h.c.autopilot().notOffboard() {
		t.Error("it counts as following")
	}
}

// ArduPilot and PX4 refuse a disarming in the air: ~/emergency forces it.
func TestEmergencyForcesMavros(t *testing.T) {
	for _, name := range []string{bridge.Mavros, bridge.Ardupilot} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, "-p", "command_interface:="+name, "-p", "hover_throttle:=0.4", "-p",
				"emergency_service:=true", "-p", "bundle_file:="+path("a.vnd"), "-p", "autostart:=true")
			m := must(autopilottest.NewMavros(h.n, ""))(t)
			saying(t, m.Say)
			eventually(t, "a tick", func() bool { return h.c.ticking() && len(h.steps) > 10 })
			if err := h.c.autopilot().disarm(t.Context()); err == nil || !m.Armed() {
				t.Errorf("a disarming in the air: %v", err)
			}
			if err := h.c.emergency(); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the motors stop", func() bool { return !m.Armed() })
		})
	}
}
