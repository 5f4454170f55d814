package control

import (
	"testing"
	"time"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
	"vnd/pkg/flight/reference"
)

// TestLandingEnds: where the robot stands on the floor, or else after its reference has come to its end; under no other
// task and on no way down.
func TestLandingEnds(t *testing.T) {
	const dt = 0.02
	begin := quad.State{P: so3.Vec3{Z: 1}, Q: so3.Identity()}
	for name, c := range map[string]struct {
		to, floor float64 // where the reference ends, and where the robot stops
		task      string
		law       bool    // flies all the while
		least     float64 // s from the moment at which the robot stops, or the reference rests
		most      float64 // 0: never
	}{
		"on the floor":              {-0.2, 0.03, landTask, false, 0.05, 0.3},
		"to the floor itself":       {0.03, 0.03, landTask, false, 0.8, 1.2},
		"on a pad":                  {0.3, 0.5, landTask, false, 1.2, 2.2},
		"hanging in the air":        {-0.2, 0.6, landTask, false, 1.2, 4},
		"another task goes as deep": {-0.2, 0.03, "track", false, 0, 0},
		"the law flies":             {-0.2, 0.03, landTask, true, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := reference.New(&reference.Landing{To: []float64{0, 0, c.to}, From: []float64{0, 0, 1},
				Descent: 0.5, Approach: 1, Acceleration: 1, ToVelocity: []float64{0, 0, 0}})
			if err != nil {
				t.Fatal(err)
			}
			var d landingEnd
			stopped, found := -1., -1.
			for k := range int((r.Duration() + 3) / dt) {
				now := float64(k) * dt
				at := r.At(now)
				q := Request{Task: c.task, Target: at.P, Ended: now >= r.Duration()}
				s := quad.State{P: at.P, V: at.V, Q: begin.Q}
				if s.P.Z <= c.floor+1e-9 {
					s.P.Z, s.V.Z, stopped = c.floor, 0, max(stopped, 0)+dt
				}
				if found < 0 && d.over(now, &s, &q, !c.law, &guard.Config{}) {
					found = stopped
				}
			}
			if (found >= 0) != (c.most > 0) || found >= 0 && (found < c.least || found > c.most) {
				t.Errorf("found %.2f s after the robot stopped, want %g to %g s", found, c.least, c.most)
			}
		})
	}
}

// A robot that flew and stands has its motors stopped, once. One that has not flown yet stands armed.
func TestMotorsStopAfterALanding(t *testing.T) {
	var l Ended
	at := time.Second
	step := func(s guard.Stage, seconds float64) (ended int) {
		for range int(seconds / 0.02) {
			at += 20 * time.Millisecond
			if l.Due(s, at) {
				ended++
			}
		}
		return ended
	}
	for _, c := range []struct {
		name    string
		stage   guard.Stage
		seconds float64
		ended   int
	}{
		{"armed, stands", guard.Off, 10, 0}, {"takes off", guard.Hold, 2, 0}, {"flies", guard.Policy, 2, 0},
		{"touches", guard.Off, 0.9, 0}, {"takes off again", guard.Hold, 1, 0}, {"lands", guard.Land, 1, 0},
		{"has landed", guard.Off, 0.9, 0}, {"stands", guard.Off, 10, 1}, {"flies again", guard.Policy, 1, 0},
		{"commands are late at touch-down", guard.NotOffboard, 0.3, 0}, {"has landed again", guard.Off, 0.5, 0},
		{"commands are late on the ground", guard.NotOffboard, 0.3, 0}, {"stands again", guard.Off, 10, 1},
		{"flies a third time", guard.Policy, 1, 0},
		{"a pilot flies", guard.NotOffboard, 1, 0}, {"gives over on the ground", guard.Off, 10, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if ended := step(c.stage, c.seconds); ended != c.ended {
				t.Errorf("ended %d times, expected %d", ended, c.ended)
			}
		})
	}
}
