package node_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"vnd/pkg/bridge"
	"vnd/pkg/bridge/ardupilot/sitl"
	"vnd/pkg/core/so3"
)

// handsOver takes off in GUIDED, before anybody else sends setpoints there, and hands the robot over in BRAKE: nobody
// holds the sticks.
func (c *copter) handsOver() {
	c.t.Helper()
	const armDisarm, force, takeOff = 400, 2989, 22
	for end := time.Now().Add(3 * patience); ; time.Sleep(500 * time.Millisecond) {
		_ = c.Enter(sitl.Guided)
		_, _ = c.Ordered(armDisarm, 1, force)
		if up, _ := c.Ordered(takeOff, 0, 0, 0, 0, 0, 0, 1); up {
			break
		}
		if time.Now().After(end) {
			c.t.Fatalf("no take-off; the firmware said: %s", c.said())
		}
	}
	c.until("it hovers", func() bool { return newest(c.truth).State.P.Z > 0.7 })
	const brake = 17
	if err := c.Enter(brake); err != nil {
		c.t.Fatal(err)
	}
	c.until("BRAKE", func() bool { mode, _, _ := c.State(); return mode == brake })
}

// The firmware takes thrust for a climb rate, until it is told otherwise: the node says that, and sends nothing. Then
// it flies: hovers, goes elsewhere, lands.
func TestArdupilotOverTheWire(t *testing.T) {
	needsFirmware(t, bridge.Ardupilot)
	c := newCopter(t, bridge.Ardupilot, "[GUID_OPTIONS=0, ATC_ANGLE_BOOST=1]")
	c.control(bridge.Ardupilot)
	c.handsOver()
	for _, want := range []struct {
		line, name string
		value      float32
	}{
		{"GUID_OPTIONS is 0, so that it takes thrust for a climb rate: set bit 3 (value 8)", bridge.GuidOptions, 8},
		{"ATC_ANGLE_BOOST is 1, so that it divides thrust", bridge.AngleBoost, 0},
	} {
		said := ""
		for end := time.Now().Add(patience); !strings.Contains(said, want.line); time.Sleep(100 * time.Millisecond) {
			if said = c.arm(true).Message; time.Now().After(end) {
				t.Fatalf("%q, expected %q", said, want.line)
			}
		}
		if err := c.Set(want.name, want.value); err != nil {
			t.Fatal(err)
		}
	}
	c.armed()
	c.fliesAbout()
	if err := c.Enter(sitl.Land); err != nil { // in GUIDED the firmware may not notice
		t.Fatal(err)
	}
	c.until("the firmware has disarmed", func() bool { _, _, armed := c.State(); return !armed })
}

// ArduPilot refuses to disarm in the air, but where ~/emergency forces it.
func TestEmergencyStopsArdupilot(t *testing.T) {
	needsFirmware(t, bridge.Ardupilot)
	c := newCopter(t, bridge.Ardupilot, "[]")
	c.handsOver()
	c.control(bridge.Ardupilot, "-p", "emergency_service:=true")
	c.armed()
	c.until("the robot hovers", func() bool { return c.hovers(so3.Vec3{Z: 1}) })
	const armDisarm = 400
	if disarms, _ := c.Ordered(armDisarm, 0); disarms {
		t.Error("it disarms in the air")
	}
	if r := c.trigger("policy_controller/emergency"); !r.Success {
		t.Fatal(r.Message)
	}
	c.until("the motors stand, and it has fallen", func() bool {
		_, _, armed := c.State()
		return !armed && newest(c.truth).State.P.Z < 0.1
	})
}

// Without states the guard has the firmware land by itself.
func TestArdupilotLandsWithoutStates(t *testing.T) {
	needsFirmware(t, bridge.Ardupilot)
	c := newCopter(t, bridge.Ardupilot, "[]", "-r", "mocap/pose:=seen")
	seen := c.newTracker()
	c.handsOver()
	c.control(bridge.Ardupilot, "-p", "state_source:=pose")
	c.armed()
	c.until("the robot hovers", func() bool { return c.hovers(so3.Vec3{Z: 1}) })
	seen.loses.Store(true)
	lost := newest(c.truth).Stamp
	c.until("LAND", func() bool { mode, _, _ := c.State(); return mode == sitl.Land })
	t.Logf("LAND %.2f s after the last state", float64(newest(c.truth).Stamp-lost)/1e9)
	c.until("the robot has landed", func() bool { return newest(c.truth).State.P.Z < 0.1 })
	c.until("the firmware has disarmed", func() bool { _, _, armed := c.State(); return !armed })
	t.Logf("disarmed %.2f s after it", float64(newest(c.truth).Stamp-lost)/1e9)
}

// lostOne is something that is lost in a hover, under settings of the firmware.
type lostOne struct {
	name, settings string
	lose           func(*copter)
	lands          bool
}

// A controller that is killed or stopped leaves the firmware level and at its height, where it drifts; where mavros is
// lost it lands, if it knows that mavros is what it has to hear.
func TestArdupilotWithoutItsController(t *testing.T) {
	needsFirmware(t, bridge.Ardupilot)
	killed := func(c *copter) { c.kill(c.pid) }
	cut := func(c *copter) { _ = c.Close() }
	for _, l := range []lostOne{
		{"controller killed, GUID_TIMEOUT 0.5", "[GUID_TIMEOUT=0.5]", killed, false},
		{"controller killed, GUID_TIMEOUT 0.1", "[GUID_TIMEOUT=0.1]", killed, false},
		{"controller stopped", "[GUID_TIMEOUT=0.1]", (*copter).stops, false},
		{"mavros lost", "[FS_GCS_ENABLE=5, FS_GCS_TIMEOUT=2, MAV_GCS_SYSID=1]", cut, true},
		{"mavros lost, MAV_GCS_SYSID as by default", "[FS_GCS_ENABLE=5, FS_GCS_TIMEOUT=2]", cut, false},
	} {
		t.Run(l.name, func(t *testing.T) { l.flies(t) })
	}
}

func (l *lostOne) flies(t *testing.T) {
	c := newCopter(t, bridge.Ardupilot, l.settings)
	c.handsOver()
	c.control(bridge.Ardupilot)
	c.armed()
	c.until("the robot hovers", func() bool { return c.hovers(so3.Vec3{Z: 1}) })
	c.mu.Lock()
	from := len(c.truth)
	c.mu.Unlock()
	l.lose(c)
	const rate = 100 // truths in a second
	c.until("ten seconds pass", func() bool { return len(c.truth) > from+10*rate })
	c.mu.Lock()
	defer c.mu.Unlock()
	moved, least, level := 0.0, 1.0, 0
	for i, p := range c.truth[from : from+10*rate] {
		if p.State.Q.ZAxis().Z < math.Cos(math.Pi/180) {
			level = i
		}
		moved, least = max(moved, math.Hypot(p.State.P.X, p.State.P.Y)), min(least, p.State.P.Z)
	}
	t.Logf("level from %.2f s on, at least %.2f m high, %.2f m off", float64(level)/rate, least, moved)
	if landed := least < 0.1; landed != l.lands {
		t.Errorf("at %.2f m, landed: %v", least, landed)
	}
}
