package continual

import (
	"context"

	"vnd/pkg/core/quad"
	"vnd/pkg/flight/policy"
	"vnd/pkg/flight/reference"
	"vnd/pkg/learning/task"
	"vnd/pkg/learning/train"
	"vnd/pkg/learning/train/quadtrain"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd/bundle"
)

// Base configures the first policy, where there is none: it is trained in the nominal simulator.
type Base struct {
	Nominal quadtrain.Nominal `param:"nominal" doc:"nominal simulator of the base policy; its dt is that of all learning"`
	Train   quadtrain.Config  `param:"base" defaults:"epochs=1000" doc:"training of the base policy"`
}

// BaseEpochs are those that a first policy takes, with margins around every response of the nominal simulator.
const BaseEpochs = 1000

// Make trains a policy for tasks, whose names go into its bundle.
func (b *Base) Make(ctx context.Context, tasks []*task.Task, names string, l quad.Limits, seed uint64, maker string,
	progress func(train.Progress)) (*bundle.Bundle, error) {
	w, cfg := quadtrain.NominalWorld[float32](b.Nominal), b.Train
	if c := &cfg.Observation.Camera; names == task.Features && len(c.Points) == 0 {
		c.Points, c.StateFree = task.Points(), true
	}
	r, err := quadtrain.Run(ctx, cfg, w, b.Nominal.Dt, quadtrain.Options{Seed: seed, Tasks: tasks, Limits: l,
		Fly: quadtrain.NewTrials(w, tasks, b.Nominal.Dt, seed).Fly, Progress: progress})
	if err != nil {
		return nil, err
	}
	out := &bundle.Bundle{Robot: quadrotor.Name, Dt: b.Nominal.Dt, CreatedBy: maker}
	if err := policy.Put(out, r.Policy, names); err != nil {
		return nil, err
	}
	_, err = out.Encode() // which names it
	return out, err
}

// Tasks makes the tasks of a list of names, such as "hover,track", and the default reference of each.
func Tasks(o *task.Objective, list string) (tasks []*task.Task, paths []reference.Reference, err error) {
	names, err := task.Split(list)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		path, err := reference.OfTask(name)
		if err != nil {
			return nil, nil, err
		}
		t, err := o.New(name, path)
		if err != nil {
			return nil, nil, err
		}
		tasks, paths = append(tasks, t), append(paths, path)
	}
	return tasks, paths, nil
}
