package reference

import (
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// TestTouchdownIsFound: of a robot that follows a landing, a tenth of a second late, and stops at the floor. One that
// stays in the air, or follows on, does not stand.
func TestTouchdownIsFound(t *testing.T) {
	begin := quad.State{P: so3.Vec3{X: 0.5, Z: 1.2}, Q: so3.Identity()}
	r, err := Parse("test", []byte(`{"kind": "landing", "to": [0, 0, -0.2]}`))
	if err == nil {
		r, err = StartAt(r, &begin)
	}
	if err != nil {
		t.Fatal(err)
	}
	const dt, late, end = 0.02, 0.1, -Below
	for name, c := range map[string]struct {
		floor  float64 // where the robot stops, m
		stands bool
	}{"on the floor": {0, true}, "in the air": {0.5, false}, "nowhere": {-1, false}} {
		t.Run(name, func(t *testing.T) {
			var d Touchdown
			touched, found := -1., -1. // s since the first contact; −1: none
			for k := range int((r.Duration() - 0.5) / dt) {
				at := float64(k) * dt
				now, was := r.At(at), r.At(at-late)
				s := quad.State{P: was.P, V: was.V}
				if s.P.Z <= c.floor {
					s.P.Z, s.V.Z, touched = c.floor, 0, max(touched, 0)+dt
				}
				if c.floor > 0 {
					now.P.Z = max(now.P.Z, 0.05) // while the reference is above the floor
				}
				if d.Found(at, &s, &now, end) && found < 0 {
					found = touched
				}
			}
			if (found >= 0) != c.stands || found > 0.2 {
				t.Errorf("found %.2f s after the first contact", found)
			}
		})
	}
}
