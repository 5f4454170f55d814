package main

import (
	"strings"
	"testing"

	"vnd/pkg/arena"
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
			a.look(now, arena.Offboard)
		}
		if a.offboard == heartbeat {
			t.Errorf("%s: offboard is %v without a heartbeat", name, a.offboard)
		}
		stream(now + 1)
		if err := a.follow(now); err != nil {
			t.Fatal(err)
		}
		now += 1 // nothing comes
		if a.look(now, arena.Offboard); a.offboard || !a.armed || a.said() != modeLand {
			t.Errorf("%s: after silence %+v", name, a)
		}
		a.look(now, arena.Failsafe)
		if a.look(now, arena.Disarmed); a.armed || a.said() != modeManual {
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
