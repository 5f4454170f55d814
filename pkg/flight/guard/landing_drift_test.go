package guard

import (
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// A source that drifts up has a robot on the floor rise for ever. From when it meets that, which sets it upright, it is
// to stay there, and its motors are to stop.
func TestLandsByASourceThatDriftsUp(t *testing.T) {
	for _, speed := range []float64{0.1, 0.2, 0.3, 0.4} {
		for _, wind := range []float64{0, 3} {
			landsByDrift(t, wind, speed)
		}
	}
}

// landsByDrift has a robot land in a wind, m/s², by a source that drifts up, m/s, from soon after on.
func landsByDrift(t *testing.T, wind, speed float64) {
	t.Helper()
	g, p := newGuard(t), still{quad.Reference{P: so3.Vec3{Z: 1}}}
	w := &world{body: newBody(p.r.P, so3.Vec3{}, so3.Identity()), slope: 1e-6}
	w.wind = [3]float64{wind, 0, 0}
	met, stopped := 0.0, 0.0
	flyGuarded(g, w, PathFollower{newLaw(t), p}, 16, func(at float64, in *Input) {
		if at == 4 {
			g.Land()
		}
		in.State.Q = in.State.Q.Mul(so3.Exp(trackerNoise(int(50 * at)))) // which no floor takes away
		if at > 4.2 {
			in.State.P.Z += speed * (at - 4.2)
			in.State.V.Z += speed
		}
	}, func(at float64, s *quad.State) {
		if w.landed && met == 0 {
			met = at
		}
		if g.Mode() == Landed && stopped == 0 {
			stopped = at
		}
		if met > 0 && s.P.Z > 0.05 {
			t.Fatalf("%.2f s after it met the floor %.2f m above it, %v for %v, now %v", at-met, s.P.Z, g.Mode(),
				g.Tripped(), g.Violation())
		}
	})
	if g.Mode() != Landed || stopped < met || stopped > met+1.5 || w.hardest > 1 {
		t.Errorf("%v for %v, %.2f s after it met the floor at %.2f m/s", g.Mode(), g.Tripped(), stopped-met, w.hardest)
	}
	if g.Count(Drifting) == 0 {
		t.Errorf("at %g m/s no drift was found", speed)
	}
}

// A robot that climbs quickly when a landing is asked for does not rest, whatever the source does.
func TestRestsNotWhileItClimbs(t *testing.T) {
	g := newGuard(t)
	healthy(t, g, 50)
	g.mode, g.driftedAt, g.descentZ = Landing, g.now, 0.5
	for speed, want := range map[float64]bool{0.5: true, 1.2: false, -0.3: false} {
		g.belief.state, g.restingFor = quad.State{P: so3.Vec3{Z: 1}, V: so3.Vec3{Z: speed}, Q: so3.Identity()}, 0
		if g.rest(0.02); (g.restingFor > 0) != want {
			t.Errorf("at %g m/s upwards: at rest for %g s", speed, g.restingFor)
		}
	}
}
