package node_test

import (
	"math"
	"testing"
	"time"

	"vnd/pkg/bridge"
	"vnd/pkg/core/so3"
)

// takesOffByPX4 takes off in PX4's own mode and holds.
func (c *copter) takesOffByPX4() {
	c.t.Helper()
	const armDisarm, force = 400, 21196
	for end := time.Now().Add(3 * patience); ; time.Sleep(500 * time.Millisecond) {
		_ = c.Enter(4<<16 | 2<<24)
		if up, _ := c.Ordered(armDisarm, 1, force); up {
			break
		}
		if time.Now().After(end) {
			c.t.Fatalf("no take-off; the firmware said: %s", c.said())
		}
	}
	c.until("it hovers", func() bool { return c.hovers(so3.Vec3{Z: 1}) })
}

// In offboard mode behind mavros it hovers, goes elsewhere, lands and is disarmed.
func TestPX4OverTheWire(t *testing.T) {
	needsFirmware(t, bridge.PX4)
	c := newCopter(t, bridge.PX4, "[MIS_TAKEOFF_ALT=1]")
	c.control(bridge.Mavros)
	c.takesOffByPX4()
	c.armed()
	c.fliesAbout()
	for end := time.Now().Add(patience); !c.arm(false).Success; { // once the firmware, too, knows that
		if time.Now().After(end) {
			t.Fatalf("not disarmed; the firmware said: %s", c.said())
		}
	}
}

// A controller that is killed or stopped, or mavros that is lost: PX4 lands by COM_OBL_RC_ACT.
func TestPX4WithoutItsController(t *testing.T) {
	needsFirmware(t, bridge.PX4)
	for name, lose := range map[string]func(*copter){
		"controller killed":  func(c *copter) { c.kill(c.pid) },
		"controller stopped": (*copter).stops,
		"mavros lost":        func(c *copter) { _ = c.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			c := newCopter(t, bridge.PX4, "[MIS_TAKEOFF_ALT=1]")
			c.takesOffByPX4()
			c.control(bridge.Mavros)
			c.armed()
			c.until("the robot hovers", func() bool { return c.hovers(so3.Vec3{Z: 1}) })
			c.mu.Lock()
			from := len(c.truth)
			c.mu.Unlock()
			lose(c)
			const rate = 100 // truths in a second
			c.until("it has landed", func() bool { return newest(c.truth).State.P.Z < 0.05 })
			c.mu.Lock()
			defer c.mu.Unlock()
			level, moved := 0, 0.
			for i, p := range c.truth[from:] {
				if p.State.Q.ZAxis().Z < math.Cos(math.Pi/180) {
					level = i
				}
				moved = max(moved, math.Hypot(p.State.P.X, p.State.P.Y))
			}
			t.Logf("tilted until %.2f s, down after %.2f s, %.2f m off", float64(level)/rate,
				float64(len(c.truth)-from)/rate, moved)
		})
	}
}
