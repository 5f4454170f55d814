package controller

import (
	"context"
	"strings"
	"testing"

	as2msgs "vnd/msgs/as2_msgs"
	"vnd/pkg/node/autopilottest"
)

// refuses waits for a fault, under which the platform is not asked to follow.
func refuses(t *testing.T, h *harness, want string) {
	t.Helper()
	eventually(t, want, func() bool { return strings.Contains(h.c.autopilot().fault(), want) })
	if err := h.c.arm(context.Background()); err == nil || !strings.Contains(err.Error(), want) ||
		strings.Contains(err.Error(), "\n") {
		t.Errorf("%v, expected one line: %s", err, want)
	}
}

// A platform of Aerostack2 is asked for body rates and followed; it is refused without them, in an emergency, and
// disarming in the air.
func TestAerostack2(t *testing.T) {
	h := newHarness(t, "-p", "command_interface:=aerostack2", "-p", "mass:=1.5", "-p", "bundle_file:="+path("a.vnd"),
		"-p", "autostart:=true")
	f := must(autopilottest.NewAerostack2(h.n, "", 1.5))(t)
	saying(t, f.Say)
	eventually(t, "a tick", func() bool { return h.c.ticking() && len(h.steps) > 10 })
	a := h.c.autopilot()
	eventually(t, "a platform", func() bool { s, _ := a.lastReport(); return s.Connected && s.Mode == "HOVER" })
	f.Set(as2msgs.PlatformStatusEmergency, false)
	refuses(t, h, "platform/info: the platform is in EMERGENCY, and takes no commands")
	f.Set(as2msgs.PlatformStatusFlying, true)
	eventually(t, "its end", func() bool { return a.fault() == "" })
	err := a.offboard(context.Background())
	if err == nil || !strings.Contains(err.Error(), "no mode of body rates and thrust: add 0b00100100") {
		t.Errorf("%v", err)
	}
	f.Set(as2msgs.PlatformStatusFlying, false)
	if err := a.offboard(context.Background()); err != nil || !f.Follows() { // it is in offboard mode before
		t.Errorf("%v", err)
	}
	eventually(t, "commands", func() bool {
		c := f.Take()
		return len(c) > 0 && c[0].Command.Thrust > 1
	})
	if err := a.disarm(context.Background()); err == nil || !strings.Contains(err.Error(), "~/land first") {
		t.Errorf("disarmed in the air: %v", err)
	}
	if h.c.takesOver() {
		t.Error("a platform counts as landing by itself")
	}
}

// Nothing goes to a hardware API of MRS before it says that it takes body rates.
func TestMRS(t *testing.T) {
	h := newHarness(t, "-p", "command_interface:=mrs", "-p", "hover_throttle:=0.4", "-p", "bundle_file:="+path("a.vnd"),
		"-p", "autostart:=true")
	eventually(t, "a tick", func() bool { return h.c.ticking() })
	refuses(t, h, "hw_api/capabilities: nothing is sent before it says that body rates are taken")
	f := must(autopilottest.NewMRS(h.n, ""))(t)
	f.TakesRates(false)
	saying(t, f.Say)
	refuses(t, h, `the hardware API "fake" takes no body rates (accepts_attitude_rate_cmd is false)`)
	if c := f.Take(); len(c) > 0 {
		t.Errorf("%d commands", len(c))
	}
	f.TakesRates(true)
	eventually(t, "its end", func() bool { return h.c.autopilot().fault() == "" })
	if err := h.c.autopilot().offboard(context.Background()); err != nil || !f.Follows() {
		t.Errorf("%v", err)
	}
	eventually(t, "commands", func() bool {
		c := f.Take()
		return len(c) > 0 && c[0].Throttle > 0 && c[0].Throttle <= 1
	})
}
