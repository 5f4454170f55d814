// Package experiment flies a policy in worlds of the full simulator, has it learn from what was flown, and measures
// what that is worth beside what it is compared with. It is for `vnd loop` and `vnd study`.
package experiment

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/flight/guard"
	"vnd/pkg/flight/inertial"
	"vnd/pkg/flight/policy"
	"vnd/pkg/flight/reference"
	"vnd/pkg/learning/continual"
	"vnd/pkg/learning/gate"
	"vnd/pkg/learning/gate/quadgate"
	"vnd/pkg/learning/task"
	"vnd/pkg/learning/train"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/robot/rotors"
	"vnd/pkg/sim"
	"vnd/pkg/sim/closedloop"
	"vnd/pkg/vnd/bundle"
)

// Config is all of the loop in simulation.
type Config struct {
	task.Objective
	continual.Base
	Excite float64          `param:"excite" default:"0.6" min:"0" max:"10" doc:"noise on the commands of flights to learn from, m/s² and rad/s"`
	Filter bool             `param:"state_filter" default:"true" doc:"policies fly by the filter of poses, as policy_controller does with state_filter"`
	Judge  gate.JudgeConfig `param:"judge" doc:"flights of the gate in the full simulator, under disturbances drawn at random"`
	continual.Config
}

// Task is a task with the reference that it is flown along.
type Task struct {
	*task.Task
	Path reference.Reference
}

// AddTask adds a task of rounds, flown along a path.
func (c *Campaign) AddTask(name string, path reference.Reference) error {
	t, err := c.Objective.New(name, path)
	c.Tasks = append(c.Tasks, Task{t, path})
	return err
}

// Campaign is a robot with its tasks.
type Campaign struct {
	Config
	Limits quad.Limits
	Rotors rotors.Airframe // for who commands motors, and for the judge; without a mass: the default
	Tasks  []Task
	Seed   uint64
	Maker  string // of the bundles, in their metadata

	Guard    *guard.Config      // of the robot's controller; nil: how the default responds
	External sim.NewExternal    // that flies, for each flight; nil: none
	camera   *closedloop.Camera // of the policy that the rounds begin with; nil: it sees positions
}

// tasks are those of the tasks.
func (c *Campaign) tasks() (out []*task.Task) {
	for _, d := range c.Tasks {
		out = append(out, d.Task)
	}
	return out
}

// names are those of the tasks, with commas between, each once.
func (c *Campaign) names() string {
	var all []string
	for _, d := range c.Tasks {
		if !slices.Contains(all, d.Name) {
			all = append(all, d.Name)
		}
	}
	return strings.Join(all, ",")
}

// BasePolicy trains a policy in the nominal simulator.
func (c *Campaign) BasePolicy(ctx context.Context, progress func(train.Progress)) (*bundle.Bundle, error) {
	return c.Make(ctx, c.tasks(), c.names(), c.Limits, c.Seed, c.Maker, progress)
}

// judge is that of the gate, for flights in scenarios.
func (c *Campaign) judge(in ...Scenario) gate.Judge {
	var paths []reference.Reference
	for _, t := range c.Tasks {
		paths = append(paths, t.Path)
	}
	var frame *rotors.Airframe
	if c.Rotors.Mass > 0 {
		frame = &c.Rotors
	}
	config := c.Judge
	seen(&config, c.Filter, in)
	return closedloop.NewJudge(config, paths, c.Limits, frame, c.Guard)
}

// seen has a judge see its robot as those of scenarios are seen, with or without a filter of poses. What an IMU makes
// of poses are states of now, too, however poor they are.
func seen(j *gate.JudgeConfig, filtered bool, in []Scenario) {
	onboard := len(in) > 0
	for i := range in {
		if m, p := &in[i].Mocap, &j.Poses; in[i].Imu.Rate == 0 {
			p.Rate, p.Latency = max(1, min(p.Rate, m.Rate*(1-m.Lost))), max(p.Latency, m.Latency+m.Jitter)
			p.Position, p.Attitude = max(p.Position, m.Position), max(p.Attitude, m.Attitude)
			onboard = false
		}
	}
	j.Filter = j.Filter && (filtered || onboard)
}

// vehicle is what the bundles are for.
func (c *Campaign) vehicle() quadgate.Vehicle {
	return quadgate.Vehicle{Robot: quadrotor.Name, Limits: c.Limits}
}

// see has flights show what the policy of a bundle sees.
func (c *Campaign) see(b *bundle.Bundle) error {
	p, err := policy.FromBundle(b)
	if err != nil {
		return err
	}
	c.camera = closedloop.CameraOf(p, b.Dt)
	return nil
}

// Learner goes on from a bundle, by flights in scenarios.
func (c *Campaign) Learner(start *bundle.Bundle, in ...Scenario) (*continual.Learner, error) {
	if err := c.see(start); err != nil {
		return nil, fmt.Errorf("learn: %w", err)
	}
	return continual.New(c.Config.Config, start,
		continual.Options{Tasks: c.tasks(), Task: c.names(), Seed: c.Seed, Judge: c.judge(in...), Vehicle: c.vehicle()})
}

// setup is one flight of at least the given length, s.
func (c *Campaign) setup(f Scenario, d Task, seed uint64, seconds float64) *closedloop.Setup {
	s := &closedloop.Setup{World: f.World, Seed: seed, Path: d.Path, Seconds: max(seconds, f.Seconds),
		Tick: c.Nominal.Dt, Limits: c.Limits, Camera: c.camera, Filtered: c.Filter, Guard: c.Guard}
	param.Default(&s.Estimate)
	if f.World.Imu.Rate > 0 {
		s.Inertial = &inertial.Params{}
		param.Default(s.Inertial)
		s.Inertial.Noise.Drift = f.World.Mocap.Odometry.Drift
	}
	return s
}

// flight is one flight of a task.
type flight struct {
	*closedloop.Setup
	task Task
}

// longestLanding is how long a landing may take, s; most is how many of them there are in one go.
const (
	longestLanding = 12
	most           = 64
)

// flights are those of a task in a scenario: one of at least the given length, s, or as many landings, each of its own.
func (c *Campaign) flights(f Scenario, d Task, seed uint64, seconds float64) ([]flight, error) {
	if !closedloop.Landable(d.Path) {
		return []flight{{c.setup(f, d, seed, seconds), d}}, nil
	}
	var out []flight
	for left := max(seconds, f.Seconds); left > 0 && len(out) < most; {
		s := c.setup(f, d, seed<<8+uint64(len(out)), 0)
		path, err := land(s, d.Path)
		if err != nil {
			return nil, err
		}
		s.Seconds = longestLanding
		out, left = append(out, flight{s, Task{d.Task, path}}), left-path.Duration()
	}
	return out, nil
}

// fly flies a controller, by what is external where there is that.
func (c *Campaign) fly(s *closedloop.Setup, by quad.Controller) (trace *closedloop.Trace, err error) {
	if c.External != nil {
		if s.External, err = c.External(s.World); err != nil {
			return nil, err
		}
		defer s.External.Close()
	}
	return closedloop.Fly(s, by)
}

// Record flies a bundle, with some noise on its commands to learn from, and returns what was recorded besides. Rows of
// a landing are those in the air: what the floor does to a robot is no disturbance of its flight.
func (c *Campaign) Record(b *bundle.Bundle, f Scenario, d Task, seed uint64, seconds float64) ([]*closedloop.Trace,
	quad.Flight, error) {
	out := quad.Flight{Name: d.Name + " " + f.Label()}
	flights, err := c.flights(f, d, seed, seconds)
	if err != nil {
		return nil, out, err
	}
	var traces []*closedloop.Trace
	for _, one := range flights {
		method, err := policy.NewClosedLoopRunner(b, one.task.Path.At)
		if err != nil {
			return nil, out, err
		}
		rec := &recording{ClosedLoopRunner: method, Excitation: NewExcitation(one.Seed, c.Excite)}
		if one.Lands {
			rec.landing = one.Path
		}
		trace, err := c.fly(one.Setup, rec)
		if err != nil {
			return nil, out, err
		}
		traces, out.Segments = append(traces, trace), append(out.Segments, quad.Segments(rec.rows, b.Dt)...)
	}
	return traces, out, nil
}
