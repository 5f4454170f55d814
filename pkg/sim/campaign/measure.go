package campaign

import (
	"fmt"
	"math"
	"sync"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
	"vnd/pkg/flight/reference"
)

// common are the criteria of every row: no crash, inside the fence, a soft touch-down, no motor cut in the air, and a
// policy that is silent at most two ticks after the guard saw a violation.
func common(r *Run) []Check {
	if !math.IsInf(r.Landed, 1) {
		r.Figures = append(r.Figures, Figure{"touch-down", r.Touchdown, "m/s"})
	}
	return append(crash(r), []Check{
		{"outside of the fence", r.Outside, 0, "m"},
		{"touch-down", r.Touchdown, 1, "m/s"},
		{"without thrust above 0.15 m", r.Cut, 0.2, "s"},
		{"ticks of the policy after a violation", r.policyTicksUnderViolation(), 2, ""},
	}...)
}

// crash is a check that holds unless the simulator ended the flight.
func crash(r *Run) []Check {
	if r.Crash == "" {
		return nil
	}
	return []Check{{r.Crash, 1, 0, "crash"}}
}

// judge joins criteria.
func judge(criteria ...func(r *Run) []Check) func(r *Run) []Check {
	return func(r *Run) (all []Check) {
		for _, c := range criteria {
			all = append(all, c(r)...)
		}
		return all
	}
}

// policyTicksUnderViolation is the longest run of ticks at which the policy flew although something was wrong.
func (r *Run) policyTicksUnderViolation() float64 {
	most, n := 0, 0
	for i := range r.Ticks {
		if k := &r.Ticks[i]; k.Violation != guard.None && k.Stage.PolicyFlies() {
			n++
			most = max(most, n)
		} else {
			n = 0
		}
	}
	return float64(most)
}

// tripAfter is the time from t s after the onset until the policy does not fly; +Inf: it always does.
func (r *Run) tripAfter(t float64) float64 {
	for i := range r.Ticks {
		if k := &r.Ticks[i]; k.T >= r.Onset+t && !k.Stage.PolicyFlies() {
			return k.T - r.Onset - t
		}
	}
	return math.Inf(1)
}

// tripWithin wants the guard to trip within a time after the onset, s.
func tripWithin(limit float64) func(r *Run) []Check {
	return tripSince(limit, func(*Run) float64 { return 0 })
}

// tripSince wants the guard to trip within a time, s, from when the fault can be known on, s after the onset. A flight
// in which that never is passes.
func tripSince(limit float64, known func(r *Run) float64) func(r *Run) []Check {
	return func(r *Run) []Check {
		from := known(r)
		if math.IsInf(from, 1) {
			return nil
		}
		took := r.tripAfter(from)
		if first := r.tripAfter(0); first < from {
			took = 0
		}
		r.Figures = append(r.Figures, Figure{"time to detect", took, "s"})
		return []Check{{"time to detect", took, limit, "s"}}
	}
}

// neverTrips wants the policy to fly all the time from the onset on.
func neverTrips(r *Run) []Check {
	n := 0.0
	for i := range r.Ticks {
		if k := &r.Ticks[i]; k.T >= r.Onset && !k.Stage.PolicyFlies() {
			n++
		}
	}
	return []Check{{"ticks without the policy", n, 0, ""}}
}

// lostTicks wants the policy to fly all but a few ticks.
func lostTicks(most float64) func(r *Run) []Check {
	return func(r *Run) []Check {
		c := neverTrips(r)
		c[0].Limit = most
		return c
	}
}

// backWithout wants the policy to fly at the end: control authority came back without a person.
func backWithout(r *Run) []Check {
	missing := 1.0
	if n := len(r.Ticks); n > 0 && r.Ticks[n-1].Stage.PolicyFlies() {
		missing = 0
	}
	return []Check{{"the policy does not fly at the end", missing, 0, ""}}
}

// autopilotWithin wants the autopilot's own landing to begin within a time after the onset, s.
func autopilotWithin(limit float64) func(r *Run) []Check {
	return func(r *Run) []Check {
		took := r.Failsafe - r.Onset
		r.Figures = append(r.Figures, Figure{"autopilot's landing begins", took, "s"})
		return []Check{{"the autopilot's landing begins", took, limit, "s"}}
	}
}

// lands wants the motors to stop at last.
func lands(r *Run) []Check {
	took := r.MotorsOff - r.Onset
	r.Figures = append(r.Figures, Figure{"motors off", took, "s"})
	return []Check{{"motors off", took, r.After, "s"}}
}

// moved wants the robot to leave the path by at most some metres more than in the flight without the fault. Going down
// does not count: a landing on the spot is safe, and a fall is a fast touch-down.
func moved(limit float64) func(r *Run) []Check {
	return func(r *Run) []Check {
		t, err := r.twin()
		if err != nil {
			return []Check{{err.Error(), 1, 0, ""}}
		}
		return []Check{{"moved off the path", max(0, r.offPath(r.Onset, r.End)-t.offPath(r.Onset, r.End)), limit, "m"}}
	}
}

// offPath is the greatest distance from the path of the task between two times, m.
func (r *Run) offPath(from, to float64) (most float64) {
	curve := r.curve()
	for i := range r.Motion {
		if k := &r.Motion[i]; k.T >= from && k.T <= to {
			most = max(most, distance(curve, k.State.P))
		}
	}
	return most
}

// errorGrows wants the position error to grow by at most some metres beyond that of the flight without the fault.
func errorGrows(limit float64) func(r *Run) []Check {
	return func(r *Run) []Check {
		t, err := r.twin()
		if err != nil {
			return []Check{{err.Error(), 1, 0, ""}}
		}
		worst := r.greatestError(r.Onset, r.End) - t.greatestError(r.Onset, r.End)
		return []Check{{"further error", max(0, worst), limit, "m"}}
	}
}

// greatestError is that of the position against the reference between two times, m.
func (r *Run) greatestError(from, to float64) (most float64) {
	for i := range r.Ticks {
		if k := &r.Ticks[i]; k.T >= from && k.T <= to {
			most = max(most, k.Truth.P.Sub(k.Reference.P).Norm())
		}
	}
	return most
}

// greatestTilt is that between two times, rad.
func (r *Run) greatestTilt(from, to float64) (most float64) {
	for i := range r.Motion {
		if k := &r.Motion[i]; k.T >= from && k.T <= to {
			most = max(most, k.State.Q.Tilt())
		}
	}
	return most
}

// sameCommands counts the ticks whose command is not bit for bit that of the flight without the fault.
func sameCommands(r *Run) []Check {
	t, err := r.twin()
	if err != nil {
		return []Check{{err.Error(), 1, 0, ""}}
	}
	differ := 0.0
	for i := range r.Ticks {
		if i < len(t.Ticks) && r.Ticks[i].Command != t.Ticks[i].Command {
			differ++
		}
	}
	return []Check{{"ticks with another command", differ, 0, ""}}
}

// meanError is the figure of a flight's quality.
func meanError(r *Run) []Check {
	sum, n := 0.0, 0.0
	for i := range r.Ticks {
		if k := &r.Ticks[i]; k.T >= settled {
			sum += k.Truth.P.Sub(k.Reference.P).Norm()
			n++
		}
	}
	r.Figures = append(r.Figures, Figure{"mean position error", sum / n, "m"})
	return nil
}

// errorUnderPolicy notes the mean error from a second after the onset on while the policy flies, and how much of that
// time it does.
func errorUnderPolicy(r *Run) []Check {
	sum, n, all := 0.0, 0.0, 0.0
	for i := range r.Ticks {
		k := &r.Ticks[i]
		if k.T < r.Onset+1 {
			continue
		}
		if all++; k.Stage.PolicyFlies() {
			sum += k.Truth.P.Sub(k.Reference.P).Norm()
			n++
		}
	}
	if n > 0 {
		r.Figures = append(r.Figures, Figure{"mean error under the policy", sum / n, "m"})
	}
	if all > 0 { // else it crashed within that second
		r.Figures = append(r.Figures, Figure{"share of time under the policy", n / all, ""})
	}
	return nil
}

// curves are the paths of tasks as points.
var curves sync.Map

// curve is the path of the run's task as points, m in the world.
func (r *Run) curve() []so3.Vec3 {
	if c, ok := curves.Load(r.Cell.Task); ok && r.Path == nil {
		return c.([]so3.Vec3)
	}
	path := r.Path
	if path == nil {
		var err error
		if path, err = reference.OfTask(r.Cell.Task); err != nil {
			return []so3.Vec3{r.Start}
		}
	}
	const points = 400
	c := make([]so3.Vec3, points)
	from := path.Horizon() - period
	for i := range c {
		c[i] = path.At(max(from, 0) + period*float64(i)/points).P
	}
	if r.Path == nil {
		curves.Store(r.Cell.Task, c)
	}
	return c
}

// distance is that of a point from a curve, level and upwards.
func distance(curve []so3.Vec3, p so3.Vec3) float64 {
	least := math.Inf(1)
	for _, c := range curve {
		off := p.Sub(c)
		off.Z = max(off.Z, 0)
		least = min(least, off.Dot(off))
	}
	return math.Sqrt(least)
}

// thrustStep wants the swap to change the commanded thrust by no more than it usually changes without one, and some
// m/s². A policy answers the noise of its states: its steps in one span say little of those in the next.
func thrustStep(limit, span float64) func(r *Run) []Check {
	return func(r *Run) []Check {
		t, err := r.twin()
		if err != nil {
			return []Check{{err.Error(), 1, 0, ""}}
		}
		step := r.thrustStep(r.Onset, span) - t.usualStep(r.Onset, span)
		return []Check{{"step of the thrust", max(0, step), limit, "m/s²"}}
	}
}

// usualStep is the mean of thrustStep in spans of the second before a time, and of that after it, m/s².
func (r *Run) usualStep(at, span float64) (mean float64) {
	n := int(math.Round(1 / span))
	for i := -n; i < n; i++ {
		mean += r.thrustStep(at+span*float64(i), span) / float64(2*n)
	}
	return mean
}

// thrustStep is the greatest change of the commanded thrust from tick to tick in a span from a time on, m/s².
func (r *Run) thrustStep(from, span float64) (most float64) {
	var before *quad.Command
	for i := range r.Ticks {
		k := &r.Ticks[i]
		if before != nil && k.T >= from && k.T <= from+span {
			most = max(most, math.Abs(k.Command.Thrust-before.Thrust))
		}
		before = &k.Command
	}
	return most
}

// Events are the changes of stage, cause and mode of a run, in words.
func (r *Run) Events() (lines []string) {
	for i := range r.Ticks {
		k := &r.Ticks[i]
		if i > 0 {
			b := &r.Ticks[i-1]
			if b.Stage == k.Stage && b.Cause == k.Cause && b.Violation == k.Violation && b.Mode == k.Mode &&
				b.Bundle == k.Bundle {
				continue
			}
		}
		p := k.Truth.P
		lines = append(lines, fmt.Sprintf("%+7.2f s  %v, tripped by %v, now %v; vehicle %v; "+
			"at (%.2f, %.2f, %.2f) m, %.2f m/s", k.T-r.Onset, k.Stage, k.Cause, k.Violation, k.Mode, p.X, p.Y,
			p.Z, k.Truth.V.Norm()))
	}
	return lines
}
