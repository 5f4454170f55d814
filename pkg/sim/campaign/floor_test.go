package campaign

import (
	"testing"

	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
)

// A robot that lands by a source which drifts up slides along the floor in a wind, and turns as that has it. That shows
// no delay: the guard would fly by states further back, and throw it off.
func TestFloorThatTurnsARobotIsNoDelay(t *testing.T) {
	p := made(t)
	row := Row{ID: "drift-up", Plan: func(r *Run) { r.Mocap = drifting(so3.Vec3{Z: 0.1}) }, Judge: judge(common)}
	const hover = 2 // the cell of a hover in 3 m/s²
	for number := range 16 {
		r, checks, err := Replay(p, &row, hover, number, 3)
		if err != nil {
			t.Fatal(err)
		}
		for i := range r.Ticks {
			if k := &r.Ticks[i]; k.T > r.Onset && k.Violation == guard.Delayed {
				t.Fatalf("%s: delay is found %.2f s after the drift begins, at %v", r.Replay(), k.T-r.Onset, k.Truth.P)
			}
		}
		for _, c := range checks {
			if !c.OK() {
				t.Errorf("%s: %v", r.Replay(), c)
			}
		}
	}
}
