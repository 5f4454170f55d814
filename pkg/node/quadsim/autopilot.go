package quadsim

import (
	"fmt"

	"vnd/pkg/sim/closedloop"
)

// autopilot is what stands between an autopilot's topics and the vehicle: arming and flight modes as PX4 has them.
// Times are simulated seconds. It belongs to the vehicle's goroutine.
type autopilot struct {
	timeout   float64 // without proof of life, after which offboard mode is left
	heartbeat bool    // proof of life is a topic of its own, as PX4's; else setpoints are

	armed    bool
	offboard bool
	alive    float64 // newest proof of life
	since    float64 // from when on it came without a gap
	mode     string  // while not offboard
	known    closedloop.Mode
}

// Modes by the names of mavros.
const (
	modeOffboard = "OFFBOARD"
	modePosition = "POSCTL"
	modeManual   = "MANUAL"
	modeLand     = "AUTO.LAND"
	modeTakeoff  = "AUTO.TAKEOFF" // once it is armed
	modeLoiter   = "AUTO.LOITER"
)

// streaming is how long proof of life has to have come before offboard mode is taken up.
const streaming = 0.5

// begin is how a vehicle is put: one in the air is held there by the autopilot.
func (a *autopilot) begin(inAir bool) {
	*a = autopilot{timeout: a.timeout, heartbeat: a.heartbeat, armed: inAir, mode: modeManual, alive: -1e9, since: -1e9}
	if inAir {
		a.mode = modePosition
	}
}

// beat takes a proof of life.
func (a *autopilot) beat(now float64) {
	if now-a.alive > a.timeout {
		a.since = now
	}
	a.alive = now
}

// setpoint takes one, and reports whether it is followed.
func (a *autopilot) setpoint(now float64) bool {
	if !a.heartbeat {
		a.beat(now)
	}
	return a.armed && a.offboard
}

// follow takes up offboard mode, unless setpoints do not come yet.
func (a *autopilot) follow(now float64) error {
	if now-a.alive > a.timeout || now-a.since < streaming {
		return fmt.Errorf("offboard mode is refused: no setpoints for %.1f s", streaming)
	}
	a.offboard = true
	return nil
}

// enter takes up another mode.
func (a *autopilot) enter(mode string, now float64) error {
	switch mode {
	case modeOffboard:
		return a.follow(now)
	case modeTakeoff, modeLoiter:
		a.offboard, a.mode = false, mode
		return nil
	case modePosition, modeManual:
		return fmt.Errorf("mode %s is refused: there is no pilot", mode)
	}
	return fmt.Errorf("mode %q is not known", mode)
}

// arm starts the motors, or stops them where the vehicle stands.
func (a *autopilot) arm(on, grounded bool) error {
	if !on && !grounded {
		return fmt.Errorf("disarming is refused in the air")
	}
	a.armed = on
	if !on {
		a.offboard, a.mode = false, modeManual
	}
	return nil
}

// kill stops the motors, also in the air.
func (a *autopilot) kill(v *closedloop.Vehicle) {
	a.armed, a.offboard, a.mode = false, false, modeManual
	v.StopMotors()
}

// look leaves offboard mode where proof of life stopped or the vehicle's failsafe has taken over, and disarms after its
// landing.
func (a *autopilot) look(now float64, m closedloop.Mode) {
	if a.offboard && now-a.alive > a.timeout || m != a.known && m == closedloop.Failsafe {
		a.offboard, a.mode = false, modeLand
	}
	if m != a.known && (m == closedloop.Disarmed || m == closedloop.Crashed) {
		a.armed, a.offboard, a.mode = false, false, modeManual
	}
	a.known = m
}

// steer has an armed vehicle do what its mode says: take off and then hold, or hold.
func (a *autopilot) steer(v *closedloop.Vehicle) error {
	if !a.armed || a.offboard {
		return nil
	}
	if a.mode == modeTakeoff && v.Mode() != closedloop.Climbing {
		if v.Grounded() {
			return v.TakeOff()
		}
		a.mode = modeLoiter
	}
	if a.mode == modeLoiter && v.Mode() == closedloop.Offboard {
		v.Hold()
	}
	return nil
}

// said is the mode by mavros' names.
func (a *autopilot) said() string {
	if a.offboard {
		return modeOffboard
	}
	return a.mode
}
