package logs

import (
	"io"
	"math"

	"vnd/pkg/bridge/logs/record"
	"vnd/pkg/bridge/logs/usd"
)

// crazyflie are the logs of a uSD deck: body FLU, a world with z up, angles in degrees, motors in our order.
var crazyflie = format{
	kind: "Crazyflie uSD",
	is:   usd.Is,
	open: func(name string, r io.Reader, want func(string) bool) (record.Reader, error) {
		return usd.NewReader(name, r, want)
	},
	finish: finishCrazyflie,
	fields: []mapping{
		{Position, "", []string{"stateEstimate.x", "stateEstimate.y", "stateEstimate.z"}, nil},
		{Position, "", []string{"stateEstimateZ.x", "stateEstimateZ.y", "stateEstimateZ.z"}, scaled(1e-3)},
		{Position, "", []string{"locSrv.x", "locSrv.y", "locSrv.z"}, nil},
		{Velocity, "", []string{"stateEstimate.vx", "stateEstimate.vy", "stateEstimate.vz"}, nil},
		{Velocity, "", []string{"stateEstimateZ.vx", "stateEstimateZ.vy", "stateEstimateZ.vz"}, scaled(1e-3)},
		{Attitude, "", []string{"stateEstimate.qw", "stateEstimate.qx", "stateEstimate.qy", "stateEstimate.qz"}, nil},
		{Attitude, "", []string{"stateEstimateZ.quat"}, packedAttitude},
		{Attitude, "", []string{"locSrv.qw", "locSrv.qx", "locSrv.qy", "locSrv.qz"}, nil},
		{Rates, "", []string{"gyro.x", "gyro.y", "gyro.z"}, scaled(1 / degrees)},
		{Rates, "", []string{"stateEstimateZ.rateRoll", "stateEstimateZ.ratePitch", "stateEstimateZ.rateYaw"},
			packedRates},
		{Motors, "", []string{"motor.m1", "motor.m2", "motor.m3", "motor.m4"}, scaled(1. / 65535)},
		{Motors, "", []string{"pwm.m1_pwm", "pwm.m2_pwm", "pwm.m3_pwm", "pwm.m4_pwm"}, scaled(1. / 65535)},
		{Battery, "", []string{"pm.vbat"}, nil},
		{Battery, "", []string{"pm.vbatMV"}, scaled(1e-3)},
	},
}

// packedRates are milliradians a second; that of the pitch is positive for the nose up.
func packedRates(in, out []float64) bool {
	out[0], out[1], out[2] = in[0]*1e-3, -in[1]*1e-3, in[2]*1e-3
	return true
}

// packedAttitude unpacks x, y, z, w out of 32 bits: two say which is the largest, ten are for each of the others.
func packedAttitude(in, out []float64) bool {
	bits := uint32(in[0])
	largest := int(bits >> 30)
	var q [4]float64 // x, y, z, w
	rest := 1.0
	for i := 3; i >= 0; i-- {
		if i == largest {
			continue
		}
		q[i] = float64(bits&511) / 511 * math.Sqrt2 / 2
		if bits&512 != 0 {
			q[i] = -q[i]
		}
		rest -= q[i] * q[i]
		bits >>= 10
	}
	q[largest] = math.Sqrt(max(0, rest))
	out[0], out[1], out[2], out[3] = q[3], q[0], q[1], q[2]
	return true
}

func finishCrazyflie(l *Log, _ *collector) error {
	l.Ordered = true
	return nil
}
