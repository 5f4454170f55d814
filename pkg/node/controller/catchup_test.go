package controller

import (
	"testing"
	"time"

	"vnd/pkg/ros2/ros"
)

// After a stop simulated time is taken when what waited has come, and at last where it never ends to leap. On a machine
// that is so busy that it sleeps for longer, time that passes meanwhile is no leap.
func TestAwaitsSteadyTime(t *testing.T) {
	for _, c := range []struct {
		name   string
		leaps  int
		longer time.Duration // times what was asked for
		want   int           // waits
	}{
		{"steady", 0, 1, 1},
		{"five leaps", 5, 1, 6},
		{"leaps for ever", 1000, 1, 50},
		{"busy", 0, 5, 1},
		{"busy, five leaps", 5, 5, 6},
		{"busy, leaps for ever", 1000, 5, 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			var at ros.Time
			wall, waits := int64(0), 0
			awaitSteady(func() ros.Time { return at }, func() int64 { return wall }, func(d time.Duration) {
				d *= c.longer
				wall += int64(d)
				if waits++; waits <= c.leaps {
					d *= 20
				}
				at += ros.Time(d)
			})
			if waits != c.want {
				t.Errorf("%d waits, expected %d", waits, c.want)
			}
		})
	}
}
