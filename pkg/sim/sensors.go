package sim

import (
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// Errors of the autopilot's own sensors.
//
// Gyroscope and accelerometer are those of TDK's ICM-42688-P: noise of 0.0028 °/s/√Hz and 70 µg/√Hz by its data sheet,
// here ten times that, for rotors shake what is fixed to them. The offsets are what calibration and a minute of
// estimation at rest leave of the sheet's ±0.5 °/s and ±20 mg: 0.03 °/s and 1.5 mg. The barometer is Bosch's BMP388:
// 1.2 Pa of noise, and a drift of some decimetres a minute with temperature and weather.
const (
	gyroNoise  = 4.9e-4 // rad/s/√Hz
	gyroBias   = 5e-4   // rad/s, standard deviation about each axis
	accelNoise = 6.9e-3 // m/s²/√Hz
	accelBias  = 0.015  // m/s², standard deviation along each axis
	baroNoise  = 0.1    // m
	baroDrift  = 0.02   // m/√s, random walk
	baroRate   = 50     // Hz
)

// Sensors are gyroscope, accelerometer and barometer of an autopilot. Each has a stream of random numbers of its own:
// reading one shifts no other, and none of the simulator's.
type Sensors struct {
	gyro, accel, baro     stream
	gyroOffset, accOffset so3.Vec3
	baroOffset            float64
	read                  int64 // of the barometer
}

// Reset begins anew with the randomness of a seed, and draws the offsets.
func (s *Sensors) Reset(seed uint64) {
	s.gyro.seed(seed, "gyroscope")
	s.accel.seed(seed, "accelerometer")
	s.baro.seed(seed, "barometer")
	s.gyroOffset, s.accOffset = s.gyro.normal().Scale(gyroBias), s.accel.normal().Scale(accelBias)
	s.baroOffset, s.read = 0, 0
}

// Inertial returns what gyroscope and accelerometer give for the dt seconds between two true states: the rotation
// vector Δθ_B, rad, and the integral of the specific force in the body half-way, Δv_B, m/s.
func (s *Sensors) Inertial(before, after *quad.State, dt float64) (turn, push so3.Vec3) {
	turn = so3.Log(before.Q.Conj().Mul(after.Q))
	halfway := before.Q.Mul(so3.Exp(turn.Scale(0.5)))
	push = halfway.Conj().Rotate(after.V.Sub(before.V).Add(so3.Vec3{Z: gravity * dt}))
	spread := math.Sqrt(dt)
	turn = turn.Add(s.gyroOffset.Scale(dt)).Add(s.gyro.normal().Scale(gyroNoise * spread))
	push = push.Add(s.accOffset.Scale(dt)).Add(s.accel.normal().Scale(accelNoise * spread))
	return turn, push
}

// Height returns what the barometer makes of a true height at a time, m, if it is read then.
func (s *Sensors) Height(now, height float64) (h float64, due bool) {
	const rounding = 1e-9 // s
	if float64(s.read)/baroRate > now+rounding {
		return 0, false
	}
	s.read++
	s.baroOffset += baroDrift / math.Sqrt(baroRate) * s.baro.NormFloat64()
	return height + s.baroOffset + baroNoise*s.baro.NormFloat64(), true
}
