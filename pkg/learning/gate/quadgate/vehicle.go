// Package quadgate is the quadrotor as package gate has it fly: its limits, its tasks, and what its flights met.
package quadgate

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"vnd/pkg/core/quad"
	"vnd/pkg/flight/policy"
	"vnd/pkg/learning/gate"
	"vnd/pkg/learning/task"
	"vnd/pkg/robot"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd/bundle"
)

// Vehicle is a quadrotor that bundles are to fly.
type Vehicle struct {
	Robot  string // name in bundles
	Limits quad.Limits
}

// Flying returns the vehicle with the tasks of its shadow flights, each of one of them, drawn evenly.
func (v Vehicle) Flying(tasks []*task.Task) gate.Vehicle { return &flying{v, tasks} }

// flying implements gate.Vehicle.
type flying struct {
	Vehicle
	tasks []*task.Task
}

// Kind implements gate.Vehicle.
func (v *flying) Kind() string { return v.Robot }

// Load implements gate.Vehicle.
func (v *flying) Load(b *bundle.Bundle) (*gate.Loaded, error) {
	p, err := policy.Load(b)
	if err != nil {
		return nil, err
	}
	l := &gate.Loaded{ID: p.ID, Dt: p.Dt, Actor: &p.Policy.Actor, Model: p.Model, Robot: p.Robot,
		Refused: beyond(&p.Policy.Limits, &v.Limits)}
	if p.Policy.Pinhole != nil && !v.shows() {
		l.Refused = append(l.Refused,
			"the policy sees features, and no flight of the gate shows it a camera's: expected one that sees positions")
	}
	l.NewRunner = func(in robot.Robot, rng *rand.Rand, _ int, s []float32) (gate.Runner, error) {
		return v.begin(p, in.(quadrotor.Robot), rng, s)
	}
	return l, nil
}

// shows reports whether the tasks are flown by a camera's features.
func (v *flying) shows() bool {
	return slices.ContainsFunc(v.tasks, func(k *task.Task) bool { return k.Name == task.Features })
}

// beyond says which limits of a policy the vehicle does not allow.
func beyond(l, vehicle *quad.Limits) (out []string) {
	for _, x := range []struct {
		name        string
		got, lo, hi float64
	}{
		{"min_thrust", l.MinThrust, vehicle.MinThrust, vehicle.MaxThrust},
		{"max_thrust", l.MaxThrust, vehicle.MinThrust, vehicle.MaxThrust},
		{"max_tilt_rate", l.MaxTiltRate, 0, vehicle.MaxTiltRate},
		{"max_yaw_rate", l.MaxYawRate, 0, vehicle.MaxYawRate},
	} {
		if !(x.got >= x.lo && x.got <= x.hi) {
			out = append(out, fmt.Sprintf("%s is %g, the vehicle allows %g to %g", x.name, x.got, x.lo, x.hi))
		}
	}
	return out
}

// runner is one flight in the model of a bundle.
type runner struct {
	limits  *quad.Limits
	robot   quadrotor.Robot
	task    *task.Task
	episode task.Episode
	flown   *policy.ClosedLoopRunner
	eye     *camera // nil: the policy sees positions
}

func (v *flying) begin(b *policy.LoadedBundle, in quadrotor.Robot, rng *rand.Rand, s []float32) (*runner, error) {
	if len(v.tasks) == 0 {
		return nil, errors.New("no task for the shadow flights")
	}
	k := v.tasks[rng.IntN(len(v.tasks))]
	f := &runner{limits: &v.Limits, robot: in, task: k, episode: k.Draw(rng)}
	here := f.episode.Start
	here.P = here.P.Sub(f.robot.Origin)
	quadrotor.Measured(&here, s)
	var err error
	f.flown, err = b.NewRunner(f.episode.Reference)
	if err == nil && b.Policy.Pinhole != nil {
		f.eye, err = newCamera(&b.Policy.Observation.Camera, f.episode.Reference(0), rng.Uint64())
	}
	return f, err
}

// Tick implements gate.Runner.
func (f *runner) Tick(t float64, s, a []float32) gate.Tick {
	state := f.robot.State(s)
	off := state.P.Sub(f.episode.Reference(t).P).Norm()
	if !(off < f.task.Radius) || !finiteState(s) {
		return gate.Tick{Crash: fmt.Sprintf("%.1f m off the reference after %.1f s, or no longer finite", off, t)}
	}
	if f.eye != nil {
		f.eye.show(t, &state, f.flown)
	}
	command := f.flown.Command(t, &state)
	if !command.Finite() {
		return gate.Tick{Crash: fmt.Sprintf("a command that is not finite after %.1f s", t)}
	}
	command = f.limits.Clip(command)
	f.flown.Observe(quad.Row{T: t, State: state, Command: command})
	quadrotor.Action(&command, a)
	units := f.limits.Units(command)
	return gate.Tick{Error: off, Units: units[:]}
}

func finiteState(s []float32) bool {
	for _, x := range s {
		if x*0 != 0 {
			return false
		}
	}
	return true
}
