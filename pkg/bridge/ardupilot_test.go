package bridge

import (
	"errors"
	"math"
	"strings"
	"testing"

	rclinterfaces "vnd/msgs/rcl_interfaces"
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
