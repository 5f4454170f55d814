package controller

import (
	"context"
	"strings"
	"testing"

	px4msgs "vnd/msgs/px4_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/node"
	"vnd/pkg/node/autopilottest"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/lifecycle"
)

// The mode is registered with either release, is offered while commands flow, gets setpoints while it flies and no
// others, is registered anew after PX4 forgot it, and is taken away when the node is cleaned up.
func TestPX4TakesTheMode(t *testing.T) {
	for release, api := range map[string]bridge.ModeAPI{"1.17": bridge.ModeAPI1, "1.18": bridge.ModeAPI2} {
		t.Run(release, func(t *testing.T) { takesTheMode(t, api) })
	}
}

func takesTheMode(t *testing.T, api bridge.ModeAPI) {
	h := newHarness(t, "-p", "command_interface:=px4_mode", "-p", "hover_throttle:=0.4", "-p",
		"bundle_file:="+path("a.vnd"), "-p", "autostart:=true")
	eventually(t, "a tick", func() bool { return h.c.ticking() })
	if err := h.c.arm(context.Background()); err == nil || !strings.Contains(err.Error(), "has not taken the mode") {
		t.Errorf("before PX4 is there: %v", err)
	}
	p := must(autopilottest.NewPX4(h.n, "", api))(t)
	saying(t, p.Say)
	var s autopilottest.PX4State
	eventually(t, "a mode that is ready", func() bool { s = p.Take(); return s.Registered && s.Rates && s.Ready })
	if len(s.Setpoints) > 0 || !h.c.autopilot().notOffboard() {
		t.Errorf("%d setpoints while another mode flies; not offboard: %v", len(s.Setpoints),
			h.c.autopilot().notOffboard())
	}
	mode := h.c.autopilot().(*px4Mode)
	eventually(t, "setpoints in the mode", func() bool {
		if !s.Flies() {
			mode.confirmed.Store(true) // as by an answer that comes late
			if err := h.c.autopilot().offboard(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		s = p.Take()
		return len(s.Setpoints) > 0
	})
	if u := -s.Setpoints[0].ThrustBody[2]; u < 0 || u > 1 || s.Heartbeats > 0 {
		t.Errorf("%+v, %d heartbeats of offboard mode", s.Setpoints[0], s.Heartbeats)
	}
	if h.c.takesOver() {
		t.Error("PX4 counts as landing by itself")
	}
	p.Forget()
	eventually(t, "a new registration", func() bool { s = p.Take(); return s.Registered && s.Rates })
	h.change(lifecycle.Deactivate, lifecycle.Cleanup)
	eventually(t, "the mode's end", func() bool { return !p.Take().Registered })
	if s = p.Take(); s.Flies() {
		t.Error("PX4 flies a mode that is gone")
	}
}

// A firmware that hears another version of a registration is named by the topic, and the robot is not armed.
func TestPX4OfAnotherVersionIsNamed(t *testing.T) {
	h := newHarness(t, "-p", "command_interface:=px4_mode", "-p", "hover_throttle:=0.4", "-p",
		"bundle_file:="+path("a.vnd"), "-p", "autostart:=true")
	eventually(t, "a tick", func() bool { return h.c.ticking() })
	must(ros.NewSubscription(h.n, "fmu/in/register_ext_component_request_v1", node.AutopilotQoS(),
		func(*px4msgs.RegisterExtComponentRequest, ros.Info) {}))(t)
	want := "fmu/in/register_ext_component_request: PX4 hears version 1 of the message, expected 0 or 2, as sent here"
	eventually(t, want, func() bool { return strings.Contains(h.c.autopilot().fault(), want) })
	if err := h.c.arm(context.Background()); err == nil || !strings.Contains(err.Error(), want) ||
		strings.Contains(err.Error(), "\n") {
		t.Errorf("arming: %v", err)
	}
}
