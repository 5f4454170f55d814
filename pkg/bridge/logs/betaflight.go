package logs

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"

	"vnd/pkg/bridge/logs/blackbox"
	"vnd/pkg/bridge/logs/record"
	"vnd/pkg/core/so3"
)

// betaflight are the logs of Betaflight and its relatives: body FLU, for a stick to the front is positive about y and
// one to the left about z; the attitude is to a world with x north and y west. Of several logs the longest counts.
var betaflight = format{
	kind:    "Betaflight blackbox",
	is:      func(head []byte) bool { return bytes.HasPrefix(head, blackbox.Magic) },
	longest: true,
	open: func(name string, r io.Reader, want func(string) bool) (record.Reader, error) {
		return blackbox.NewReader(name, r, want)
	},
	finish: finishBetaflight,
	fields: []mapping{
		{Attitude, "main", []string{"imuQuaternion[0]", "imuQuaternion[1]", "imuQuaternion[2]"}, westAttitude},
		{Rates, "main", []string{"gyroADC[0]", "gyroADC[1]", "gyroADC[2]"}, nil},
		{Motors, "main", []string{"motor[0]", "motor[1]", "motor[2]", "motor[3]"}, nil},
		{Battery, "main", []string{"vbatLatest"}, nil},
		{Thrust, "main", []string{"setpoint[3]"}, scaled(1e-3)},
		{Commands, "main", []string{"setpoint[0]", "setpoint[1]", "setpoint[2]"}, scaled(1 / degrees)},
	},
}

// defaultBetaflight are the places of a quadrotor X: rear right, front right, rear left, front left.
var defaultBetaflight = [4]place{{-1, -1}, {1, -1}, {-1, 1}, {1, 1}}

func scaled(by float64) func(in, out []float64) bool {
	return func(in, out []float64) bool {
		for i := range out {
			out[i] = in[i] * by
		}
		return true
	}
}

// eastFromNorth takes a world with x north and y west to ENU.
var eastFromNorth = so3.Quat{W: math.Sqrt2 / 2, Z: math.Sqrt2 / 2}

// westAttitude completes x, y, z of a quaternion, in 1/32767, and turns its world from north and west to ENU.
func westAttitude(in, out []float64) bool {
	x, y, z := in[0]/32767, in[1]/32767, in[2]/32767
	w := math.Sqrt(max(0, 1-x*x-y*y-z*z))
	q := eastFromNorth.Mul(so3.Quat{W: w, X: x, Y: y, Z: z}).Normalize()
	out[0], out[1], out[2], out[3] = q.W, q.X, q.Y, q.Z
	return true
}

func finishBetaflight(l *Log, _ *collector) error {
	p := l.About.Parameters
	if s := &l.Series[Attitude]; strings.HasSuffix(l.About.Info["Firmware revision"], " SITL") {
		for i := range s.T { // the simulated firmware keeps what it is sent, of a body FRD
			swapAttitude(fields(eastFromNorth.Conj().Mul(quat(s.Row(i)))), s.Row(i))
		}
	}
	gyro := 1.0 / degrees
	if s := p["gyro_scale"]; s > 0 {
		gyro *= s
	}
	if p["blackbox_high_resolution"] != 0 {
		gyro /= 10
		scale(&l.Series[Commands], 0, 10)
	}
	scale(&l.Series[Rates], 0, 1/gyro)
	if l.Has(Motors) {
		finishMotors(l)
	}
	if l.Has(Battery) {
		var major, minor int
		revision := l.About.Info["Firmware revision"]
		if n, _ := fmt.Sscanf(revision, "Betaflight %d.%d", &major, &minor); n < 2 {
			l.Series[Battery] = Series{}
			l.Notes = append(l.Notes, "the battery of "+revision+" is not in volts, and is left out")
		} else if scale(&l.Series[Battery], 0, 100); major < 4 {
			scale(&l.Series[Battery], 0, 0.1)
		}
	}
	if b := l.About.Topics["main"]; b > 0 && b > len(l.Series[Rates].T) {
		l.Notes = append(l.Notes, fmt.Sprintf("of several logs the longest is taken: %d of %d rows",
			len(l.Series[Rates].T), b))
	}
	return nil
}

func fields(q so3.Quat) []float64 { return []float64{q.W, q.X, q.Y, q.Z} }

// finishMotors scales DSHOT's 48 to 2047, or pulses of 1 to 2 ms.
func finishMotors(l *Log) {
	p, m := l.About.Parameters, &l.Series[Motors]
	low, high, unit := 1000.0, 2000.0, "pulses of 1 to 2 ms"
	if p["motorOutput[1]"] > 2000 || strings.HasPrefix(l.About.Info["motorOutput"], "48,") {
		low, high, unit = 48, 2047, "DSHOT"
	}
	scale(m, low, high)
	for _, name := range []string{"motor_idle", "dshot_idle_value", "digitalIdlePercent"} {
		l.idle = max(l.idle, p[name]/1e4)
	}
	reorder(m, defaultBetaflight)
	l.Notes = append(l.Notes, "motor commands are "+unit, "motors are taken in Betaflight's order: rear right, "+
		"front right, rear left, front left")
}
