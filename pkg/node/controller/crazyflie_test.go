package controller

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	geometrymsgs "vnd/msgs/geometry_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/node/autopilottest"
)

// A Crazyflie gets no setpoint before it is armed, is refused where they would be angles, gets one without thrust
// first, and lands by its own commander: on request, and where a setting that changes in flight ends setpoints.
func TestCrazyflieFollowsFromArmingOn(t *testing.T) {
	h := newHarness(t, "-p", "command_interface:=crazyswarm2", "-p", "autopilot_namespace:=/cf231", "-p",
		"hover_throttle:=0.6", "-p", "bundle_file:="+path("a.vnd"), "-p", "autostart:=true")
	f := must(autopilottest.NewCrazyflie(h.n, "/", "cf231"))(t)
	for _, name := range bridge.CrazyflieSettingsOf(bridge.Crazyswarm2).Parameters("cf231")[1:] {
		f.Server.Set(name, autopilottest.Integer(0))
	}
	f.Server.Set("cf231.params.flightmode.stabModeRoll", autopilottest.Integer(1))
	saying(t, f.Say)
	eventually(t, "a tick", func() bool { return h.c.ticking() && len(h.steps) > 10 })
	a := h.c.autopilot()
	refusal := func(want string) {
		t.Helper()
		eventually(t, want, func() bool { return strings.Contains(a.fault(), want) })
		if err := a.offboard(context.Background()); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, expected one line", err)
		}
	}
	refusal("flightmode.stabModeRoll is 1, so that it takes no rates: set it to 0")
	f.Server.Set("cf231.params.flightmode.stabModeRoll", autopilottest.Integer(0))
	refusal("stabilizer.controller is 0")
	f.Server.Set("cf231.params.stabilizer.controller", autopilottest.Integer(1))
	eventually(t, "settings that hold", func() bool { return a.fault() == "" })
	cflib := must(f.Cflib(h.n, "/", "cf231"))(t)
	refusal("backend cflib, which reverses pitch rates: launch it with backend:=cpp")
	if err := cflib.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the other backend", func() bool { return a.fault() == "" })
	if s := f.Take(); len(s.Twists) > 0 || !a.notOffboard() {
		t.Errorf("%d setpoints before it is armed", len(s.Twists))
	}
	if err := a.offboard(context.Background()); err != nil {
		t.Fatal(err)
	}
	var got []geometrymsgs.Twist
	eventually(t, "setpoints", func() bool { got = append(got, f.Take().Twists...); return len(got) > 2 })
	if got[0] != (geometrymsgs.Twist{}) || got[1].Linear.Z <= 0 || got[1].Linear.Z > 60000 {
		t.Errorf("%+v", got[:2])
	}
	if err := a.disarm(context.Background()); err == nil || !strings.Contains(err.Error(), "~/land first") {
		t.Errorf("disarmed in the air: %v", err)
	}
	if err := a.land(context.Background()); err != nil || !f.Take().Landing || !a.notOffboard() {
		t.Errorf("%v, landing %v", err, f.Take().Landing)
	}
	if err := a.offboard(context.Background()); err != nil { // a setting that changes in flight ends setpoints
		t.Fatal(err)
	}
	eventually(t, "setpoints again", func() bool { return f.Take().Follows })
	f.Server.Set("cf231.params.flightmode.stabModeRoll", autopilottest.Integer(1))
	eventually(t, "a landing by its own commander", func() bool { s := f.Take(); return s.Landing && !s.Follows })
}

func TestCrazyflieServer(t *testing.T) {
	for namespace, want := range map[string][2]string{"/cf231": {"/crazyflie_server", "cf231"},
		"/lab/cf1/": {"/lab/crazyflie_server", "cf1"}, "cf2": {"crazyflie_server", "cf2"}} {
		if server, name := crazyflieServer(namespace); [2]string{server, name} != want {
			t.Errorf("%s: %s, %s", namespace, server, name)
		}
	}
}

// Full states hold the place that was seen last: where motion capture ends, the Crazyflie's own commander lands it.
func TestFullStatesEndWithoutStates(t *testing.T) {
	h := newHarness(t, "-p", "command_interface:=crazyswarm2_full_state", "-p", "autopilot_namespace:=/cf231", "-p",
		"bundle_file:="+path("a.vnd"), "-p", "autostart:=true")
	f := must(autopilottest.NewCrazyflie(h.n, "/", "cf231"))(t)
	f.Settle("cf231", bridge.Crazyswarm2FullState)
	var ended atomic.Bool
	saying(t, func() error {
		if ended.Load() {
			return nil
		}
		return f.Say()
	})
	eventually(t, "a tick", func() bool { return h.c.ticking() && len(h.steps) > 10 })
	a := h.c.autopilot()
	eventually(t, "settings that hold", func() bool { return a.fault() == "" })
	if err := a.offboard(context.Background()); err != nil {
		t.Fatal(err)
	}
	setpoints := 0
	eventually(t, "setpoints", func() bool { setpoints += len(f.Take().States); return setpoints > 2 })
	ended.Store(true)
	eventually(t, "the landing of its own commander", func() bool { return f.Take().Landing && a.notOffboard() })
}
