package bridge

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"vnd/msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	mavrosmsgs "vnd/msgs/mavros_msgs"
	px4msgs "vnd/msgs/px4_msgs"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
	"vnd/pkg/ros2/cdr"
)

func decodeCommand(t testing.TB, m cdr.Message, hover float64) (Command, error) {
	t.Helper()
	data, err := cdr.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	d, err := NewCommandDecoder("/command", m.TypeName(), Throttle{Hover: hover})
	if err != nil {
		t.Fatal(err)
	}
	return d.Decode(data)
}

// Every mask of an AttitudeTarget: body rates and thrust come from 128 alone.
func TestTypeMasks(t *testing.T) {
	const rates = "which ignores body_rate (bits 1, 2, 4): an attitude is commanded, expected 128, body rates and " +
		"thrust"
	const thrust = "which ignores thrust (bit 64), expected 128, body rates and thrust"
	const both = "which commands orientation too, so that body_rate is not what is followed, expected 128, body " +
		"rates and thrust"
	for mask, want := range map[uint8]string{
		128: "",
		0:   "topic /command: type_mask is 0, " + both,
		1:   "topic /command: type_mask is 1, " + rates,
		2:   "topic /command: type_mask is 2, " + rates,
		4:   "topic /command: type_mask is 4, " + rates,
		7:   "topic /command: type_mask is 7, " + rates,
		64:  "topic /command: type_mask is 64, " + thrust,
		71:  "topic /command: type_mask is 71, " + rates,
		129: "topic /command: type_mask is 129, " + rates,
		135: "topic /command: type_mask is 135, " + rates,
		192: "topic /command: type_mask is 192, " + thrust,
		255: "topic /command: type_mask is 255, " + rates,
	} {
		c, err := decodeCommand(t, &mavrosmsgs.AttitudeTarget{TypeMask: mask, Thrust: 0.5}, 0.5)
		switch {
		case want == "" && (err != nil || c.Command.Thrust != quad.Gravity):
			t.Errorf("mask %d: %+v, error %v", mask, c, err)
		case want != "" && (err == nil || err.Error() != want):
			t.Errorf("mask %d: error %v, expected %s", mask, err, want)
		}
	}
}

// Throttle is clipped as mavros and PX4 do, and hover throttle is 9.81 m/s².
func TestThrottle(t *testing.T) {
	for _, c := range []struct {
		throttle float32
		hover    float64
		thrust   float64
		clipped  bool
	}{
		{0.5, 0.5, 9.81, false}, {0.25, 0.5, 4.905, false}, {1, 0.5, 19.62, false}, {0, 0.3, 0, false},
		{1.5, 0.5, 19.62, true}, {-0.1, 0.5, 0, true}, {float32(math.Inf(1)), 0.5, 19.62, true},
	} {
		for name, m := range map[string]cdr.Message{
			"mavros": &mavrosmsgs.AttitudeTarget{TypeMask: 128, Thrust: c.throttle},
			"px4":    &px4msgs.VehicleRatesSetpoint{ThrustBody: [3]float32{0, 0, -c.throttle}},
			"twist":  &geometrymsgs.Twist{Linear: geometrymsgs.Vector3{Z: float64(c.throttle) * 65535}},
		} {
			got, err := decodeCommand(t, m, c.hover)
			if err != nil || math.Abs(got.Command.Thrust-c.thrust) > 1e-6 || got.Clipped != c.clipped {
				t.Errorf("%s: throttle %g at hover %g is %+v, expected %g, clipped %v; error %v", name, c.throttle,
					c.hover, got, c.thrust, c.clipped, err)
			}
		}
	}
	nan := float32(math.NaN())
	for _, m := range []cdr.Message{&mavrosmsgs.AttitudeTarget{TypeMask: 128, Thrust: nan},
		&px4msgs.VehicleRatesSetpoint{ThrustBody: [3]float32{0, 0, nan}}, &msgs.ThrustRates{Thrust: nan}} {
		if c, err := decodeCommand(t, m, 0.5); err != nil || !math.IsNaN(c.Command.Thrust) || c.Clipped {
			t.Errorf("%s: NaN became %+v, error %v", m.TypeName(), c, err)
		}
	}
	if c, err := decodeCommand(t, &msgs.ThrustRates{Thrust: -1}, 0); err != nil || c.Command.Thrust != 0 || !c.Clipped {
		t.Errorf("negative thrust became %+v, error %v", c, err)
	}
}

// FRD: positive pitch and yaw turn nose up and right, which about our axes left and up is negative.
func TestVehicleRatesSetpoint(t *testing.T) {
	m := &px4msgs.VehicleRatesSetpoint{Timestamp: 1234, Roll: 1, Pitch: 2, Yaw: 4, ThrustBody: [3]float32{0, 0, -0.75}}
	c, err := decodeCommand(t, m, 0.375)
	want := Command{Stamp: 1_234_000, Command: quad.Command{Thrust: 19.62, Rates: so3.Vec3{X: 1, Y: -2, Z: -4}}}
	if err != nil || c != want {
		t.Errorf("%+v, expected %+v, error %v", c, want, err)
	}
	m.ThrustBody[0] = 0.2
	text := "topic /command: thrust_body is [0.2 0 -0.75], expected 0, 0, −throttle as of a multirotor"
	if _, err := decodeCommand(t, m, 0.5); err == nil || err.Error() != text {
		t.Errorf("error %v, expected %s", err, text)
	}
}

// Roll 90 deg/s, nose down 180 deg/s, yaw to the right 45 deg/s; throttle 0.6 of a vehicle that hovers at 0.6.
func TestLegacyTwist(t *testing.T) {
	m := &geometrymsgs.Twist{Linear: geometrymsgs.Vector3{X: 180, Y: 90, Z: 0.6 * 65535},
		Angular: geometrymsgs.Vector3{Z: 45}}
	c, err := decodeCommand(t, m, 0.6)
	want := so3.Vec3{X: math.Pi / 2, Y: math.Pi, Z: -math.Pi / 4}
	if err != nil || c.Command.Rates.Sub(want).Norm() > 1e-15 || math.Abs(c.Command.Thrust-9.81) > 1e-12 ||
		c.Stamp != 0 {
		t.Errorf("%+v, expected rates %v, error %v", c, want, err)
	}
}

// What is published is read back, clipped where throttle has to be.
func TestPublishedCommands(t *testing.T) {
	const throttleStep = 1e-6 // float32 in 0…1
	rapid.Check(t, func(rt *rapid.T) {
		rate := rapid.Float64Range(-20, 20)
		c := quad.Command{Thrust: rapid.Float64Range(0, 40).Draw(rt, "thrust"),
			Rates: so3.Vec3{X: rate.Draw(rt, "wx"), Y: rate.Draw(rt, "wy"), Z: rate.Draw(rt, "wz")}}
		hover := rapid.Float64Range(0.1, 1).Draw(rt, "hover")
		full := quad.Gravity / hover
		reachable := math.Min(c.Thrust, full)

		own, target, setpoint := new(msgs.ThrustRates), new(mavrosmsgs.AttitudeTarget),
			new(px4msgs.VehicleRatesSetpoint)
		PutThrustRates(own, stamp, "base_link", c)
		if PutAttitudeTarget(target, stamp, "base_link", c, &Throttle{Hover: hover},
			0) != (c.Thrust/quad.Gravity*hover > 1) {
			rt.Fatal("mavros: clipped or not")
		}
		if PutVehicleRatesSetpoint(setpoint, stamp, c, &Throttle{Hover: hover},
			0) != (c.Thrust/quad.Gravity*hover > 1) {
			rt.Fatal("px4: clipped or not")
		}
		for _, e := range []struct {
			m      cdr.Message
			thrust float64
			slack  float64 // m/s², of the thrust
			stamp  int64
		}{
			{own, c.Thrust, 1e-5, stamp}, {target, reachable, full * throttleStep, stamp},
			{setpoint, reachable, full * throttleStep, stamp / 1000 * 1000},
		} {
			got, err := decodeCommand(t, e.m, hover)
			if err != nil || math.Abs(got.Command.Thrust-e.thrust) > e.slack ||
				got.Command.Rates.Sub(c.Rates).Norm() > 1e-5 || got.Stamp != e.stamp {
				rt.Fatalf("%s: %+v became %+v, error %v", e.m.TypeName(), c, got, err)
			}
		}
	})
}

func TestPublishingAllocatesNothing(t *testing.T) {
	own, target, setpoint := new(msgs.ThrustRates), new(mavrosmsgs.AttitudeTarget), new(px4msgs.VehicleRatesSetpoint)
	c, half := quad.Command{Thrust: 9, Rates: so3.Vec3{X: 1}}, Throttle{Hover: 0.5}
	if n := testing.AllocsPerRun(100, func() {
		PutThrustRates(own, stamp, "base_link", c)
		PutAttitudeTarget(target, stamp, "base_link", c, &half, 0)
		PutVehicleRatesSetpoint(setpoint, stamp, c, &half, 0)
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

func TestCommandErrors(t *testing.T) {
	for _, c := range []struct {
		typeName string
		hover    float64
		want     string
	}{
		{"std_msgs/msg/String", 0.5, "topic /c: no commands of thrust and body rates in std_msgs/msg/String"},
		{TypeAttitudeTarget, 0, "topic /c (mavros_msgs/msg/AttitudeTarget): parameter hover_throttle is not set: " +
			"the throttle, 0 to 1, at which the vehicle hovers"},
		{TypeTwist, 1.5, "topic /c (geometry_msgs/msg/Twist): parameter hover_throttle is 1.5, expected more than 0 " +
			"and at most 1"},
		{TypeVehicleRatesSetpoint, math.NaN(),
			"topic /c (px4_msgs/msg/VehicleRatesSetpoint): parameter hover_throttle is NaN, expected more than 0 " +
				"and at most 1"},
	} {
		if _, err := NewCommandDecoder("/c", c.typeName, Throttle{Hover: c.hover}); err == nil ||
			err.Error() != c.want {
			t.Errorf("error %v, expected %s", err, c.want)
		}
	}
	for _, typeName := range []string{TypeThrustRates, TypeStep} {
		if _, err := NewCommandDecoder("/c", typeName, Throttle{}); err != nil {
			t.Errorf("%s: %v", typeName, err)
		}
	}
	d, err := NewCommandDecoder("/c", TypeThrustRates, Throttle{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Decode([]byte{0, 1}); err == nil {
		t.Error("two bytes were a command")
	}
}

// Every type that is said to be read can be.
func TestTypesAreKnown(t *testing.T) {
	for _, name := range PoseTypes() {
		if _, ok := msgs.Lookup(name); !ok {
			t.Errorf("%s is not among the messages", name)
		}
		if _, err := NewPoseDecoder("/t", name, PoseOptions{}); err != nil {
			t.Error(err)
		}
	}
	for name := range CommandTypes() {
		if _, ok := msgs.Lookup(name); !ok {
			t.Errorf("%s is not among the messages", name)
		}
		if _, err := NewCommandDecoder("/t", name, Throttle{Hover: 0.5}); err != nil {
			t.Error(err)
		}
	}
}

// Of vnd's own steps those are commands that were flown from a measured state.
func TestStepsThatWereFlown(t *testing.T) {
	d, err := NewCommandDecoder("/step", TypeStep, Throttle{})
	if err != nil {
		t.Fatal(err)
	}
	for stage, flown := range map[guard.Stage]bool{guard.Policy: true, guard.Limited: true, guard.Hold: true,
		guard.Land:  true,
		guard.Blind: false, guard.Off: false, guard.NotOffboard: false} {
		data, err := cdr.Marshal(&msgs.Step{CommandSent: [4]float64{9, 1, 2, 3}, GuardState: uint8(stage)})
		if err != nil {
			t.Fatal(err)
		}
		c, err := d.Decode(data)
		if flown != (err == nil) || flown && c.Command.Thrust != 9 {
			t.Errorf("%v: %+v, %v", stage, c, err)
		}
		if !flown && !strings.Contains(err.Error(), "topic /step: guard_state is") {
			t.Error(err)
		}
	}
}

// A voltage is followed as it settles, within 2 s; what no battery has is left out.
func TestBattery(t *testing.T) {
	var b Battery
	if v := b.Measured(16, 0); v != 16 {
		t.Errorf("the first is %g V", v)
	}
	for _, none := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if v := b.Measured(none, 1e9); v != 16 {
			t.Errorf("%g V makes it %g", none, v)
		}
	}
	if v := b.Measured(15, 2e9); math.Abs(v-(15+math.Exp(-1))) > 1e-12 {
		t.Errorf("after 2 s %g V", v)
	}
	if v := b.Measured(15, 1e9); math.Abs(v-(15+math.Exp(-1))) > 1e-12 {
		t.Errorf("of a time before %g V", v)
	}
}
