package bridge

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	crazyflieinterfaces "vnd/msgs/crazyflie_interfaces"
	geometrymsgs "vnd/msgs/geometry_msgs"
	rclinterfaces "vnd/msgs/rcl_interfaces"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// A turn to the right, nose down, and to the left seen from above: 90°/s each, at half of the PWM range.
func TestTwistOfRates(t *testing.T) {
	var m geometrymsgs.Twist
	h := math.Pi / 2
	clipped := PutTwist(&m, quad.Command{Thrust: quad.Gravity, Rates: so3.Vec3{X: h, Y: h, Z: h}},
		&Throttle{Hover: 0.5}, 0)
	want := geometrymsgs.Twist{Linear: geometrymsgs.Vector3{X: 90, Y: 90, Z: 32768},
		Angular: geometrymsgs.Vector3{Z: -90}}
	if m != want || clipped {
		t.Errorf("%+v, clipped %v", m, clipped)
	}
	if !PutTwist(&m, quad.Command{Thrust: 2 * quad.Gravity}, &Throttle{Hover: 0.5}, 0) || m.Linear.Z != 60000 {
		t.Errorf("full thrust: %+v", m)
	}
}

// TestTwistsAreWhatTheFirmwareFlies has what crazyflie-firmware 2a18fc2, built for this machine, made of a Twist behind
// crazyswarm2's C++ server: mean rates of its PID controller in physics of a Crazyflie 2.1+, and thrust.
func TestTwistsAreWhatTheFirmwareFlies(t *testing.T) {
	const hover = 0.029 * quad.Gravity / 0.48 // weight over four motors' thrust
	for _, x := range []struct {
		x, y, z, yaw float64 // of the Twist
		thrust       float64 // flown, m/s²
		rates        so3.Vec3
	}{
		{0, 0, 38842, 0, 9.810, so3.Vec3{}},
		{0, 60, 38842, 0, 9.810, so3.Vec3{X: 1.0659}},
		{0, -200, 38842, 0, 9.810, so3.Vec3{X: -3.5623}},
		{60, 0, 38842, 0, 9.810, so3.Vec3{Y: 1.0660}},
		{-200, 0, 38842, 0, 9.720, so3.Vec3{Y: -3.5626, Z: 0.0153}},
		{0, 0, 38842, 60, 9.810, so3.Vec3{Z: -1.0755}},
		{0, 0, 38842, -100, 9.810, so3.Vec3{Z: 1.7925}},
		{0, 0, 20000, 0, 5.051, so3.Vec3{}},
		{0, 0, 60000, 0, 15.154, so3.Vec3{}},
	} {
		m := geometrymsgs.Twist{Linear: geometrymsgs.Vector3{X: x.x, Y: x.y, Z: x.z},
			Angular: geometrymsgs.Vector3{Z: x.yaw}}
		c := FromTwist(&m, &Throttle{Hover: hover}, 0).Command
		if off := c.Rates.Sub(x.rates).Norm(); off > 0.035*x.rates.Norm() || math.Abs(c.Thrust/x.thrust-1) > 0.01 {
			t.Errorf("%+v means %+v, the firmware flew %+v at %g m/s²", m, c, x.rates, x.thrust)
		}
	}
}

func TestTwistsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Float64Range(-30, 30)
		c := quad.Command{Thrust: rapid.Float64Range(0.1, 15).Draw(t, "thrust"),
			Rates: so3.Vec3{X: rate.Draw(t, "x"), Y: rate.Draw(t, "y"), Z: rate.Draw(t, "z")}}
		throttle := &Throttle{Hover: 0.55, Curve: rapid.Float64Range(0, 1).Draw(t, "curve")}
		var m geometrymsgs.Twist
		if PutTwist(&m, c, throttle, 0) {
			return
		}
		back := FromTwist(&m, throttle, 0)
		if back.Command.Rates.Sub(c.Rates).Norm() > 1e-9 || math.Abs(back.Command.Thrust-c.Thrust) > 1e-3 {
			t.Fatalf("%+v came back as %+v", c, back.Command)
		}
	})
}

func TestCrazyflieSettings(t *testing.T) {
	integer := func(n int64) rclinterfaces.ParameterValue {
		return rclinterfaces.ParameterValue{Type: rclinterfaces.ParameterTypeParameterInteger, IntegerValue: n}
	}
	unset := rclinterfaces.ParameterValue{}
	for want, v := range map[string][]rclinterfaces.ParameterValue{
		"":                      {integer(0), integer(0), integer(0), integer(1)},
		"stabModePitch is 1":    {integer(0), integer(1), integer(0), integer(1)},
		"stabModeYaw is not kn": {integer(0), integer(0), unset, integer(1)},
		"controller is 2":       {integer(0), integer(0), integer(0), integer(2)},
	} {
		err := CrazyflieSettingsOf(Crazyswarm2).Check(v)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %q", err, want)
		}
	}
	names := CrazyflieSettingsOf(Crazyswarm2).Parameters("cf1")
	if len(names) != 4 || names[0] != "cf1.params.flightmode.stabModeRoll" {
		t.Errorf("%v", names)
	}
}

// Rates alone go by PID, and Mellinger's takes the rest, too; where both are right a setpoint asks for no correction.
func TestFullState(t *testing.T) {
	all := CrazyflieSettingsOf(Crazyswarm2FullState)
	v := []rclinterfaces.ParameterValue{{Type: rclinterfaces.ParameterTypeParameterInteger, IntegerValue: 1}}
	want := "stabilizer.controller is 1, so that it takes no accelerations and rates: set it to 2"
	if err := all.Check(v); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, expected %q", err, want)
	}
	if v[0].IntegerValue = all.Values()[0]; all.Check(v) != nil {
		t.Error(all.Check(v))
	}
	var m crazyflieinterfaces.FullState
	s := quad.State{P: so3.Vec3{X: 1, Y: 2, Z: 3}, Q: so3.Exp(so3.Vec3{X: 0.5}), V: so3.Vec3{X: 2}}
	c := quad.Command{Thrust: 12, Rates: so3.Vec3{X: 3, Y: -1, Z: 0.5}}
	PutFullState(&m, 5, "map", &s, c, 0)
	if m.Header.FrameID != "map" || m.Pose.Position.Z != 3 || m.Twist.Linear.X != 2 || m.Twist.Angular.Y != -1 ||
		math.Abs(m.Acc.Z-(12*math.Cos(0.5)-quad.Gravity)) > 1e-12 || math.Abs(m.Acc.Y+12*math.Sin(0.5)) > 1e-12 {
		t.Errorf("%+v", m)
	}
	const ahead = 0.02
	PutFullState(&m, 5, "map", &s, c, ahead)
	q := so3.Quat{W: m.Pose.Orientation.W, X: m.Pose.Orientation.X, Y: m.Pose.Orientation.Y, Z: m.Pose.Orientation.Z}
	if turned := so3.Log(s.Q.Conj().Mul(q)); turned.Sub(c.Rates.Scale(ahead)).Norm() > 1e-12 {
		t.Errorf("turned by %v", turned)
	}
	if x := m.Pose.Position.X; math.Abs(x-1-2*ahead) > 2e-3 {
		t.Errorf("x is %g", x)
	}
	PutFullState(&m, 5, "map", &s, c, 60) // a clock that leapt
	if x := m.Pose.Position.X; x > 1.3 {
		t.Errorf("x is %g", x)
	}
}

func TestCrazyflieStatus(t *testing.T) {
	for name, c := range map[string]struct {
		bits   uint16
		armed  bool
		flying bool
		locked bool
	}{"off": {0, false, false, false}, "flies": {2 | 16, true, true, false}, "tumbled": {2 | 32, true, false, true},
		"locked": {64, false, false, true}} {
		a, flying, locked := FromCrazyflieStatus(&crazyflieinterfaces.Status{SupervisorInfo: c.bits})
		if a.Armed != c.armed || flying != c.flying || (locked != "") != c.locked || a.Follows() || !a.Connected {
			t.Errorf("%s: %+v, flying %v, %q", name, a, flying, locked)
		}
	}
}
