package guard

import (
	"math"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// moves is what begins to move in a flight: the source of states, or the robot, which is pushed.
type moves struct {
	up     float64 // m/s
	wind   float64 // m/s²
	pushed bool
	eight  bool    // in a figure-eight, not in a hover
	begins float64 // s
}

// landsAfter flies until that begins, and says what is wrong with how it ends.
func (m moves) landsAfter(t *testing.T) {
	t.Helper()
	g, p := newGuard(t), Path(still{quad.Reference{P: so3.Vec3{Z: 1}}})
	if m.eight {
		p = eight{}
	}
	start := p.At(0)
	w := &world{body: newBody(start.P, start.V, so3.Identity()), slope: 1e-6}
	w.wind = [3]float64{m.wind, 0, 0}
	highest, stopped := 0.0, 0.0
	flyGuarded(g, w, PathFollower{newLaw(t), p}, 30, func(at float64, in *Input) {
		in.State.Q = in.State.Q.Mul(so3.Exp(trackerNoise(int(50 * at))))
		switch since := at - m.begins; {
		case since <= 0:
		case !m.pushed:
			in.State.P.Z += m.up * since
			in.State.V.Z += m.up
		case since < 0.1: // by a hand
			w.wind[2] = m.up / 0.1
		default:
			w.wind[2] = 0
		}
	}, func(at float64, s *quad.State) {
		highest = max(highest, s.P.Z)
		if g.Mode() == Landed && stopped == 0 {
			stopped = s.P.Z
		}
	})
	if g.Mode() != Landed || w.hardest > 1 || stopped > 0.1 || highest > 1.8 {
		t.Errorf("%+v: %v for %v, the floor at %.2f m/s, motors stopped at %.2f m, %.1f m high", m, g.Mode(),
			g.Tripped(), w.hardest, stopped, highest)
	}
	if g.Count(Drifting) == 0 && !m.pushed {
		t.Errorf("%+v: no drift was found", m)
	}
}

// A source that rises or sinks by itself, faster than the robot lands, neither leads it away nor into the floor.
func TestLandsByASourceThatRisesOrSinks(t *testing.T) {
	for _, up := range []float64{-0.55, -0.4, -0.3, -0.2, -0.1, 0.1, 0.2, 0.3, 0.4, 0.55} {
		for _, wind := range []float64{0, 3} {
			moves{up: up, wind: wind, begins: 4}.landsAfter(t)
			for _, begins := range []float64{4, 4.5, 5, 5.5} {
				moves{up, wind, false, true, begins}.landsAfter(t)
			}
		}
	}
}

// A robot that was pushed looks the same, and its states are true.
func TestLandsAfterAPushUpOrDown(t *testing.T) {
	for _, up := range []float64{-1.5, -0.9, -0.7, -0.5, -0.3, 0.3, 0.5, 0.7, 0.9, 1.5} {
		for _, wind := range []float64{0, 3} {
			moves{up: up, wind: wind, pushed: true, begins: 4}.landsAfter(t)
		}
	}
}

// A drift that ends takes its speed away again, and one that is found for longer is the same.
func TestKnowsHowFastTheSourceDrifts(t *testing.T) {
	for _, up := range []float64{-0.5, -0.3, 0.3, 0.5} {
		for _, ends := range []float64{30, 5} { // s
			g, p := newGuard(t), still{quad.Reference{P: so3.Vec3{Z: 3}}}
			w := &world{body: newBody(p.r.P, so3.Vec3{}, so3.Identity())}
			flyGuarded(g, w, PathFollower{newLaw(t), p}, 6, func(at float64, in *Input) {
				in.State.Q = in.State.Q.Mul(so3.Exp(trackerNoise(int(50 * at))))
				in.State.P.Z += up * max(min(at, ends)-4, 0)
				if at > 4 && at < ends {
					in.State.V.Z += up
				}
			}, func(float64, *quad.State) {})
			want, slack := up, 0.03
			if ends < 6 {
				want, slack = 0, 0.06
			}
			if off := g.upDrift() - want; math.Abs(off) > slack {
				t.Errorf("a drift of %g m/s that ends after %g s: %.2f m/s at the end of it", up, ends, g.upDrift())
			}
		}
	}
}

// What drifted in one flight does not in the next.
func TestForgetsADriftOnTheGround(t *testing.T) {
	for _, to := range []Mode{Landed, Ready, Flying} {
		g := newGuard(t)
		healthy(t, g, 50)
		g.mode, g.driftUp, g.kinkUp = Landing, -0.2, -0.3
		if g.descent() <= g.config.Descent {
			t.Fatalf("%g m/s where the source sinks by %g m/s", g.descent(), g.upDrift())
		}
		g.enter(to, AtRest)
		if g.enter(Landing, LandAsked); g.descent() != g.config.Descent {
			t.Errorf("%v: lands by %g m/s afterwards, expected %g", to, g.descent(), g.config.Descent)
		}
	}
}
