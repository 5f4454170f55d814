package sim

import (
	"math"

	"vnd/pkg/core/so3"
)

// Imu is an IMU on the body's origin. Its defaults are those of the ADIS16448 in the EuRoC MAV data set (Burri et al.
// 2016, sensor.yaml of imu0): densities and walks by Allan deviation. Propellers shake what is fixed to them: a density
// ten times as large is usual in flight.
type Imu struct {
	Rate      float64 `param:"rate" default:"0" min:"0" max:"1000" unit:"Hz" doc:"samples; 0: there is none"`
	Gyro      float64 `param:"gyro" default:"1.6968e-4" min:"0" max:"1" unit:"rad/s/√Hz" doc:"density of the gyroscope's noise"`
	GyroWalk  float64 `param:"gyro_walk" default:"1.9393e-5" min:"0" max:"1" unit:"rad/s²/√Hz" doc:"random walk of the gyroscope's bias"`
	GyroBias  float64 `param:"gyro_bias" default:"0.005" min:"0" max:"1" unit:"rad/s" doc:"standard deviation of the gyroscope's bias about each axis at the start"`
	Accel     float64 `param:"accel" default:"2.0e-3" min:"0" max:"10" unit:"m/s²/√Hz" doc:"density of the accelerometer's noise"`
	AccelWalk float64 `param:"accel_walk" default:"3.0e-3" min:"0" max:"10" unit:"m/s³/√Hz" doc:"random walk of the accelerometer's bias"`
	AccelBias float64 `param:"accel_bias" default:"0.1" min:"0" max:"10" unit:"m/s²" doc:"standard deviation of the accelerometer's bias along each axis at the start"`
}

// Inertial is one sample of an IMU: means over the time since the one before, as a sensor gives that integrates.
type Inertial struct {
	Stamp float64  // s since the start, of the end of that time
	Rates so3.Vec3 // ω_B, rad/s
	Force so3.Vec3 // specific force in the body, m/s²
}

// imu is the state of the sensor.
type imu struct {
	Imu
	taken               int64
	before              body    // at the last sample
	at                  float64 // its time, s
	gyro, accel, wander stream
	gyroBias, accelBias so3.Vec3
	queue[Inertial]
}

func (m *imu) reset(w *World, b *body, seed uint64) {
	m.Imu = w.Imu
	m.taken, m.at, m.before = 1, 0, *b
	m.empty()
	m.gyro.seed(seed, "imu gyroscope")
	m.accel.seed(seed, "imu accelerometer")
	m.wander.seed(seed, "imu bias")
	m.gyroBias = m.wander.normal().Scale(m.GyroBias)
	m.accelBias = m.wander.normal().Scale(m.AccelBias)
}

// step takes the sample that is due by now, if one is.
func (m *imu) step(now float64, b *body) {
	const rounding = 1e-9 // s
	if m.Rate == 0 || float64(m.taken)/m.Rate > now+rounding {
		return
	}
	m.taken++
	dt := now - m.at
	turn := so3.Log(m.before.q.Conj().Mul(b.q))
	halfway := m.before.q.Mul(so3.Exp(turn.Scale(0.5)))
	push := halfway.Conj().Rotate(b.v.Sub(m.before.v).Add(so3.Vec3{Z: gravity * dt}))
	m.gyroBias = m.gyroBias.Add(m.wander.normal().Scale(m.GyroWalk * math.Sqrt(dt)))
	m.accelBias = m.accelBias.Add(m.wander.normal().Scale(m.AccelWalk * math.Sqrt(dt)))
	spread := 1 / math.Sqrt(dt)
	m.push(Inertial{Stamp: now,
		Rates: turn.Scale(1 / dt).Add(m.gyroBias).Add(m.gyro.normal().Scale(m.Gyro * spread)),
		Force: push.Scale(1 / dt).Add(m.accelBias).Add(m.accel.normal().Scale(m.Accel * spread))})
	m.before, m.at = *b, now
}

func (m *imu) take(now float64) []Inertial {
	return m.pop(func(s *Inertial) bool { return s.Stamp <= now })
}
