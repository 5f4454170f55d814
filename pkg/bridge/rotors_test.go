package bridge

import (
	"math"
	"strings"
	"testing"

	actuatormsgs "vnd/msgs/actuator_msgs"
	sensormsgs "vnd/msgs/sensor_msgs"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/motors"
)

func TestActuators(t *testing.T) {
	want := motors.Command{0.1, 0.2, 0.3, 0.4}
	var m actuatormsgs.Actuators
	PutActuators(&m, 5e9+7, "base_link", want)
	if m.Header.Stamp.Sec != 5 || m.Header.Stamp.Nanosec != 7 || m.Header.FrameID != "base_link" {
		t.Errorf("header %+v", m.Header)
	}
	if got, err := FromActuators(&m); err != nil || got != want {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	if n := testing.AllocsPerRun(100, func() { PutActuators(&m, 1, "base_link", want) }); n != 0 {
		t.Errorf("%g allocations a message", n)
	}
	for name, c := range map[string]struct {
		motors []float64
		want   string
	}{
		"none":         {nil, "normalized has 0 numbers, expected 4"},
		"six":          {make([]float64, 6), "normalized has 6 numbers, expected 4"},
		"percent":      {[]float64{0, 37, 37, 37}, "normalized[1] is 37, expected 0 to 1 of full speed"},
		"reversed":     {[]float64{0, 0, 0, -0.1}, "normalized[3] is -0.1"},
		"not a number": {[]float64{math.NaN(), 0, 0, 0}, "normalized[0] is NaN"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := FromActuators(&actuatormsgs.Actuators{Normalized: c.motors})
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestRatesOfImu(t *testing.T) {
	var m sensormsgs.Imu
	m.AngularVelocity.X, m.AngularVelocity.Y, m.AngularVelocity.Z = 1, 2, 3
	if w, err := RatesOfImu(&m); err != nil || w != (so3.Vec3{X: 1, Y: 2, Z: 3}) {
		t.Errorf("%v, %v", w, err)
	}
	m.AngularVelocity.Z = 180
	if _, err := RatesOfImu(&m); err == nil || !strings.Contains(err.Error(), "degrees per second") {
		t.Errorf("180 rad/s: %v", err)
	}
	m.AngularVelocity.Z = math.NaN()
	if _, err := RatesOfImu(&m); err == nil {
		t.Error("NaN is taken")
	}
	m.AngularVelocity.Z, m.AngularVelocityCovariance[0] = 1, -1
	if _, err := RatesOfImu(&m); err == nil || !strings.Contains(err.Error(), "no body rates") {
		t.Errorf("a message without rates: %v", err)
	}
}
