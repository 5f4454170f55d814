package bridge

import (
	"math"
	"strings"
	"testing"

	as2msgs "vnd/msgs/as2_msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	mrsmsgs "vnd/msgs/mrs_msgs"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/ros2/cdr"
)

func TestThrustAndRates(t *testing.T) {
	c := quad.Command{Thrust: quad.Gravity, Rates: so3.Vec3{X: 1, Y: -2, Z: 3}}
	var m as2msgs.Thrust
	var w geometrymsgs.TwistStamped
	PutRates(&w, 7, "drone0/base_link", c)
	for hover, want := range map[float64]float32{0: 0, 0.5: 0.5} {
		PutThrust(&m, 7, "drone0/base_link", c, 2, &Throttle{Hover: hover})
		if math.Abs(float64(m.Thrust)-2*quad.Gravity) > 1e-5 || m.ThrustNormalized != want {
			t.Errorf("hover_throttle %g: %+v", hover, m)
		}
	}
	if w.Twist.Angular.Y != -2 || w.Header.FrameID != "drone0/base_link" {
		t.Errorf("%+v", w)
	}
	back := FromThrustAndRates(&m, &w, 2)
	if back.Command.Rates != c.Rates || math.Abs(back.Command.Thrust-c.Thrust) > 1e-5 || back.Stamp != 7 {
		t.Errorf("%+v", back)
	}
}

// Releases after 1.1.3 have no reference_frame, with which a PlatformInfo ends.
func TestPlatformInfo(t *testing.T) {
	m := as2msgs.PlatformInfo{Connected: true, Armed: true, Offboard: true, CurrentControlMode: ByRates()}
	m.Status.State = as2msgs.PlatformStatusFlying
	m.CurrentControlMode.Header.FrameID = "odd"
	for name, c := range map[string]struct {
		set     func()
		follows bool
		mode    string
		want    string
	}{
		"follows":   {func() {}, true, "BODY_RATES", ""},
		"emergency": {func() { m.Status.State = as2msgs.PlatformStatusEmergency }, true, "BODY_RATES", "in EMERGENCY"},
		"hovers":    {func() { m.CurrentControlMode.ControlMode = as2msgs.ControlModeHover }, false, "HOVER", ""},
		"unknown":   {func() { m.CurrentControlMode.ControlMode = 9 }, false, "control_mode 9", ""},
	} {
		t.Run(name, func(t *testing.T) {
			before := m
			defer func() { m = before }()
			c.set()
			data, err := cdr.Marshal(&m)
			if err != nil {
				t.Fatal(err)
			}
			for _, data := range [][]byte{data, data[:len(data)-1]} {
				a, offboard, err := ReadPlatformInfo(data)
				if a.Follows() != c.follows || !offboard || a.Mode != c.mode || (err == nil) != (c.want == "") ||
					err != nil && !strings.Contains(err.Error(), c.want) {
					t.Errorf("%+v, offboard %v, %v", a, offboard, err)
				}
			}
			if _, _, err := ReadPlatformInfo(data[:len(data)-2]); err == nil {
				t.Error("half a report was read")
			}
		})
	}
}

func TestAttitudeRate(t *testing.T) {
	c := quad.Command{Thrust: 12, Rates: so3.Vec3{X: 1, Y: -2, Z: 3}}
	throttle := &Throttle{Hover: 0.4, Curve: 0.3, Voltage: 16}
	var m mrsmsgs.HwApiAttitudeRateCmd
	if PutAttitudeRate(&m, 7, c, throttle, 15) || m.BodyRate.Y != -2 || m.Throttle <= 0.4 || m.Throttle > 1 {
		t.Errorf("%+v", m)
	}
	back := FromAttitudeRate(&m, throttle, 15)
	if back.Command.Rates != c.Rates || math.Abs(back.Command.Thrust-12) > 1e-9 || back.Stamp != 7 {
		t.Errorf("%+v", back)
	}
	if !PutAttitudeRate(&m, 7, quad.Command{Thrust: 100}, throttle, 15) || m.Throttle != 1 {
		t.Errorf("%+v", m)
	}
	if CheckCapabilities(&mrsmsgs.HwApiCapabilities{AcceptsAttitudeRateCmd: true}) != nil ||
		CheckCapabilities(&mrsmsgs.HwApiCapabilities{AcceptsAttitudeCmd: true}) == nil {
		t.Error("capabilities")
	}
}
