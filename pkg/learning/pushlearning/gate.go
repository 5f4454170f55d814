package pushlearning

import (
	"context"
	"math/rand/v2"

	"vnd/pkg/flight/pushcontrol"
	"vnd/pkg/learning/gate"
	"vnd/pkg/robot"
	"vnd/pkg/robot/pusher"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// random is a generator of a seed and a stream.
func random(seed, stream uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, stream)) }

// Vehicle is a pusher at a task, as the gate takes it.
type Vehicle struct{ Task }

// Kind implements gate.Vehicle.
func (v Vehicle) Kind() string { return pusher.Name }

// Load implements gate.Vehicle.
func (v Vehicle) Load(b *bundle.Bundle) (*gate.Loaded, error) {
	p, err := pushcontrol.Load(b)
	if err != nil {
		return nil, err
	}
	l := &gate.Loaded{ID: b.ID, Dt: b.Dt, Actor: p}
	if vnd.In(b) {
		if l.Model, l.Robot, err = vnd.FromBundle(b, pusher.Reader); err != nil {
			return nil, err
		}
	}
	l.NewRunner = func(_ robot.Robot, rng *rand.Rand, _ int, s []float32) (gate.Runner, error) {
		return v.begin(p, rng, s), nil
	}
	return l, nil
}

// begin begins an episode of a policy, and writes its first state.
func (v Vehicle) begin(p *vnd.Actor[float32], rng *rand.Rand, s []float32) *runner {
	from, goal := v.draw(rng)
	from.Write(s)
	r := &runner{Policy: pushcontrol.NewPolicy(p, 1), x: make([]float32, p.Size()), u: make([]float32, p.Net.Actions)}
	sensors := rng
	if !v.Sensors {
		sensors = nil
	}
	r.begin(from, goal, sensors)
	return r
}

// runner is an episode under a policy, which rests once it has succeeded, or lost the box. It implements gate.Runner.
type runner struct {
	episode
	pushcontrol.Policy
	x, u       []float32
	done, gone bool
}

// erred is how far a box is from its goal, m; a heading counts as the distance that success takes for as bad.
func erred(off, turn float64) float64 { return max(off, turn*pushcontrol.CloseBy/pushcontrol.Aligned) }

// Tick implements gate.Runner. A box that is lost is as far away as can be, for good: a push failed, and no robot
// crashed.
func (r *runner) Tick(t float64, s, a []float32) gate.Tick {
	if t > 0 {
		r.Now.Read(s)
		r.measure()
	}
	off, turn := r.Off(r.Now.Box)
	switch {
	case r.gone || r.lost():
		r.gone, r.done, off, turn = true, true, reach, 0
	case t > 0 && !r.done:
		r.done = r.Settle(off, turn)
	}
	clear(r.u)
	clear(a[:pushcontrol.Actions])
	if !r.done {
		r.Observe(r.x)
		r.Act(r.x, r.u)
		command := r.Command(r.u)
		Prior.Action(&command, a)
	}
	return gate.Tick{Error: erred(off, turn),
		Units: []float64{float64(r.u[0]), float64(r.u[1])}}
}

// Judging makes a judge of boxes that the stretches show; of none, for a first bundle. nil is a gate that judges in the
// learned model alone.
type Judging func(t Task, boxes []pusher.Robot) gate.Judge

// InPrior judges in the prior of the boxes. First policies are trained there, so it is for those alone to lose.
func InPrior(t Task, boxes []pusher.Robot) gate.Judge {
	if len(boxes) == 0 {
		boxes = []pusher.Robot{Prior}
	}
	return judge{Vehicle{t}, boxes}
}

// judge has bundles push boxes, one after the other. It implements gate.Judge.
type judge struct {
	Vehicle
	boxes []pusher.Robot
}

// Fly implements gate.Judge.
func (j judge) Fly(ctx context.Context, b *bundle.Bundle, t gate.Trial) (*gate.Flight, error) {
	l, err := j.Load(b)
	if err != nil {
		return nil, err
	}
	box := j.boxes[t.Number%uint64(len(j.boxes))]
	return gate.Fly(ctx, box.System(), box, l, random(t.Number, 1), j.Steps)
}

// newGate judges bundles for a task by boxes.
func newGate(c gate.Config, t Task, by Judging, boxes []pusher.Robot, seed uint64) *gate.Gate {
	g := &gate.Gate{Config: c, Vehicle: Vehicle{t}, Seed: seed}
	if by != nil {
		g.Judge = by(t, boxes)
	}
	return g
}
