// Package experiment flies a policy in worlds of the full simulator, has it learn from what was flown, and measures
// what that is worth beside what it is compared with. It is for `vnd loop` and `vnd study`.
package experiment

import (
	"context"
	"fmt"
	"math/rand/v2"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/flight/policy"
	"vnd/pkg/flight/reference"
	"vnd/pkg/learning/continual"
	"vnd/pkg/learning/gate"
	"vnd/pkg/learning/task"
	"vnd/pkg/learning/train"
	"vnd/pkg/sim"
	"vnd/pkg/sim/closedloop"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// Config is all of the loop in simulation.
type Config struct {
	Cost    string        `param:"cost" default:"stiff" enum:"stiff,paper,custom" doc:"cost of the tasks"`
	Weights task.Cost     `param:"weights" doc:"weights of the custom cost"`
	Spread  task.Spread   `param:"spread" doc:"where episodes begin"`
	Nominal train.Nominal `param:"nominal" doc:"the simulator of the base policy"`
	Base    train.Config  `param:"base" doc:"training of the base policy"`
	Excite  float64       `param:"excite" default:"0.1" min:"0" max:"10" doc:"noise on the commands of flights to learn from, m/s² and rad/s"`
	Judge   JudgeConfig   `param:"judge" doc:"flights of the gate in the full simulator, under disturbances drawn at random"`
	continual.Config
}

// JudgeConfig sizes the flights of the gate's judge.
type JudgeConfig struct {
	Seconds float64 `param:"seconds" default:"8.0" min:"1" max:"600" unit:"s" doc:"length of a flight"`
	Wind    float64 `param:"wind" default:"3.0" min:"0" max:"30" unit:"m/s²" doc:"greatest wind: what is to be met"`
	Start   float64 `param:"start" default:"0.1" min:"0" max:"3" unit:"m" doc:"spread of the starts"`
}

// Task is a task with the reference that it is flown along.
type Task struct {
	*task.Task
	Path reference.Reference
}

// Campaign is a robot with its tasks.
type Campaign struct {
	Config
	Limits quad.Limits
	Tasks  []Task
	Seed   uint64
	Maker  string // of the bundles, in their metadata
}

// Task makes a task under the configured cost.
func (c *Config) Task(name string, path reference.Reference) (Task, error) {
	if name != task.Hover && name != task.Track {
		return Task{}, fmt.Errorf("task %s: the loop flies %s and %s", name, task.Hover, task.Track)
	}
	cost := c.Weights
	if c.Cost != "custom" {
		var err error
		if cost, err = task.CostOf(c.Cost, name); err != nil {
			return Task{}, err
		}
	}
	k, err := task.New(name, cost, c.Spread, path)
	return Task{k, path}, err
}

// tasks are those of the tasks.
func (c *Campaign) tasks() (out []*task.Task) {
	for _, d := range c.Tasks {
		out = append(out, d.Task)
	}
	return out
}

// names are those of the tasks, with commas between.
func (c *Campaign) names() string {
	s := c.Tasks[0].Name
	for _, d := range c.Tasks[1:] {
		s += "," + d.Name
	}
	return s
}

// Base trains a policy in the nominal simulator.
func (c *Campaign) Base(ctx context.Context, progress func(train.Progress)) (*bundle.Bundle, error) {
	w := &train.NominalWorld[float32]{Nominal: c.Nominal}
	trials := &train.Trials{World: w, Tasks: c.tasks(), Dt: c.Nominal.Dt, Flights: 16, Steps: 200, Seed: c.Seed}
	r, err := train.Run(ctx, c.Config.Base, w, c.Nominal.Dt,
		train.Options{Seed: c.Seed, Tasks: c.tasks(), Limits: c.Limits, Fly: trials.Fly,
			Progress: progress})
	if err != nil {
		return nil, err
	}
	b := &bundle.Bundle{Robot: vnd.Robot, Dt: c.Nominal.Dt, CreatedBy: c.Maker}
	if err := policy.Put(b, r.Policy, c.names()); err != nil {
		return nil, err
	}
	_, err = b.Encode() // which names it
	return b, err
}

// judge is that of the gate.
func (c *Campaign) judge() *closedloop.Judge {
	j := &closedloop.Judge{World: sim.Default(), Limits: c.Limits, Seconds: c.Judge.Seconds, Wind: c.Judge.Wind,
		Start: c.Judge.Start}
	for _, d := range c.Tasks {
		j.Paths = append(j.Paths, d.Path)
	}
	return j
}

// vehicle is what the bundles are for.
func (c *Campaign) vehicle() gate.Vehicle {
	return gate.Vehicle{Robot: vnd.Robot, Limits: c.Limits}
}

// Learner goes on from a bundle.
func (c *Campaign) Learner(start *bundle.Bundle) (*continual.Learner, error) {
	return continual.New(c.Config.Config, start,
		continual.Options{Tasks: c.tasks(), Task: c.names(), Seed: c.Seed, Judge: c.judge(), Vehicle: c.vehicle()})
}

// setup is one flight of at least the given length, s.
func (c *Campaign) setup(f Scenario, d Task, seed uint64, seconds float64) *closedloop.Setup {
	s := &closedloop.Setup{World: f.World, Seed: seed, Path: d.Path, Seconds: max(seconds, f.Seconds),
		Tick: c.Nominal.Dt, Limits: c.Limits}
	param.Default(&s.Estimate)
	return s
}

// Record flies a bundle, with some noise on its commands to learn from, and returns what was recorded besides.
func (c *Campaign) Record(b *bundle.Bundle, f Scenario, d Task, seed uint64, seconds float64) (*closedloop.Trace,
	quad.Flight, error) {
	method, err := policy.NewFlyer(b, d.Path.At)
	if err != nil {
		return nil, quad.Flight{}, err
	}
	rec := &recording{Flyer: method, rng: rand.New(rand.NewPCG(seed, 0xe0c1)), sigma: c.Excite}
	trace, err := closedloop.Fly(c.setup(f, d, seed, seconds), rec)
	return trace, quad.Flight{Name: d.Name + " " + f.Label(), Segments: quad.Segments(rec.rows, b.Dt)}, err
}
