package logs

import (
	"bytes"
	"fmt"
	"io"
	"math"

	"vnd/pkg/bridge"
	"vnd/pkg/bridge/logs/record"
	"vnd/pkg/bridge/logs/ulog"
	"vnd/pkg/core/so3"
)

// px4 are the logs of PX4: world NED, body FRD.
var px4 = format{
	kind: "PX4 ULog",
	is:   func(head []byte) bool { return bytes.HasPrefix(head, ulog.Magic) },
	open: func(name string, r io.Reader, want func(string) bool) (record.Reader, error) {
		return ulog.NewReader(name, r, want)
	},
	finish: finishPX4,
	fields: []mapping{
		{Position, "vehicle_local_position", []string{"x", "y", "z", "xy_valid", "z_valid"}, ifValid(swapWorld)},
		{Velocity, "vehicle_local_position", []string{"vx", "vy", "vz", "v_xy_valid", "v_z_valid"}, ifValid(swapWorld)},
		{Attitude, "vehicle_attitude", []string{"q[0]", "q[1]", "q[2]", "q[3]"}, swapAttitude},
		{Rates, "vehicle_angular_velocity", []string{"xyz[0]", "xyz[1]", "xyz[2]"}, swapBody},
		{Rates, "sensor_combined", []string{"gyro_rad[0]", "gyro_rad[1]", "gyro_rad[2]"}, swapBody},
		{Motors, "actuator_motors", []string{"control[0]", "control[1]", "control[2]", "control[3]"}, nil},
		{Motors, "actuator_outputs", []string{"output[0]", "output[1]", "output[2]", "output[3]"}, nil},
		{Battery, "battery_status", []string{"voltage_v"}, nil},
		{Thrust, "vehicle_rates_setpoint", []string{"thrust_body[2]"}, negated},
		{Thrust, "vehicle_rates_setpoint", []string{"thrust"}, nil},
		{Commands, "vehicle_rates_setpoint", []string{"roll", "pitch", "yaw"}, swapBody},
		{Flying, "vehicle_land_detected", []string{"landed"}, not},
	},
}

func swapWorld(in, out []float64) bool { return put(out, bridge.SwapWorld(vec(in))) }
func swapBody(in, out []float64) bool  { return put(out, bridge.SwapBody(vec(in))) }

func swapAttitude(in, out []float64) bool {
	q := bridge.SwapAttitude(so3.Quat{W: in[0], X: in[1], Y: in[2], Z: in[3]})
	out[0], out[1], out[2], out[3] = q.W, q.X, q.Y, q.Z
	return true
}

// ifValid converts rows whose two flags after the vector are set.
func ifValid(convert func(in, out []float64) bool) func(in, out []float64) bool {
	return func(in, out []float64) bool { return in[3] != 0 && in[4] != 0 && convert(in, out) }
}

func negated(in, out []float64) bool {
	out[0] = -in[0]
	return true
}

func not(in, out []float64) bool {
	out[0] = btof(in[0] == 0)
	return true
}

func vec(x []float64) so3.Vec3 { return so3.Vec3{X: x[0], Y: x[1], Z: x[2]} }

func put(out []float64, v so3.Vec3) bool {
	out[0], out[1], out[2] = v.X, v.Y, v.Z
	return true
}

// defaultPX4 are the places of PX4's first four motors: front right, rear left, front left, rear right.
var defaultPX4 = [4]place{{1, -1}, {-1, 1}, {1, 1}, {-1, -1}}

func finishPX4(l *Log, _ *collector) error {
	p := l.About.Parameters
	m := &l.Series[Motors]
	if m.Source == "actuator_outputs" {
		low, high := pulses(p, m)
		scale(m, low, high)
		l.Notes = append(l.Notes, fmt.Sprintf("motor commands are PWM of %.0f to %.0f µs", low, high))
	}
	if n, ok := p["CA_ROTOR_COUNT"]; ok && n != 4 && l.Has(Motors) {
		return fmt.Errorf("parameter CA_ROTOR_COUNT is %.0f, expected a vehicle of 4 rotors", n)
	}
	places := defaultPX4
	if _, ok := p["CA_ROTOR0_PX"]; ok {
		for i := range places { // PX4 has x forward and y to the right
			places[i] = place{p[fmt.Sprintf("CA_ROTOR%d_PX", i)], -p[fmt.Sprintf("CA_ROTOR%d_PY", i)]}
		}
		l.Ordered = true
	}
	if l.Has(Motors) {
		if !reorder(m, places) {
			l.Ordered = false
			l.Notes = append(l.Notes, "the parameters CA_ROTORn_PX and PY do not name four corners")
			reorder(m, defaultPX4)
		}
		if !l.Ordered {
			l.Notes = append(l.Notes, "motors are taken in PX4's order: front right, rear left, front left, rear right")
		}
	}
	if h := p["MPC_THR_HOVER"]; h > 0 {
		l.Throttle.Hover, l.HoverOf = h, "parameter MPC_THR_HOVER"
	}
	return nil
}

// pulses is the range of PWM in µs.
func pulses(p map[string]float64, m *Series) (low, high float64) {
	for _, kind := range []string{"PWM_MAIN_%s1", "PWM_%s", "PWM_MAIN_%s"} {
		low, high := p[fmt.Sprintf(kind, "MIN")], p[fmt.Sprintf(kind, "MAX")]
		if high > low && low > 0 {
			return low, high
		}
	}
	low, high = 1000, 2000
	if most := maximum(m.V); most <= 1.01 { // a simulator's outputs
		low, high = 0, 1
	}
	return low, high
}

func maximum(x []float64) float64 {
	most := math.Inf(-1)
	for _, v := range x {
		most = max(most, v)
	}
	return most
}

// scale takes low…high to 0…1.
func scale(s *Series, low, high float64) {
	for i := range s.V {
		s.V[i] = (s.V[i] - low) / (high - low)
	}
}
