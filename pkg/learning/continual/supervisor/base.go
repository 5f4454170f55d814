package supervisor

import (
	"context"
	"fmt"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/flight/policy"
	"vnd/pkg/flight/reference"
	"vnd/pkg/learning/task"
	"vnd/pkg/learning/train"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// Base is how a first policy is trained where there is none.
type Base struct {
	Nominal train.Nominal `param:"nominal" read_only:"true" doc:"the simulator of the first policy; its dt is that of all that is learned"`
	Train   train.Config  `param:"base" read_only:"true" doc:"training of the first policy"`
}

// TaskSet is what the policies are trained for.
type TaskSet struct {
	Names  string      `param:"task" default:"hover,track" read_only:"true" doc:"hover, track, or both with a comma between: one policy for all"`
	Cost   string      `param:"cost" default:"stiff" enum:"stiff,paper" read_only:"true" doc:"of the tasks"`
	Spread task.Spread `param:"spread" read_only:"true" doc:"where episodes begin"`
}

// Tasks are those of a set, and the reference of each.
func (c *TaskSet) Tasks() (tasks []*task.Task, paths []reference.Reference, err error) {
	names, err := task.Split(c.Names)
	if err != nil {
		return nil, nil, fmt.Errorf("parameter task: %w", err)
	}
	for _, name := range names {
		var spec reference.Spec
		switch name {
		case task.Hover:
			spec = new(reference.Hover)
		case task.Track:
			spec = new(reference.FigureEight)
		default:
			return nil, nil, fmt.Errorf("parameter task: %q, expected %s and %s", name, task.Hover, task.Track)
		}
		param.Default(spec)
		path, err := reference.New(spec)
		if err != nil {
			return nil, nil, err
		}
		cost, err := task.CostOf(c.Cost, name)
		if err != nil {
			return nil, nil, fmt.Errorf("parameter cost: %w", err)
		}
		t, err := task.New(name, cost, c.Spread, path)
		if err != nil {
			return nil, nil, err
		}
		tasks, paths = append(tasks, t), append(paths, path)
	}
	return tasks, paths, nil
}

// Make trains a policy in the nominal simulator. report takes the share that is done and the cost.
func (b *Base) Make(ctx context.Context, tasks []*task.Task, names string, l quad.Limits, seed uint64,
	report func(share, cost float64)) (*bundle.Bundle, error) {
	w := &train.NominalWorld[float32]{Nominal: b.Nominal}
	const flights, steps = 16, 200
	trials := &train.Trials{World: w, Tasks: tasks, Dt: b.Nominal.Dt, Flights: flights, Steps: steps, Seed: seed}
	r, err := train.Run(ctx, b.Train, w, b.Nominal.Dt,
		train.Options{Seed: seed, Tasks: tasks, Limits: l, Fly: trials.Fly,
			Progress: func(p train.Progress) { report(float64(p.Epoch)/float64(p.Epochs), p.Figures.Cost) }})
	if err != nil {
		return nil, err
	}
	out := &bundle.Bundle{Robot: vnd.Robot, Dt: b.Nominal.Dt, CreatedBy: "vnd background_learner"}
	return out, policy.Put(out, r.Policy, names)
}
