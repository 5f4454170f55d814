// Package manipulation flies the arm of package arm in a simulator of its own, under payloads that it does not know of,
// and compares what learns them with adaptive control.
package manipulation

import (
	"vnd/pkg/core/so3"
	"vnd/pkg/robot"
	"vnd/pkg/robot/arm"
)

// Dt is the period of control, s.
const Dt = 0.02

// Prior is the arm as it is known: no payload, no friction, one step of the integrator.
var Prior = arm.Robot{Dt: Dt, Steps: 1}

// Masses are those of the hidden payloads, kg.
var Masses = []float64{0, 0.3, 0.6, 0.9, 1.2, 1.5, 1.8, 2.1, 2.4, 2.7, 3}

// Truth is the arm as it is under a payload, kg, which hangs beside the flange: integrated at 1 kHz, with friction.
func Truth(mass float64) arm.Robot {
	return arm.Robot{Dt: Dt, Steps: 20, Payload: mass, At: so3.Vec3{X: 0.04, Z: 0.05}, Damping: 0.5, Friction: 0.5}
}

// Torques are half the ranges that policies command, N·m: below the joints' limits, which carry the arm's weight too.
var Torques = []float32{30, 30, 30, 30, 8, 8, 4}

// Task is to follow references from states a spread around them.
func Task(spread float64, references ...*arm.Reference) *arm.Track[float32] {
	return &arm.Track[float32]{Cost: arm.PaperCost, References: references, Spread: spread, Actions: 1,
		Bounds: robot.Bounds{Radius: 0.5, Collision: 3}}
}
