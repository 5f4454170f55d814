package quadsim

import (
	"math"
	"strings"
	"testing"

	px4msgs "vnd/msgs/px4_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/sim/closedloop"
)

// Arming and modes: what is followed when. Each line is a time and what happens then.
func TestAutopilot(t *testing.T) {
	for name, heartbeat := range map[string]bool{"mavros": false, "px4": true} {
		a := &autopilot{timeout: 0.5, heartbeat: heartbeat}
		a.begin(true)
		if !a.armed || a.said() != modePosition || a.setpoint(0) {
			t.Fatalf("%s: begins %+v", name, a)
		}
		if err := a.enter(modeOffboard, 0.1); err == nil || !strings.Contains(err.Error(), "no setpoints for 0.5 s") {
			t.Errorf("%s: offboard mode before setpoints came: %v", name, err)
		}
		now := 0.2
		stream := func(until float64) {
			for ; now < until; now += 0.02 {
				a.beat(now)
				a.setpoint(now)
			}
		}
		stream(1)
		if err := a.follow(now); err != nil || !a.setpoint(now) || a.said() != modeOffboard {
			t.Fatalf("%s: offboard mode: %v, %+v", name, err, a)
		}
		if err := a.arm(false, false); err == nil || !a.armed {
			t.Errorf("%s: disarmed in the air", name)
		}
		// Setpoints go on without a heartbeat, which PX4 does not put up with.
		for end := now + 1; now < end; now += 0.02 {
			a.setpoint(now)
			a.look(now, closedloop.Offboard)
		}
		if a.offboard == heartbeat {
			t.Errorf("%s: offboard is %v without a heartbeat", name, a.offboard)
		}
		stream(now + 1)
		if err := a.follow(now); err != nil {
			t.Fatal(err)
		}
		now += 1 // nothing comes
		if a.look(now, closedloop.Offboard); a.offboard || !a.armed || a.said() != modeLand {
			t.Errorf("%s: after silence %+v", name, a)
		}
		a.look(now, closedloop.Failsafe)
		if a.look(now, closedloop.Disarmed); a.armed || a.said() != modeManual {
			t.Errorf("%s: after the landing %+v", name, a)
		}
		if stream(now + 1); a.setpoint(now) || a.follow(now) != nil || a.setpoint(now) {
			t.Errorf("%s: setpoints were followed without arming: %+v", name, a)
		}
		if err := a.arm(true, true); err != nil || !a.setpoint(now) {
			t.Errorf("%s: armed: %v, %+v", name, err, a)
		}
		if err := a.arm(false, true); err != nil || a.armed || a.setpoint(now) {
			t.Errorf("%s: disarmed: %v, %+v", name, err, a)
		}
	}
	a := &autopilot{timeout: 0.5}
	a.begin(false)
	for mode, want := range map[string]string{modePosition: "no pilot", "DANCE": `"DANCE" is not known`} {
		if err := a.enter(mode, 0); a.armed || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("mode %s on the ground: %v, %+v", mode, err, a)
		}
	}
}

// Armed in take-off mode the vehicle climbs to its height and holds there; offboard commands take it over, and loiter
// mode has it hold again, where it is by then.
func TestTakesOff(t *testing.T) {
	var p closedloop.Autopilot
	param.Default(&p)
	v, err := closedloop.NewVehicle("", 1, so3.Vec3{X: 1}, p)
	if err != nil {
		t.Fatal(err)
	}
	a := &autopilot{timeout: 0.5}
	a.begin(false)
	fly := func(seconds float64, c quad.Command) {
		t.Helper()
		for end := v.Time() + seconds; v.Time() < end; v.Advance(0.02) {
			if a.setpoint(v.Time()) {
				v.Command(c)
			}
			a.look(v.Time(), v.Mode())
			if err := a.steer(v); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := a.enter(autoMode(&px4msgs.VehicleCommand{Param1: 1, Param2: 4, Param3: 2}), 0); err != nil {
		t.Fatal(err)
	}
	if fly(1, quad.Command{Thrust: 12}); !v.Grounded() || a.said() != modeTakeoff {
		t.Fatalf("not armed: %v, %s", v.Truth().State.P, a.said())
	}
	if err := a.arm(true, true); err != nil {
		t.Fatal(err)
	}
	fly(5, quad.Command{Thrust: 12})
	if z := v.Truth().State.P.Z; a.said() != modeLoiter || math.Abs(z-1-0.03) > 0.1 || v.Mode() != closedloop.Waiting {
		t.Fatalf("after the take-off: %.2f m, %s, %s", z, a.said(), v.Status())
	}
	if err := a.enter(modeOffboard, v.Time()); err != nil {
		t.Fatal(err)
	}
	fly(0.5, quad.Command{Thrust: 11})
	z := v.Truth().State.P.Z
	if v.Mode() != closedloop.Offboard || z < 1.1 {
		t.Fatalf("offboard: %.2f m, %s", z, v.Status())
	}
	if err := a.enter(modeLoiter, v.Time()); err != nil {
		t.Fatal(err)
	}
	fly(3, quad.Command{})
	if s := v.Truth().State; v.Mode() != closedloop.Waiting || math.Abs(s.P.Z-z) > 0.2 || s.V.Norm() > 0.1 {
		t.Errorf("held: %.2f m, %s", s.P.Z, v.Status())
	}
	if err := v.TakeOff(); err == nil || !strings.Contains(err.Error(), "take-off is refused") {
		t.Errorf("a take-off in the air: %v", err)
	}
}

// A kill stops the motors in the air, and what comes afterwards is not followed; a disarming does neither.
func TestKillStopsTheMotorsInTheAir(t *testing.T) {
	for name, command := range map[string]struct {
		m     px4msgs.VehicleCommand
		falls bool
	}{"kill": {bridge.Kill(), true}, "disarm": {bridge.Disarm(), false}} {
		t.Run(name, func(t *testing.T) {
			var p closedloop.Autopilot
			param.Default(&p)
			v, err := closedloop.NewVehicle("", 1, so3.Vec3{Z: 2}, p)
			if err != nil {
				t.Fatal(err)
			}
			a := &autopilot{timeout: 0.5}
			a.begin(true)
			for end := v.Time() + 1; v.Time() < end; v.Advance(0.02) {
				a.setpoint(v.Time())
			}
			if err := a.follow(v.Time()); err != nil {
				t.Fatal(err)
			}
			if m := command.m; bridge.Kills(m.Command, m.Param1, m.Param2) {
				a.kill(v)
			} else if a.arm(false, v.Grounded()) == nil {
				t.Error("disarmed in the air")
			}
			for end := v.Time() + 0.4; v.Time() < end; v.Advance(0.02) {
				if a.setpoint(v.Time()) {
					v.Command(quad.Command{Thrust: quad.Gravity})
				}
				a.look(v.Time(), v.Mode())
			}
			if speed := v.Truth().State.V.Z; (speed < -2) != command.falls || a.armed == command.falls {
				t.Errorf("armed %v, %.1f m/s upwards", a.armed, speed)
			}
		})
	}
}

// Samples every 5 ms with jitter make an estimate every 10 ms, and time that was set back makes one at once.
func TestEvery(t *testing.T) {
	var e every
	n := 0
	for i := range 2000 {
		now := float64(i)*0.005 + []float64{0, 0.0003, -0.0002}[i%3]
		if e.due(now, 100) {
			n++
		}
	}
	if n != 1000 || !e.due(0, 100) || e.due(0.005, 100) {
		t.Errorf("%d in 10 s, then %+v", n, e)
	}
}
