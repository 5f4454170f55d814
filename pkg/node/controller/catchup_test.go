package controller

import (
	"testing"
	"time"

	"vnd/pkg/ros2/ros"
)

// After a stop simulated time is taken when what waited has come, and at last where it never ends to leap.
func TestAwaitsSteadyTime(t *testing.T) {
	for leaps, want := range map[int]int{0: 1, 5: 6, 1000: mostCatching} {
		var at ros.Time
		waits := 0
		awaitSteady(func() ros.Time { return at }, func(d time.Duration) {
			if waits++; waits <= leaps {
				d *= 20
			}
			at += ros.Time(d)
		})
		if waits != want {
			t.Errorf("after %d leaps: %d waits, expected %d", leaps, waits, want)
		}
	}
}
