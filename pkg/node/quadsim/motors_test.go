package quadsim

import (
	"strings"
	"testing"

	actuatormsgs "vnd/msgs/actuator_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/param"
	"vnd/pkg/core/so3"
	"vnd/pkg/ros2/cdr"
	"vnd/pkg/sim/closedloop"
)

// A vehicle is driven by the commands of its motors until they stop: then its autopilot lands it.
func TestMotorsDriveTheVehicle(t *testing.T) {
	var a closedloop.Autopilot
	param.Default(&a)
	v, err := closedloop.NewVehicle("", 1, so3.Vec3{Z: 1}, a)
	if err != nil {
		t.Fatal(err)
	}
	read, err := reader("motors", bridge.TypeActuators, &Params{})
	if err != nil {
		t.Fatal(err)
	}
	drive := func(u float64, seconds float64) {
		data, err := cdr.Marshal(&actuatormsgs.Actuators{Normalized: []float64{u, u, u, u}})
		if err != nil {
			t.Fatal(err)
		}
		c, err := read(data)
		if err != nil {
			t.Fatal(err)
		}
		for range int(seconds / 0.02) {
			c.obey(v)
			v.Advance(0.02)
		}
	}
	drive(0.37, 0.4)
	if p := v.Truth().State.P; p.Sub(so3.Vec3{Z: 1}).Norm() > 0.1 || v.Mode() != closedloop.Offboard {
		t.Errorf("under hover's command the vehicle is at %v, %v", p, v.Mode())
	}
	drive(0.5, 0.2)
	if vz := v.Truth().State.V.Z; vz < 0.5 {
		t.Errorf("under more than that it climbs by %g m/s", vz)
	}
	v.Advance(20)
	if v.Mode() != closedloop.Disarmed {
		t.Errorf("after the commands stopped it %v", v.Mode())
	}
}

func TestMotorsAreRefusedInOneLine(t *testing.T) {
	read, err := reader("/quad/motors", bridge.TypeActuators, &Params{})
	if err != nil {
		t.Fatal(err)
	}
	data, err := cdr.Marshal(&actuatormsgs.Actuators{Normalized: []float64{1500, 1500, 1500, 1500}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = read(data); err == nil ||
		!strings.HasPrefix(err.Error(), "topic /quad/motors: normalized[0] is 1500, expected 0 to 1") {
		t.Errorf("PWM: %v", err)
	}
	p := new(Params)
	param.Default(p)
	p.Interface, p.Autopilot.Firmware = bridge.Rotors, "betaflight"
	if err := p.check(); err == nil || !strings.Contains(err.Error(), "autopilot.firmware") {
		t.Errorf("a firmware: %v", err)
	}
}
