// Package closedloop flies controllers closed loop: the full simulated quadrotor, its
// motion capture, the estimator and the guard's limits, as the nodes fly; and it
// measures the flights.
package closedloop

import (
	"errors"
	"fmt"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/estimator"
	"vnd/pkg/flight/guard"
	"vnd/pkg/flight/inertial"
	"vnd/pkg/nn/kernel"
	"vnd/pkg/sim"
)

// Path is where the robot is to be; t in s from the flight's start.
type Path interface {
	At(t float64) quad.Reference
}

// Observer is a controller that also wants what was flown, as the encoder does:
// each step after its command, so that what it makes of it serves the next tick.
type Observer interface {
	Observe(s quad.Row)
}

// Informed is a controller that is told the truth, such as an oracle.
type Informed interface {
	Inform(t sim.Truth)
}

// Setup of a flight.
type Setup struct {
	World    sim.World
	Seed     uint64
	Path     Path
	Start    quad.State // zero: on the path, upright, at rest
	Rates    so3.Vec3   // body rates at the start, rad/s
	Seconds  float64
	Tick     float64 // s between commands
	Estimate estimator.Params
	Inertial *inertial.Params // of an estimate from poses and the world's IMU, in place of Estimate; nil: none
	// Filtered has states by a filter whose motion is what was commanded, where poses bear it out and there is no IMU.
	Filtered bool
	Guard    *guard.Config // of the controller: how it believes that the robot responds; nil: the default
	Limits   quad.Limits
	Camera   *Camera      // for a FrameReceiver, which it shows points around where the path begins; nil: none
	External sim.External // that flies; nil: none
	// Lands says that the path is a landing from DrawLanding: where the robot stands, motors stop and the flight ends.
	Lands bool
}

// TraceRow of a flight, at a tick.
type TraceRow struct {
	T         float64 // s since the start
	Truth     quad.State
	Estimate  quad.State
	Reference quad.Reference
	Command   quad.Command
	Condition string
}

// Error is the true distance from the reference, m.
func (r *TraceRow) Error() float64 { return r.Truth.P.Sub(r.Reference.P).Norm() }

// Trace is a flight. After a crash it ends.
type Trace struct {
	Rows      []TraceRow
	Crash     string        // in words, "" without
	Touchdown sim.Touchdown // first contact with the floor
	Stands    bool          // a landing was found to be over
	Flown     int           // ticks in which the controller flew
}

// Fly flies a controller through a setup. Until the estimator has a velocity,
// the robot is told to hover.
func Fly(s *Setup, c quad.Controller) (*Trace, error) {
	g, err := newGap(s.Limits, s.Guard)
	if err != nil {
		return nil, err
	}
	return fly(s, c, quad.Command{Thrust: quad.Gravity}, g)
}

// fly is Fly with the command that hovers, and what flies in gaps; nil: the controller.
func fly(s *Setup, c quad.Controller, hover quad.Command, g *gap) (*Trace, error) {
	simulator, err := sim.New(s.World, s.Seed)
	if err != nil {
		return nil, err
	}
	est, err := estimator.New(s.Estimate)
	if err != nil {
		return nil, err
	}
	if !(s.Tick > 0) || !(s.Seconds >= s.Tick) {
		return nil, fmt.Errorf("a flight of %g s with ticks of %g s, want a tick at least", s.Seconds, s.Tick)
	}
	var onboard *inertial.Estimator
	if s.Inertial != nil {
		if onboard, err = inertial.New(*s.Inertial); err != nil {
			return nil, err
		}
	}
	simulator.Fit(s.External)
	simulator.Reset(s.start(), s.Seed)
	simulator.Spin(s.Rates)
	if simulator.Crashed() {
		return nil, errors.New(simulator.Crash())
	}
	c.Reset()
	f := flight{setup: s, sim: simulator, est: est, onboard: onboard, controller: c, hover: hover, gap: g}
	if s.Filtered && onboard == nil && g != nil {
		f.commanded = inertial.NewCommandEstimator(g.motion.Moves)
	}
	if s.Camera != nil {
		if f.camera, err = NewFrameSource(s.Camera, s.Path.At(0), s.Tick, s.Seed); err != nil {
			return nil, err
		}
	}
	n := int(s.Seconds/s.Tick + 0.5)
	trace := &Trace{Rows: make([]TraceRow, 0, n)}
	down := touchdown{}
	if s.Lands {
		down.end = s.end()
	}
	for over := false; !over && len(trace.Rows) < n; {
		kernel.Pause()
		trace.Rows = append(trace.Rows, f.tick())
		row := &trace.Rows[len(trace.Rows)-1]
		over = s.Lands && down.command(row)
		simulator.Step(row.Command, s.Tick)
		if simulator.Crashed() {
			trace.Crash = simulator.Crash()
			break
		}
	}
	trace.Touchdown, trace.Stands, trace.Flown = simulator.Touchdown(), down.found, f.flown
	return trace, nil
}

// end is the height at which a landing ends, m.
func (s *Setup) end() float64 {
	const late = 1e3 // s
	return s.Path.At(late).P.Z
}

func (s *Setup) start() quad.State {
	if s.Start != (quad.State{}) {
		return s.Start
	}
	r := s.Path.At(0)
	return quad.State{P: r.P, Q: so3.FromEuler(0, 0, r.Yaw), V: r.V}
}

// flight is the loop between motion capture and command.
type flight struct {
	setup      *Setup
	sim        *sim.Simulator
	est        *estimator.Estimator
	onboard    *inertial.Estimator // nil: est
	controller quad.Controller
	commanded  *inertial.CommandEstimator // nil: none
	camera     *FrameSource               // nil: none
	hover      quad.Command               // until there is a state
	gap        *gap

	state    quad.State // that the controller sees
	stamp    float64
	measured quad.State // newest good one
	came     float64    // its stamp
	ready    bool
	flown    int // ticks of the controller
}

// tick turns what has arrived into a command.
func (f *flight) tick() TraceRow {
	f.listen()
	if o, ok := f.controller.(Informed); ok {
		o.Inform(f.sim.Truth())
	}
	truth := f.sim.Truth()
	if o, ok := f.controller.(FrameReceiver); ok && f.camera != nil {
		f.camera.Tick(truth.Time, &truth.State, o)
	}
	row := TraceRow{T: truth.Time, Truth: truth.State, Estimate: f.state, Reference: f.setup.Path.At(truth.Time),
		Command: f.hover, Condition: truth.Condition}
	if !f.ready {
		if f.onboard != nil && f.gap != nil { // it takes seconds, in which somebody holds the robot
			row.Command = f.gap.hold(truth.Time, &truth.State, row.Reference)
		}
		return row
	}
	t, state, usable := f.gap.ahead(truth.Time, f.stamp, &f.state)
	if usable && !f.old(truth.Time) {
		row.Command = f.setup.Limits.Clip(f.controller.Command(t, &state))
		f.flown++
	} else {
		row.Command = f.gap.hold(t, &state, row.Reference)
	}
	// Nobody learns of a state that the gap has carried on.
	if o, ok := f.controller.(Observer); ok && t == f.stamp && !f.old(truth.Time) {
		o.Observe(quad.Row{T: t, State: state, Command: row.Command})
	}
	f.gap.sent(truth.Time, row.Command)
	return row
}

// listen feeds the estimator.
func (f *flight) listen() {
	if f.onboard != nil {
		f.listenOnboard()
		return
	}
	now := f.sim.Truth().Time
	for _, m := range f.sim.Mocap() {
		state, outcome := f.est.Add(estimator.Pose{T: m.Stamp, P: m.P, Q: m.Q})
		if outcome == estimator.Ready {
			f.measured, f.came, f.ready = state, m.Stamp, true
		}
		switch {
		case f.commanded == nil:
		case f.ready && !f.gap.flying(&f.measured): // the floor holds it, whatever was commanded
			f.commanded.Restart()
		default:
			f.commanded.AddPose(inertial.Pose{T: m.Stamp, P: m.P, Q: m.Q}, now)
		}
	}
	f.state, f.stamp = f.measured, f.came
	if f.commanded == nil || !f.ready {
		return
	}
	if s, ok := f.commanded.At(now); ok {
		f.state, f.stamp = s, now
	} else if !f.old(now) {
		f.state, f.stamp = f.gap.motion.Ahead(&f.measured, f.came, now), now
	}
}

// old reports whether no pose has come for so long that the guard's law flies: by the filter, where there is one.
func (f *flight) old(now float64) bool { return f.commanded != nil && now-f.came >= f.gap.maxAge }

// listenOnboard is listen with an IMU.
func (f *flight) listenOnboard() {
	for _, m := range f.sim.Inertial() {
		f.onboard.AddImu(inertial.Imu{T: m.Stamp, Rates: m.Rates, Force: m.Force})
	}
	for _, m := range f.sim.Mocap() {
		f.onboard.AddPose(inertial.Pose{T: m.Stamp, P: m.P, Q: m.Q})
	}
	if f.onboard.Phase() == inertial.Ready {
		e := f.onboard.Estimate()
		f.state, f.stamp, f.ready = e.State, e.T, true
	}
}
