package pushing

import (
	"context"
	"math/rand/v2"

	"vnd/pkg/learning/gate"
	"vnd/pkg/learning/pushlearning"
	"vnd/pkg/robot/pusher"
	"vnd/pkg/vnd/bundle"
)

// NewJudging is Judging, or the error that there is no MuJoCo.
func NewJudging() (pushlearning.Judging, error) {
	w, err := NewWorlds(1, 1)
	if err != nil {
		return nil, err
	}
	w.Close()
	return Judging, nil
}

// Judging judges in MuJoCo: boxes take the forces of those given, and all else that is hidden is drawn at random.
func Judging(t pushlearning.Task, boxes []pusher.Robot) gate.Judge {
	if len(boxes) == 0 {
		boxes = []pusher.Robot{pushlearning.Prior}
	}
	return judge{pushlearning.Vehicle{Task: t}, boxes}
}

// judge implements gate.Judge.
type judge struct {
	pushlearning.Vehicle
	boxes []pusher.Robot
}

// condition draws one of a box: its force is known, mass and friction apart are not.
func condition(box pusher.Robot, rng *rand.Rand) Condition {
	c, product := Draw(rng), box.Mass*box.Friction
	c.Mass = min(max(c.Mass, product/mostFriction), product/leastFriction)
	c.Mass = min(max(c.Mass, leastMass), mostMass)
	c.Friction = min(max(product/c.Mass, leastFriction), mostFriction)
	return c
}

// Fly implements gate.Judge.
func (j judge) Fly(ctx context.Context, b *bundle.Bundle, t gate.Trial) (*gate.Flight, error) {
	l, err := j.Load(b)
	if err != nil {
		return nil, err
	}
	w, err := NewWorlds(1, 1)
	if err != nil {
		return nil, err
	}
	defer w.Close()
	rng, box := rand.New(rand.NewPCG(t.Number, 1)), j.boxes[t.Number%uint64(len(j.boxes))]
	d := box.System().Dims()
	s, a, commands := make([]float32, d.State), make([]float32, d.Action), make([]pusher.Command, 1)
	c := condition(box, rng)
	r, err := l.NewRunner(box, rng, j.Steps, s)
	if err != nil {
		return nil, err
	}
	state, f := box.State(s), &gate.Flight{Dt: Dt}
	if err := w.Begin(0, c, &state); err != nil {
		return nil, err
	}
	for k := range j.Steps {
		tick := r.Tick(float64(k)*Dt, s, a)
		if f.Crash = tick.Crash; f.Crash != "" {
			break
		}
		f.Errors, f.Actions = append(f.Errors, tick.Error), append(f.Actions, tick.Units)
		commands[0] = pusher.Command{float64(a[0]), float64(a[1])}
		if err := w.Step(commands); err != nil {
			return nil, err
		}
		w.State(0, &state)
		state.Write(s)
	}
	return f, ctx.Err()
}
