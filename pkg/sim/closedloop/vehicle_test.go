package closedloop

import (
	"math"
	"strings"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

func vehicle(t *testing.T, place so3.Vec3) *Vehicle {
	t.Helper()
	var a Autopilot
	param.Default(&a)
	v, err := NewVehicle("", 1, place, a)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// The autopilot keeps a vehicle where it was put until the first command, follows commands while they come, and
// brings it down when they stop; later commands have it fly again.
func TestAutopilot(t *testing.T) {
	v := vehicle(t, so3.Vec3{X: 0.5, Z: 1})
	v.Advance(3)
	if off := v.Truth().State.P.Sub(so3.Vec3{X: 0.5, Z: 1}).Norm(); v.Mode() != Waiting || off > 0.1 {
		t.Fatalf("%v, %.2f m off", v.Mode(), off)
	}
	climb := quad.Command{Thrust: 11}
	for range 20 {
		v.Command(climb)
		v.Advance(0.02)
	}
	if v.Mode() != Offboard || v.Truth().State.V.Z < 0.2 {
		t.Fatalf("%v, climbs at %.2f m/s", v.Mode(), v.Truth().State.V.Z)
	}
	v.Command(quad.Command{Thrust: math.NaN()})
	v.Advance(0.45)
	if v.Mode() != Offboard {
		t.Errorf("%v before the timeout", v.Mode())
	}
	v.Advance(0.2)
	if v.Mode() != Failsafe {
		t.Errorf("%v after the timeout", v.Mode())
	}
	v.Advance(8)
	if s := v.Truth().State; v.Mode() != Disarmed || s.P.Z > 0.04 || math.Abs(s.P.X-0.5) > 0.2 {
		t.Errorf("%s at %v", v.Status(), s.P)
	}
	for range 50 {
		v.Command(climb)
		v.Advance(0.02)
	}
	if v.Mode() != Offboard || v.Truth().State.P.Z < 0.2 {
		t.Errorf("%s at %v after commands came again", v.Status(), v.Truth().State.P)
	}
	v.Reset()
	if s := v.Truth().State; v.Mode() != Waiting || v.Time() != 0 || s.P != (so3.Vec3{X: 0.5, Z: 1}) {
		t.Errorf("after a reset %v at %v", v.Mode(), s.P)
	}
}

func TestVehicleOnTheGround(t *testing.T) {
	v := vehicle(t, so3.Vec3{})
	v.Advance(2)
	if z := v.Truth().State.P.Z; math.Abs(z-0.03) > 0.005 || v.Mode() != Waiting {
		t.Errorf("%v at %.3f m", v.Mode(), z)
	}
	v = vehicle(t, so3.Vec3{Z: 10})
	for v.Mode() != Crashed && v.Time() < 10 {
		v.Command(quad.Command{})
		v.Advance(0.02)
	}
	if !strings.Contains(v.Status(), "crashed: hit the ground at") {
		t.Error(v.Status())
	}
	v.Command(quad.Command{Thrust: 12})
	if v.Mode() != Crashed {
		t.Errorf("%v after a crash", v.Mode())
	}
	if _, err := NewVehicle("none.yaml", 1, so3.Vec3{}, Autopilot{}); err == nil {
		t.Error("a world that is not there")
	}
	if err := v.Impose("hail"); err == nil {
		t.Error("a condition that is not there")
	}
}
