// Package manipulation flies the arm of package arm, in our own dynamics or in MuJoCo, under payloads that it does not
// know of, and compares what learns them with adaptive control.
package manipulation

import (
	"vnd/pkg/core/so3"
	"vnd/pkg/learning/armlearning"
	"vnd/pkg/robot/arm"
)

// Dt is the period of control, s.
const Dt = armlearning.Dt

// Masses are those of the hidden payloads, kg.
var Masses = []float64{0, 0.3, 0.6, 0.9, 1.2, 1.5, 1.8, 2.1, 2.4, 2.7, 3}

// Truth is the arm as it is under a payload, kg, which hangs beside the flange: integrated at 1 kHz, with friction.
func Truth(mass float64) arm.Robot {
	return arm.Robot{Dt: Dt, Steps: 20, Payload: mass, At: so3.Vec3{X: 0.04, Z: 0.05}, Damping: 0.5, Friction: 0.5}
}
