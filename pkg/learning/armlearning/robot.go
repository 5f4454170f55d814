// Package armlearning is how a Panda learns: in which prior and at which task its policies are trained, the defaults of
// its fits and trainings, and what is held out to judge a fit by. It is for the command line, the node
// background_learner, and the studies of package manipulation.
package armlearning

import (
	"vnd/pkg/learning/gate"
	"vnd/pkg/robot"
	"vnd/pkg/robot/arm"
)

// Dt is the period of control, s.
const Dt = 0.02

// Prior is the arm as it is known: no payload, no friction, one step of the integrator.
var Prior = arm.Robot{Dt: Dt, Steps: 1}

// Torques are half the ranges that policies command, N·m: below the joints' limits, which carry the arm's weight too.
var Torques = []float32{30, 30, 30, 30, 8, 8, 4}

// Spread is that of states in which episodes begin, rad and rad/s.
const Spread = 0.05

// Task is to follow references from states a spread around them.
func Task(spread float64, references ...*arm.Reference) *arm.Track[float32] {
	return &arm.Track[float32]{Cost: arm.PaperCost, References: references, Spread: spread, Actions: 1,
		Bounds: robot.Bounds{Radius: 0.5, Collision: 3}}
}

// References are paths of the shapes, each at each speed, m/s.
func References(shapes []string, speeds ...float64) (all []*arm.Reference, err error) {
	for _, shape := range shapes {
		for _, speed := range speeds {
			r, err := arm.NewReference(shape, speed, Dt)
			if err != nil {
				return nil, err
			}
			all = append(all, r)
		}
	}
	return all, nil
}

// AllReferences are those that a policy learns where nothing else is asked for.
func AllReferences() ([]*arm.Reference, error) { return References(arm.Shapes, 0.25, 0.5) }

// Vehicle is the arm at a task, as the gate takes it.
func Vehicle(task robot.Task[float32]) gate.TaskVehicle[arm.Robot] {
	return gate.TaskVehicle[arm.Robot]{Robot: arm.Reader, Task: task}
}
