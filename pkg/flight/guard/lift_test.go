package guard

import (
	"math"
	"math/rand/v2"
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
		"not followed for a tick":  func(_ *Guard, since float64, in *Input) { in.NotOffboard = since == 0 },
		"clock set on by 2 s": func(_ *Guard, since float64, in *Input) {
			if since >= 0 {
				in.Now, in.Stamp = in.Now+2, in.Stamp+2
			}
		},
	} {
		worst, when, highest := 0.0, 0.0, 0.0
		for at := 0.1; at < 2.5; at += 0.02 {
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

// Another body that somebody lifts a little in that moment does not have the robot climb.
func TestTakeOffByAnotherBodyThatIsNudged(t *testing.T) {
	for _, up := range []float64{0.045, 0.06, 0.1, 0.2, 0.6} {
		for _, over := range []float64{0.1, 0.3, 1} {
			for _, after := range []float64{0, 0.3, 0.6} {
				takeOffByNudged(t, up, over, after)
			}
		}
	}
}

// takeOffByNudged takes off by states of a body that rises by up m within over s, some time after the order.
func takeOffByNudged(t *testing.T, up, over, after float64) {
	t.Helper()
	g, w := newGuard(t), &world{body: newBody(so3.Vec3{}, so3.Vec3{}, so3.Identity())}
	top, _ := takeOffThere(t, g, w, 12, func(at float64, in *Input) {
		share := min(max((at-2-after)/over, 0), 1)
		if in.State.P.Z += up * share; share > 0 && share < 1 {
			in.State.V.Z = up / over
		}
	})
	if top > 2 || w.hardest > 2.4 || g.Mode() != Landed {
		t.Errorf("by %g m in %g s, %g s after the order: it rises to %.1f m and meets the floor at %.1f m/s, %v for %v",
			up, over, after, top, w.hardest, g.Mode(), g.Tripped())
	}
}

// Noise is no rise, at the rate where it shows the fewest samples.
func TestTakeOffByAnotherBodyInNoise(t *testing.T) {
	for seed := range uint64(30) {
		g, w := newGuard(t), &world{body: newBody(so3.Vec3{}, so3.Vec3{}, so3.Identity()), hz: 30}
		random, top := rand.New(rand.NewPCG(seed, 2)), 0.0
		flyGuarded(g, w, PathFollower{newLaw(t), onFloor}, 7, func(at float64, in *Input) {
			if at >= 2 && top == 0 && !g.TakingOff() {
				_ = g.TakeOff() // refused in the tick of a sample far off
			}
			off := so3.Vec3{X: random.NormFloat64(), Y: random.NormFloat64(), Z: random.NormFloat64()}
			in.State = quad.State{P: so3.Vec3{X: 1, Z: 0.02}.Add(off.Scale(0.015)), Q: so3.Identity()}
		}, func(_ float64, s *quad.State) { top = max(top, s.P.Z) })
		if top > 2 {
			t.Errorf("noise %d: it rises to %.1f m, %v for %v", seed, top, g.Mode(), g.Tripped())
		}
	}
}
