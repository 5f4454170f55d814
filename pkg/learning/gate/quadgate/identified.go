package quadgate

import (
	"context"
	"math"
	"slices"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/learning/gate"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd/bundle"
)

// Identified is a quadrotor as its flights show it. The zero value is one of which too little was flown.
type Identified struct {
	Actuator quadrotor.Actuator // its thrust gain has an error in the mass in it
	Dt       float64            // s, of a step of the actuator's delays
	Drag     float64            // horizontal acceleration against the velocity over the velocity, 1/s; 0: not known
	// Position and Attitude are what poses err by along and about an axis, standard deviations in m and rad; 0: as good
	// motion capture does.
	Position, Attitude float64
	// Every and Gap are how often no state came, and for how long: means in s; 0: it always came.
	Every, Gap float64
}

// Known reports whether enough was flown to tell a robot by.
func (r *Identified) Known() bool { return r.Dt > 0 }

// Simulator is a judge whose simulated robot can be made like one that was identified.
type Simulator interface {
	gate.Judge
	// Of returns the judge with other robots, of which each trial draws one.
	Of(r ...Identified) gate.Judge
	// Sooner returns the judge whose robot, if it is one that was identified, answers so many seconds sooner that a
	// bundle does not err more there than it did in flight. A robot that is too late favours what is slow.
	Sooner(ctx context.Context, b *bundle.Bundle, flown []Stretch) (gate.Judge, float64, error)
	// Misfit says in a line by how much a robot answers otherwise than its controller believes; "": it does not, or too
	// little was flown to tell.
	Misfit(r *Identified) string
}

// Agree reports whether two robots are about the same. Thrust gains that differ more are of another robot, of another
// load, or of records that are wrong.
func (r *Identified) Agree(o *Identified) bool {
	const gain, response = 0.1, 0.03 // share; s
	slow := func(x *Identified) float64 { return x.Actuator.RateDelay*x.Dt + x.Actuator.RateLag }
	return math.Abs(r.Actuator.ThrustGain-o.Actuator.ThrustGain) <= gain*o.Actuator.ThrustGain &&
		math.Abs(slow(r)-slow(o)) <= response
}

// Identify finds a robot from its flights at steps of dt seconds. What a candidate's model says of it plays no part.
// The thrust gain is that which holds the robot up: a fit that corrects for residual means does not see it where
// responses are slow. The rate gain is 1: the rate loops of flight controllers integrate.
func Identify(ctx context.Context, flown [][]quad.Row, dt float64) (Identified, error) {
	const most, shift = 6000, 2 // rows; steps, for which every robot waits at least
	var late [][]quad.Row       // states with the command of that many steps before
	for i, rows := len(flown)-1, 0; i >= 0 && rows < most; i-- {
		rows += len(flown[i])
		late = append(late, shifted(flown[i], shift))
	}
	a, err := quadrotor.Identify(ctx, dt, late)
	if err != nil {
		return Identified{}, err
	}
	if a == quadrotor.NominalActuator() { // too little was flown
		return Identified{}, nil
	}
	left, velocity := residuals(late, a, dt)
	a.RateGain = 1
	a.ThrustDelay += shift
	a.RateDelay += shift
	up := 0.
	for i := range left {
		up += left[i].Z / float64(len(left))
		left[i].Z, velocity[i].Z = 0, 0
	}
	if share := 1 - up/quad.Gravity; share > 0.5 && share < 2 {
		a.ThrustGain /= share
	}
	return Identified{Actuator: a, Dt: dt, Drag: drag(left, velocity)}, nil
}

// shifted returns states with the commands of n steps before.
func shifted(rows []quad.Row, n int) []quad.Row {
	if len(rows) <= n {
		return nil
	}
	out := slices.Clone(rows[n:])
	for k := range out {
		out[k].Command = rows[k].Command
	}
	return out
}

// residuals are means over averagedOver of what the prior behind an actuator leaves of the measured accelerations, and
// of the velocities.
func residuals(flown [][]quad.Row, a quadrotor.Actuator, dt float64) (left, velocity []so3.Vec3) {
	steps := max(1, int(averagedOver/dt+0.5))
	residualMean := quadrotor.NewResidualMean(a, dt, steps)
	for _, rows := range flown {
		for ; len(rows) > steps; rows = rows[steps:] {
			a, v := residualMean.Mean(rows[:steps+1]), meanVelocity(rows[:steps+1])
			if a.Finite() && v.Finite() {
				left, velocity = append(left, a), append(velocity, v)
			}
		}
	}
	return left, velocity
}
