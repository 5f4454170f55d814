package learner

import (
	"testing"

	"vnd/msgs"
	"vnd/pkg/flight/guard"
)

// A bundle that gives way while the guard flies was rolled back. One that a swap replaces, or another run of the
// controller, was not.
func TestTicksOfARollback(t *testing.T) {
	for name, c := range map[string]struct {
		next msgs.Step
		want string
	}{
		"rolled back": {msgs.Step{Seq: 8, BundleID: "b", GuardState: msgs.StepGuardHold}, "a"},
		"held":        {msgs.Step{Seq: 8, BundleID: "a", GuardState: msgs.StepGuardHold}, ""},
		"swapped":     {msgs.Step{Seq: 8, BundleID: "b", GuardState: msgs.StepGuardPolicy}, ""},
		"ticks lost":  {msgs.Step{Seq: 9, BundleID: "b", GuardState: msgs.StepGuardHold}, ""},
		"begins anew": {msgs.Step{Seq: 0, BundleID: "b", GuardState: msgs.StepGuardHold}, ""},
	} {
		ticks := bundleTicks{seq: 6, bundle: "a"}
		step := func(m *msgs.Step) string {
			return ticks.dropped(m.Seq, m.BundleID, guard.Stage(m.GuardState).HoldsAuthority())
		}
		if got := step(&msgs.Step{Seq: 7, BundleID: "a"}); got != "" {
			t.Errorf("%s: before: %q", name, got)
		}
		if got := step(&c.next); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
