package closedloop

import (
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/sim"
)

// navigation is the autopilot's estimate of its state: gyroscope and accelerometer carry it on, poses of motion capture
// correct it while they come, and the barometer its height where they do not. It has the gains of steady state where
// PX4's EKF2 has covariances, and that filter's gates and times.
type navigation struct {
	state     quad.State
	gyroBias  so3.Vec3 // rad/s
	accelBias so3.Vec3 // m/s²
	baroBias  float64  // m
	baroKnown bool

	now      float64 // s
	fused    float64 // when a pose was believed last, s
	posed    float64 // stamp of that pose, s
	refused  float64 // since when poses have been refused, s; NaN: they have not
	history  [historyLength]past
	recorded int // entries made since the start

	felt      float64 // size of the specific force without its vibrations, m/s²
	supported float64 // time for which more than the thrust has carried the vehicle, s
}

// past is a state of before, against which a pose of its time is held.
type past struct {
	t float64
	p so3.Vec3
	q so3.Quat
}

// historyLength covers 0.3 s of steps of 2 ms: EKF2's observations may be that old.
const historyLength = 150

// Times and gates of EKF2, by the names of their parameters.
const (
	// noAidTimeout is EKF2_NOAID_TOUT: for so long dead reckoning gives a position, and poses may be refused.
	noAidTimeout = 5.0 // s
	positionGate = 0.5 // m, EKF2_EVP_GATE of five standard deviations of EKF2_EVP_NOISE, 0.1 m
	attitudeGate = 0.2 // rad
	fresh        = 0.2 // s after which the barometer gives the height
)

// Bandwidths of the corrections, rad/s, and the gain of the accelerometer's bias, 1/s³.
const (
	positionBandwidth = 3.0
	attitudeBandwidth = 1.0
	baroBandwidth     = 0.5
	accelBiasGain     = 2.7
	baroBiasTime      = 5.0 // s
)

// reset begins at a state that is known, without biases.
func (n *navigation) reset(s quad.State) {
	*n = navigation{state: s, refused: math.NaN()}
	n.record()
}

// predict carries the state on by what the inertial sensors gave for dt seconds.
func (n *navigation) predict(turn, push so3.Vec3, dt float64) {
	s := &n.state
	turn, push = turn.Sub(n.gyroBias.Scale(dt)), push.Sub(n.accelBias.Scale(dt))
	halfway := s.Q.Mul(so3.Exp(turn.Scale(0.5)))
	dv := halfway.Rotate(push).Sub(so3.Vec3{Z: quad.Gravity * dt})
	s.P = s.P.Add(s.V.Scale(dt)).Add(dv.Scale(dt / 2))
	s.V = s.V.Add(dv)
	s.Q = s.Q.Mul(so3.Exp(turn)).Normalize()
	n.now += dt
	n.record()
}

func (n *navigation) record() {
	n.history[n.recorded%historyLength] = past{n.now, n.state.P, n.state.Q}
	n.recorded++
}

// at is the entry of a time, nil where there is none: too old, or of the future.
func (n *navigation) at(t float64) *past {
	const slack = 0.02 // s
	if t > n.now+slack {
		return nil
	}
	for i := n.recorded - 1; i >= 0 && i > n.recorded-historyLength; i-- {
		if h := &n.history[i%historyLength]; h.t <= t+1e-3 {
			return h
		}
	}
	return nil
}

// pose takes one of motion capture: position and attitude, each within its gate. Where poses have been refused for too
// long, the state is set to them.
func (n *navigation) pose(m *sim.Sample) {
	h := n.at(m.Stamp)
	if h == nil || !m.P.Finite() || !m.Q.Finite() || !(math.Abs(m.Q.Norm()-1) <= quad.NormSlack) {
		return
	}
	off, turn := m.P.Sub(h.p), so3.Log(h.q.Conj().Mul(m.Q.Normalize()))
	if off.Norm() > positionGate || turn.Norm() > attitudeGate {
		if math.IsNaN(n.refused) {
			n.refused = n.now
		}
		if n.now-n.refused > noAidTimeout {
			now := n.now
			n.reset(quad.State{P: m.P, Q: m.Q.Normalize()})
			n.now, n.fused, n.posed, n.history[0].t = now, now, m.Stamp, now
		}
		return
	}
	dt := min(max(m.Stamp-n.posed, 1e-3), fresh)
	n.refused, n.fused, n.posed = math.NaN(), n.now, m.Stamp
	n.correct(off, dt, m.Stamp)
	gain, rate := gains(attitudeBandwidth, dt)
	n.turn(turn.Scale(gain), m.Stamp)
	n.gyroBias = n.gyroBias.Sub(turn.Scale(rate))
}

// gains of position and velocity against noise of a bandwidth: a filter of fading memory, which no interval upsets.
func gains(bandwidth, dt float64) (position, velocity float64) {
	keep := math.Exp(-bandwidth * dt)
	return 1 - keep*keep, (1 - keep) * (1 - keep) / dt
}

// correct moves the state, and those since t, by its share of an error in position.
func (n *navigation) correct(off so3.Vec3, dt, t float64) {
	gain, rate := gains(positionBandwidth, dt)
	s, dp, dv := &n.state, off.Scale(gain), off.Scale(rate)
	s.P, s.V = s.P.Add(dp).Add(dv.Scale(n.now-t)), s.V.Add(dv)
	n.since(t, func(h *past) { h.p = h.p.Add(dp).Add(dv.Scale(max(h.t-t, 0))) })
	n.accelBias = n.accelBias.Sub(s.Q.Conj().Rotate(off.Scale(accelBiasGain * dt)))
}

// turn turns the state, and those since t.
func (n *navigation) turn(by so3.Vec3, t float64) {
	q := so3.Exp(by)
	n.state.Q = n.state.Q.Mul(q).Normalize()
	n.since(t, func(h *past) { h.q = h.q.Mul(q) })
}

// since changes what is remembered from a time on, and a little before it.
func (n *navigation) since(t float64, change func(h *past)) {
	const slack = 0.01 // s
	for i := n.recorded - 1; i >= 0 && i > n.recorded-historyLength; i-- {
		h := &n.history[i%historyLength]
		if h.t < t-slack {
			return
		}
		change(h)
	}
}

// height takes one of the barometer: its offset is learned while poses come, and it corrects the height after that.
func (n *navigation) height(h, dt float64) {
	off := h - n.state.P.Z - n.baroBias
	switch {
	case !n.baroKnown:
		n.baroBias, n.baroKnown = h-n.state.P.Z, true
	case n.now-n.fused <= fresh:
		n.baroBias += off * dt / baroBiasTime
	default:
		gain, rate := gains(baroBandwidth, dt)
		n.state.P.Z += gain * off
		n.state.V.Z += rate * off
	}
}

// located reports whether the position is one: poses came, or dead reckoning has not gone on for too long.
func (n *navigation) located() bool { return n.now-n.fused <= noAidTimeout }

// support watches whether the ground carries the vehicle: the accelerometer feels the weight, and the thrust is less.
// Feet bounce: a tenth of a second is smoothed away.
func (n *navigation) support(push so3.Vec3, thrust, dt float64) {
	const weight, most = 0.15, 0.7 // share of gravity by which the feeling may differ, and of the thrust at most
	const smooth = 0.1             // s
	n.felt += (push.Norm()/dt - n.felt) * min(dt/smooth, 1)
	if thrust < most*quad.Gravity && math.Abs(n.felt-quad.Gravity) < weight*quad.Gravity {
		n.supported += dt
	} else {
		n.supported = 0
	}
}
