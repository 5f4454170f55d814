package sim

import (
	"math"

	"vnd/pkg/core/so3"
)

// mixer shares thrust and torques among four motors. Where they cannot give it all, yaw gives way first, then the
// collective thrust moves, and roll and pitch shrink only when even that does not suffice: the priorities of Faessler,
// Falanga and Scaramuzza, "Thrust mixing, saturation, and body-rate control for accurate aggressive quadrotor flight"
// (RA-L 2017).
type mixer struct {
	roll, pitch, yaw [4]float64 // thrust in N per N m
	least, most      float64    // thrust of one motor, N, as the autopilot's map has it
	saturated        bool       // something gave way in the last call
}

func newMixer(w *World) mixer {
	most := w.Motor.Thrust / w.Motor.Gain
	m := mixer{least: most * w.Motor.Idle * w.Motor.Idle, most: most}
	r := newRotors(w)
	for i, at := range r.at {
		m.roll[i] = 1 / (4 * at.Y)
		m.pitch[i] = -1 / (4 * at.X)
		if r.torque > 0 {
			m.yaw[i] = -r.spin[i] / (4 * r.torque)
		}
	}
	return m
}

// mix returns the thrust of each motor, N, for a collective thrust in N and torques in N m.
func (m *mixer) mix(thrust float64, torque so3.Vec3) (f [4]float64) {
	m.saturated = false
	low, high := math.Inf(1), math.Inf(-1)
	for i := range f {
		f[i] = m.roll[i]*torque.X + m.pitch[i]*torque.Y
		low, high = min(low, f[i]), max(high, f[i])
	}
	if span := m.most - m.least; high-low > span {
		s := span / (high - low)
		for i := range f {
			f[i] *= s
		}
		low, high = low*s, high*s
		m.saturated = true
	}
	each := max(m.least-low, min(m.most-high, thrust/4))
	m.saturated = m.saturated || each != thrust/4
	share := 1. // of the yaw torque that fits
	for i := range f {
		f[i] += each
		switch d := m.yaw[i] * torque.Z; {
		case d > 0:
			share = min(share, max(0, m.most-f[i])/d)
		case d < 0:
			share = min(share, max(0, f[i]-m.least)/-d)
		}
	}
	for i := range f {
		f[i] += share * m.yaw[i] * torque.Z
	}
	m.saturated = m.saturated || share < 1
	return f
}
