package campaign

import (
	"fmt"

	"vnd/pkg/core/so3"
	"vnd/pkg/flight/control"
)

// takeOffRows are faults while the law takes off, from a robot that stands to the policy's first seconds, and while it
// lands.
func takeOffRows() []Row {
	return []Row{
		{ID: "takeoff-missing", Name: "a take-off; no samples for .05–5 s, for ever, or again and again",
			Pass: "common", Plan: takeOff(missing), Judge: judge(common, rises)},
		{ID: "takeoff-false", Name: "a take-off; samples are frozen, jumped or late", Pass: "common",
			Plan: takeOff(untrue), Judge: judge(common, rises)},
		{ID: "takeoff-stop", Name: "a take-off; the controller stops, or a link is cut", Pass: "common",
			Plan: takeOff(stopping), Judge: judge(common, rises)},
		{ID: "landing-missing", Name: "a landing; no samples for .05–5 s, for ever, or again and again",
			Pass: "common", Plan: landing(missing), Judge: judge(common)},
		{ID: "landing-false", Name: "a landing; samples are frozen, jumped or late", Pass: "common",
			Plan: landing(untrue), Judge: judge(common)},
		{ID: "landing-stop", Name: "a landing; the controller stops, or a link is cut", Pass: "common",
			Plan: landing(stopping), Judge: judge(common)},
	}
}

// landing plans a landing that was ordered, amid which a fault begins.
func landing(fault func(r *Run)) func(r *Run) {
	return func(r *Run) {
		since := 2.5 * r.rng.Float64() // s
		r.amid(fault, since)
		r.Orders = append(r.Orders, land(-since))
	}
}

// takeOff plans a take-off, amid which a fault begins.
func takeOff(fault func(r *Run)) func(r *Run) {
	return func(r *Run) {
		since := 4 * r.rng.Float64() // s
		r.Start, r.Onset = so3.Vec3{}, stood+since
		r.amid(fault, since)
		r.Orders = append(r.Orders, Order{At: -since, Do: func(l *control.Loop) error { return l.Guard().TakeOff() }})
	}
}

// amid plans a fault some seconds after an order. In half of the flights the law lands where the state is lost.
func (r *Run) amid(fault func(r *Run), since float64) {
	fault(r)
	r.Label += fmt.Sprintf(" %.2f s after the order", since)
	if r.LawLands = r.rng.IntN(2) == 0; r.LawLands {
		r.Label += ", the law lands"
	}
}

// stood is how long a robot stands before it takes off, s: a motion capture's noise is known by then.
const stood = 6.0

// missing plans samples that do not come.
func missing(r *Run) {
	switch r.rng.IntN(3) {
	case 0:
		r.Mocap = dropOut(r.between(0.05, 5, "%.2f s"))
	case 1:
		r.Mocap, r.Label = dropOut(forEver), "for ever"
	case 2:
		again(r)
	}
}

// untrue plans samples that are not true.
func untrue(r *Run) {
	switch r.rng.IntN(3) {
	case 0:
		r.Mocap, r.Label = frozen(), "frozen"
	case 1:
		by := direction(r.rng, false).Scale(r.between(0.05, 2, "jump of %.2f m"))
		r.Mocap = jumped(by, so3.Identity(), []float64{0.05, 0.5, forEver}[r.rng.IntN(3)])
	case 2:
		r.Mocap = late(r.between(0.08, 0.3, "hidden delay of %.3f s"), true)
	}
}

// stopping plans commands that do not come.
func stopping(r *Run) {
	switch r.rng.IntN(3) {
	case 0:
		r.Stall = during(r.between(0.05, 5, "stopped for %.2f s"))
	case 1:
		r.Stall = r.repeated(0.1, 1, 1.5, 3)
	case 2:
		partition(r)
	}
}

// rises wants the robot to have left the ground where nothing was wrong for two seconds. A strong wind slides one that
// stands away, so that it does not take off.
func rises(r *Run) []Check {
	if r.Onset-stood < 2 || r.Cell.Wind > 1 {
		return nil
	}
	return []Check{{"height missing", max(0, 0.5-r.Highest), 0, "m"}}
}
