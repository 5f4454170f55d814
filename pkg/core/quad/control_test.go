package quad

import (
	"math"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/core/so3"
)

func TestLimits(t *testing.T) {
	var l Limits
	if err := param.Check(&l); err != nil {
		t.Fatal(err)
	}
	param.Default(&l)
	if err := l.Check(); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []Limits{
		{MaxThrust: 9.8, MaxTiltRate: 1, MaxYawRate: 1},
		{MinThrust: 9.9, MaxThrust: 20, MaxTiltRate: 1, MaxYawRate: 1},
		{MaxThrust: math.NaN(), MaxTiltRate: 1, MaxYawRate: 1},
		{MaxThrust: 20, MaxYawRate: 1},
	} {
		if bad.Check() == nil {
			t.Errorf("%+v passes", bad)
		}
	}
	got := l.Clip(Command{Thrust: 99, Rates: so3.Vec3{X: -99, Y: 1, Z: 99}})
	if want := (Command{Thrust: l.MaxThrust, Rates: so3.Vec3{X: -l.MaxTiltRate, Y: 1, Z: l.MaxYawRate}}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
