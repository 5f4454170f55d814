package manipulation

import (
	"vnd/pkg/core/so3"
	"vnd/pkg/robot/arm"
)

// Law is a controller of the arm that sees what policies see.
type Law interface {
	// Torque writes what to command, N·m, Dt after the last call.
	Torque(x *arm.Seen, tau *[arm.Joints]float64)
}

// corners are where an Adaptive law looks for the payload, from the flange, m: masses there, which may be negative,
// have any mass and any centre.
var corners = [4]so3.Vec3{{}, {X: 0.1}, {Y: 0.1}, {Z: 0.1}}

// parameters are how many an Adaptive law estimates: masses at the corners, damping and friction of each joint.
const parameters = len(corners) + 2*arm.Joints

// Adaptive is the law of Slotine and Li, "On the Adaptive Control of Robot Manipulators" (IJRR 1987): computed torque
// with what it estimates of payload and friction. Its feedback is in units of the arm's inertia.
type Adaptive struct {
	Slope    float64 // Λ, 1/s: s = ė + Λ e
	Feedback float64 // 1/s, of s
	Rate     float64 // of the masses' estimates, kg per N·m·rad/s and s; that of friction is a tenth
	own      *arm.Dynamics
	corner   [len(corners)]*arm.Dynamics // a mass of 1 there on an arm of none
	estimate [parameters]float64
	column   [parameters][arm.Joints]float64 // of the regressor Y
}

// NewAdaptive returns one that has estimated nothing yet.
func NewAdaptive(slope, feedback, rate float64) *Adaptive {
	l := &Adaptive{Slope: slope, Feedback: feedback, Rate: rate, own: arm.NewDynamics(arm.Panda())}
	for k, at := range corners {
		c := arm.Panda()
		for j := range c.Links {
			c.Links[j].Body, c.Links[j].Armature = arm.Body{}, 0
		}
		c.Payload = arm.Body{Mass: 1, At: c.Tool.Add(at)}
		l.corner[k] = arm.NewDynamics(c)
	}
	return l
}

// Torque implements Law.
func (l *Adaptive) Torque(x *arm.Seen, tau *[arm.Joints]float64) {
	var s, a [arm.Joints]float64
	for j := range a {
		s[j] = -x.OffV[j] - l.Slope*x.OffQ[j]
		a[j] = x.A[j] - l.Slope*x.OffV[j] + l.Feedback*s[j]
	}
	l.own.Place(x.Q[:])
	l.own.Torques(x.V[:], a[:], tau[:])
	for k, d := range l.corner {
		d.Place(x.Q[:])
		d.Torques(x.V[:], a[:], l.column[k][:])
	}
	for j, v := range x.V {
		l.column[len(corners)+j][j] = v
		l.column[len(corners)+arm.Joints+j][j] = arm.Coulomb(v)
	}
	for k := range l.estimate {
		rate, power := l.Rate, 0.
		if k >= len(corners) {
			rate /= 10
		}
		for j, y := range l.column[k] {
			power += y * s[j]
		}
		l.estimate[k] += Dt * rate * power
		for j, y := range l.column[k] {
			tau[j] += y * l.estimate[k]
		}
	}
}
