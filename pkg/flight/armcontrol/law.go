// Package armcontrol moves an arm's tool along references: by a policy of a bundle or by computed torque, with a guard
// that has the law hold the arm where something is wrong. It is for the node arm_controller.
package armcontrol

import (
	"math"

	"vnd/pkg/robot/arm"
)

// ComputedTorque is inverse dynamics of the arm without payload, with feedback and an integral (Spong, Hutchinson,
// Vidyasagar, "Robot Modeling and Control", chapter 9). Its gains place three equal poles.
type ComputedTorque struct {
	Pole     float64 // rad/s
	Dt       float64 // between two calls, s
	dynamics *arm.Dynamics
	integral [arm.Joints]float64 // of errors, as the acceleration that it asks for, rad/s²
	cut      [arm.Joints]bool    // the last torque was cut: the integral stays
}

const (
	most  = 25  // rad/s², that an integral asks for: a Panda's greatest payload takes 20
	fades = 0.4 // s, in which an integral falls to a third at rest
)

// NewComputedTorque returns one with poles at a rate, rad/s.
func NewComputedTorque(pole, dt float64) *ComputedTorque {
	return &ComputedTorque{Pole: pole, Dt: dt, dynamics: arm.NewDynamics(arm.Panda())}
}

// Torque writes what to command, N·m, Dt after the last call.
func (c *ComputedTorque) Torque(x *arm.Seen, tau *[arm.Joints]float64) {
	var a [arm.Joints]float64
	p := c.Pole
	for j := range a {
		if !c.cut[j] {
			c.integral[j] = min(max(c.integral[j]-p*p*p*c.Dt*x.OffQ[j], -most), most)
		}
		a[j] = x.A[j] - 3*p*x.OffV[j] - 3*p*p*x.OffQ[j] + c.integral[j]
	}
	c.dynamics.Place(x.Q[:])
	c.dynamics.Torques(x.V[:], a[:], tau[:])
}

// Rest writes what carries the payload, as far as the integral knows it, at angles q: nothing is fed back. Each call,
// Dt after the last, lets the integral fade: it may know of a push that is over.
func (c *ComputedTorque) Rest(q *[arm.Joints]float64, tau *[arm.Joints]float64) {
	for j := range c.integral {
		c.integral[j] *= math.Exp(-c.Dt / fades)
	}
	var still [arm.Joints]float64
	c.dynamics.Place(q[:])
	c.dynamics.Torques(still[:], c.integral[:], tau[:])
}
