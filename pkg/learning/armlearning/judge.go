package armlearning

import (
	"context"
	"math/rand/v2"

	"vnd/pkg/learning/gate"
	"vnd/pkg/robot"
	"vnd/pkg/robot/arm"
	"vnd/pkg/vnd/bundle"
)

// trialSteps is the length of an episode of a Judge.
const trialSteps = 200

// Judge has bundles follow references with arms that are given, one after the other. It implements gate.Judge.
type Judge struct {
	gate.TaskVehicle[arm.Robot]
	Arms []arm.Robot
}

// Fly implements gate.Judge.
func (j Judge) Fly(ctx context.Context, b *bundle.Bundle, t gate.Trial) (*gate.Flight, error) {
	l, err := j.Load(b)
	if err != nil {
		return nil, err
	}
	truth := j.Arms[t.Number%uint64(len(j.Arms))]
	return gate.Fly(ctx, truth.System(), truth, l, rand.New(rand.NewPCG(t.Number, 1)), trialSteps)
}

// NewGate judges bundles for a task by the arms; without any, by one that carries nothing.
func NewGate(c gate.Config, task robot.Task[float32], arms []arm.Robot, seed uint64) *gate.Gate {
	if len(arms) == 0 {
		arms = []arm.Robot{{Dt: Dt, Steps: 20}}
	}
	v := Vehicle(task)
	return &gate.Gate{Config: c, Vehicle: v, Judge: Judge{v, arms}, Seed: seed}
}
