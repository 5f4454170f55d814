package guard

import (
	"math"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// takeOffThere takes off at 2 s beside a body that stands, and returns the top, m, and the height at which motors stop.
func takeOffThere(t *testing.T, g *Guard, w *world, seconds float64, order func(at float64, in *Input)) (top,
	off float64) {
	t.Helper()
	flew := false
	flyGuarded(g, w, PathFollower{newLaw(t), onFloor}, seconds, func(at float64, in *Input) {
		if at == 2 {
			if err := g.TakeOff(); err != nil {
				t.Fatal(err)
			}
		}
		in.State = quad.State{P: so3.Vec3{X: 1, Z: 0.02}.Add(trackerNoise(int(math.Round(at * 50)))), Q: so3.Identity()}
		order(at, in)
	}, func(_ float64, s *quad.State) {
		top = max(top, s.P.Z)
		if flew = flew || g.Mode().Aloft(); flew && g.Stage() == Off {
			off = max(off, s.P.Z)
		}
	})
	return top, off
}

// What ends a take-off under states of another body before that lands from where the robot should be.
func TestTakeOffByAnotherBodyThatIsEnded(t *testing.T) {
	for name, order := range map[string]func(g *Guard, since float64, in *Input){
		"land": func(g *Guard, since float64, _ *Input) {
			if since == 0 {
				g.Land()
			}
		},
		"trip": func(g *Guard, since float64, _ *Input) {
			if since == 0 {
				g.Trip()
			}
		},
		"reset": func(g *Guard, since float64, _ *Input) {
			if since == 0 {
				_ = g.Reset()
			}
		},
		"one state not a number": func(_ *Guard, since float64, in *Input) {
			if since == 0 {
				in.State.P.X = math.NaN()
			}
		},
		"0.12 s without states": func(_ *Guard, since float64, in *Input) {
			if since >= 0 && since < 0.12 {
				in.Stamp = in.Now - since - 0.1
			}
		},
		"policy silent for a tick": func(_ *Guard, since float64, in *Input) { in.NoCommand = since == 0 },
		"clock set on by 2 s": func(_ *Guard, since float64, in *Input) {
			if since >= 0 {
				in.Now, in.Stamp = in.Now+2, in.Stamp+2
			}
		},
	} {
		worst, when, highest := 0.0, 0.0, 0.0
		for at := 0.1; at < 0.96; at += 0.02 {
			g, w := newGuard(t), &world{body: newBody(so3.Vec3{}, so3.Vec3{}, so3.Identity())}
			k0 := int(math.Round((2 + at) * 50))
			_, off := takeOffThere(t, g, w, 9, func(now float64, in *Input) {
				order(g, float64(int(math.Round(now*50))-k0)*0.02, in)
			})
			if w.hardest > worst {
				worst, when = w.hardest, at
			}
			highest = max(highest, off)
		}
		if worst > 2.1 || highest > 0.3 {
			t.Errorf("%s: it meets the floor at up to %.2f m/s (%.2f s after the order), motors stop at up to %.2f m",
				name, worst, when, highest)
		}
	}
}

// Another body that is nudged up, and stands again, does not have the robot climb for good.
func TestTakeOffByAnotherBodyThatIsNudged(t *testing.T) {
	g, w := newGuard(t), &world{body: newBody(so3.Vec3{}, so3.Vec3{}, so3.Identity())}
	top, _ := takeOffThere(t, g, w, 12, func(at float64, in *Input) {
		in.State.P.Z += 0.045 * min(max((at-2)/0.1, 0), 1)
	})
	if top > 5 || g.Mode() != Landed {
		t.Errorf("it rises to %.0f m, %v for %v", top, g.Mode(), g.Tripped())
	}
}
