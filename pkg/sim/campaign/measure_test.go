package campaign

import (
	"math"
	"strings"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
	"vnd/pkg/vnd/bundle"
)

// still is a run of two seconds whose fault sets in after one, at rest in the place of a hover.
func still() *Run {
	r := &Run{Row: &Row{ID: "test"}, Cell: Cell{Task: "hover"}, Onset: 1}
	r.Config.Rate, r.Bundle = 50, &bundle.Bundle{ID: "before"}
	r.Landed, r.MotorsOff, r.Failsafe, r.End = math.Inf(1), math.Inf(1), math.Inf(1), 2
	for i := range 100 {
		s := quad.State{P: so3.Vec3{Z: 1}, Q: so3.Identity()}
		t := float64(i+1) * 0.02
		r.Ticks = append(r.Ticks, Tick{T: t, Truth: s, Estimate: s, Stage: guard.Policy,
			Command: quad.Command{Thrust: quad.Gravity}})
		r.Motion = append(r.Motion, Moment{t, s})
	}
	return r
}

// failedChecks are the names of the checks that do not hold.
func failedChecks(checks []Check) string {
	var names []string
	for _, c := range checks {
		if !c.OK() {
			names = append(names, c.Name)
		}
	}
	return strings.Join(names, ", ")
}

// tripAt has the guard hold from a time on.
func tripAt(at float64) func(r *Run) {
	return func(r *Run) {
		for i := range r.Ticks {
			if r.Ticks[i].T >= at-1e-9 {
				r.Ticks[i].Stage = guard.Hold
			}
		}
	}
}

// violatedFor has the guard see a violation for some ticks while the policy flies.
func violatedFor(ticks int) func(r *Run) {
	return func(r *Run) {
		for i := range ticks {
			r.Ticks[60+i].Violation = guard.Jump
		}
	}
}

// TestEachCriterionFailsWhatItIsFor: a flight in which nothing is wrong passes, and each fault fails its own criterion.
func TestEachCriterionFailsWhatItIsFor(t *testing.T) {
	for _, c := range []struct {
		name   string
		judge  func(r *Run) []Check
		change func(r *Run)
		want   string
	}{
		{"nothing wrong", common, func(*Run) {}, ""},
		{"crash", common, func(r *Run) { r.Crash = "crashed" }, "crashed"},
		{"fence", common, func(r *Run) { r.Outside = 0.01 }, "outside of the fence"},
		{"hard landing", common, func(r *Run) { r.Touchdown = 1.1 }, "touch-down"},
		{"soft landing", common, func(r *Run) { r.Touchdown = 0.9 }, ""},
		{"motors cut", common, func(r *Run) { r.Cut = 0.3 }, "without thrust above 0.15 m"},
		{"policy flies on", common, violatedFor(3), "ticks of the policy after a violation"},
		{"policy silent in time", common, violatedFor(2), ""},
		{"trip in time", tripWithin(0.15), tripAt(1.14), ""},
		{"trip late", tripWithin(0.15), tripAt(1.2), "time to detect"},
		{"no trip", tripWithin(0.15), func(*Run) {}, "time to detect"},
		{"trip before it can be known", tripSince(0.1, func(*Run) float64 { return 0.5 }), tripAt(1.1), ""},
		{"needless trip", neverTrips, tripAt(1.9), "ticks without the policy"},
		{"a tick lost", lostTicks(1), tripAt(2), ""},
		{"two ticks lost", lostTicks(1), tripAt(1.98), "ticks without the policy"},
		{"authority does not come back", backWithout, tripAt(1.5), "the policy does not fly at the end"},
		{"autopilot in time", autopilotWithin(1), func(r *Run) { r.Failsafe = 1.9 }, ""},
		{"autopilot late", autopilotWithin(0.5), func(r *Run) { r.Failsafe = 1.9 }, "the autopilot's landing begins"},
		{"no autopilot", autopilotWithin(1), func(*Run) {}, "the autopilot's landing begins"},
		{"landed", neverLands, func(r *Run) { r.Landed = 1.5 }, "landed"},
		{"motors off in time", motorsOffWithin(1), func(r *Run) { r.Landed, r.MotorsOff = 1.2, 1.9 }, ""},
		{"motors off late", motorsOffWithin(0.5), func(r *Run) { r.Landed, r.MotorsOff = 1.2, 1.9 },
			"motors off after touch-down"},
		{"never lands", motorsOffWithin(1), func(*Run) {}, "touch-down"},
		{"no state flown", finite, func(r *Run) { r.Ticks[70].Estimate.P.X = math.NaN() }, "ticks on such a sample"},
		{"latents too old", priorMeanWithin(0.1), func(r *Run) { r.Ticks[60].FromLatent = true },
			"latents used after the last"},
		{"bundle never back", previousWithin(0.5), tripAt(1.3), "previous bundle back"},
		{"bundle that never trips", previousWithin(0.5), func(*Run) {}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := still()
			c.change(r)
			if got := failedChecks(c.judge(r)); got != c.want {
				t.Errorf("fails %q, want %q", got, c.want)
			}
		})
	}
}

// TestOffPath: what lies beside and above the path counts, what lies below does not.
func TestOffPath(t *testing.T) {
	for _, c := range []struct {
		at   so3.Vec3
		want float64
	}{{so3.Vec3{Z: 1}, 0}, {so3.Vec3{X: 0.3, Z: 1}, 0.3}, {so3.Vec3{Z: 1.2}, 0.2}, {so3.Vec3{Y: 0.4, Z: 0.1}, 0.4}} {
		r := still()
		r.Motion[70].State.P = c.at
		if got := r.offPath(r.Onset, r.End); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("at %v: %.3f m off, want %.3f m", c.at, got, c.want)
		}
		if got := r.offPath(0, r.Onset); got != 0 {
			t.Errorf("before the onset: %.3f m off", got)
		}
	}
}

// While samples are missing the reference goes on: a robot that follows it does not err.
func TestReferencesAreOfNow(t *testing.T) {
	r := quad.Reference{P: so3.Vec3{X: 1}, V: so3.Vec3{X: 2}, A: so3.Vec3{Y: 4}}
	for age, want := range map[float64]so3.Vec3{0: {X: 1}, 0.1: {X: 1.2, Y: 0.02}, -3: {X: 1}, 5: {X: 1.4, Y: 0.08}} {
		if off := later(r, age).P.Sub(want).Norm(); off > 1e-12 {
			t.Errorf("after %g s: %v, expected %v", age, later(r, age).P, want)
		}
	}
}

// A policy that asks for no thrust is not cut off; from when the guard flies on, time without thrust counts.
func TestThrustThatThePolicyTakesAway(t *testing.T) {
	f := &flight{Run: &Run{}, cutFrom: math.NaN()}
	f.Ticks = []Tick{{Stage: guard.Policy}}
	for _, at := range []float64{1, 1.2, 1.4} {
		f.withoutThrust(at, true)
	}
	if f.Cut != 0 || f.MotorsOff != 1 {
		t.Errorf("under the policy: cut for %g s, off from %g s", f.Cut, f.MotorsOff)
	}
	f.Ticks = append(f.Ticks, Tick{Stage: guard.Hold})
	f.withoutThrust(1.5, false)
	if f.Cut != 0 {
		t.Errorf("on the floor: cut for %g s", f.Cut)
	}
	if f.withoutThrust(1.6, true); math.Abs(f.Cut-0.2) > 1e-9 {
		t.Errorf("under the guard: cut for %g s, expected 0.2", f.Cut)
	}
}

// How much thrust usually changes from tick to tick is told by two seconds, not by the five ticks of a swap: a policy
// that answers noise may be calm in those, or not.
func TestUsualStepOfTheThrust(t *testing.T) {
	const span = 0.1
	r := still()
	for i := range r.Ticks {
		if k := &r.Ticks[i]; k.T < r.Onset-0.05 || k.T > r.Onset+0.15 {
			k.Command.Thrust += float64(i % 2) // steps of 1 m/s²
		}
	}
	if now, usual := r.thrustStep(r.Onset, span), r.usualStep(r.Onset, span); now != 0 || math.Abs(usual-1) > 0.15 {
		t.Errorf("a calm moment: %.2f m/s² there, usually %.2f, expected 0 and about 1", now, usual)
	}
	r = still()
	r.Ticks[50].Command.Thrust += 8
	if now, usual := r.thrustStep(r.Onset, span), r.usualStep(r.Onset, span); math.Abs(now-8) > 1e-9 || usual > 1 {
		t.Errorf("one step: %.2f m/s² there, usually %.2f, expected 8 and less than 1", now, usual)
	}
}

// TestNothingIsMeasuredOfACrash: a flight that ends within a second of the onset has no figure that is no number.
func TestNothingIsMeasuredOfACrash(t *testing.T) {
	r := &Run{Onset: 8}
	r.Ticks = append(r.Ticks, Tick{T: 8.5})
	if errorUnderPolicy(r); len(r.Figures) > 0 {
		t.Errorf("%+v", r.Figures)
	}
}
