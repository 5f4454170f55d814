package bridge

import (
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	rclinterfaces "vnd/msgs/rcl_interfaces"
	"vnd/pkg/core/quad"
)

func TestChecksOfArdupilot(t *testing.T) {
	integer := func(n int64) rclinterfaces.ParameterValue {
		return rclinterfaces.ParameterValue{Type: 2, IntegerValue: n}
	}
	double := func(x float64) rclinterfaces.ParameterValue {
		return rclinterfaces.ParameterValue{Type: 3, DoubleValue: x}
	}
	for _, c := range []struct {
		name  string
		check func(*rclinterfaces.ParameterValue) error
		value rclinterfaces.ParameterValue
		want  string
	}{
		{"bit 3", CheckGuidOptions, integer(8), ""},
		{"all bits", CheckGuidOptions, integer(255), ""},
		{"as a float", CheckGuidOptions, double(8), ""},
		{"default", CheckGuidOptions, integer(0), "is 0, so that it takes thrust for a climb rate: set bit 3"},
		{"other bits", CheckGuidOptions, integer(0x77), "set bit 3 (value 127)"},
		{"half a bit", CheckGuidOptions, double(8.5), "is not known"},
		{"a float of which not all bits are known", CheckGuidOptions, double(1 << 60), "is not known"},
		{"a float beyond 64 bits", CheckGuidOptions, double(1 << 63), "is not known"},
		{"infinite", CheckGuidOptions, double(math.Inf(1)), "is not known"},
		{"no number", CheckGuidOptions, double(math.NaN()), "is not known"},
		{"not set", CheckGuidOptions, rclinterfaces.ParameterValue{}, "is not known to mavros"},
		{"no boost", CheckAngleBoost, integer(0), ""},
		{"a boost", CheckAngleBoost, double(1), "ATC_ANGLE_BOOST is 1, so that it divides thrust"},
		{"boost not set", CheckAngleBoost, rclinterfaces.ParameterValue{}, "is not known to mavros"},
		{"scaling", CheckThrustScaling, double(1), ""},
		{"half", CheckThrustScaling, double(0.5), "is 0.5, expected 1"},
		{"mavros' default", CheckThrustScaling, double(math.NaN()), "is NaN, expected 1"},
		{"no scaling", CheckThrustScaling, rclinterfaces.ParameterValue{}, "is not known"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.check(&c.value)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, expected %q", err, c.want)
			}
			if unknown := strings.Contains(c.want, "not known"); errors.Is(err, ErrNotKnown) != unknown {
				t.Errorf("not known: %v", !unknown)
			}
		})
	}
}

// Motors that ArduPilot keeps turning at MOT_SPIN_MIN give what least_thrust says, between and beyond.
func TestLeastThrustOfArdupilot(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		curve := rapid.Float64Range(0.01, 1).Draw(rt, "curve") // of the motors: thrust over what drives them
		share := func(x float64) float64 { return x * (1 - curve + curve*x) }
		s := Spin{Min: rapid.Float64Range(0, 0.3).Draw(rt, "min"), Max: rapid.Float64Range(0.9, 1).Draw(rt, "max")}
		b := s.Max - s.Min
		s.Expo = curve * b * b / (share(s.Max) - share(s.Min)) // which makes up for it
		motor := func(u float64) float64 {                     // thrust as the firmware drives a motor
			r := u
			if s.Expo != 0 {
				r = (s.Expo - 1 + math.Sqrt((1-s.Expo)*(1-s.Expo)+4*s.Expo*u)) / (2 * s.Expo)
			}
			return share(s.Min + b*r)
		}
		hover := rapid.Float64Range(0.05, 0.9).Draw(rt, "hover")
		x := Throttle{Hover: hover, Least: s.Least(hover)}
		if err := CheckLeastThrust(&x, s); err != nil {
			rt.Error(err)
		}
		g := rapid.Float64Range(x.Least, 1/hover).Draw(rt, "g")
		u, clipped := x.Of(g*quad.Gravity, 0)
		if got := motor(u) / motor(hover); !clipped && math.Abs(got-g) > 1e-6 {
			rt.Errorf("%g g at throttle %g is %g g", g, u, got)
		}
		x.Least += 0.04
		if err := CheckLeastThrust(&x, s); err == nil || !strings.Contains(err.Error(), "expected 0.") {
			rt.Errorf("another one: %v", err)
		}
	})
}

func TestSpinIsReadFromMavros(t *testing.T) {
	half := rclinterfaces.ParameterValue{Type: 3, DoubleValue: 0.5}
	one := rclinterfaces.ParameterValue{Type: 2, IntegerValue: 1}
	if s, err := ReadSpin(&half, &one, &half); err != nil || s != (Spin{0.5, 1, 0.5}) {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := ReadSpin(&half, &one, new(rclinterfaces.ParameterValue)); !errors.Is(err, ErrNotKnown) ||
		!strings.Contains(err.Error(), "MOT_THST_EXPO") {
		t.Error(err)
	}
}
