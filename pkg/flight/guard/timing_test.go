package guard

import (
	"math"
	"strings"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// An airframe that turns sooner or later than its file says is known as well as another: when states end amid a turn,
// the attitude believed is the true one, and the robot comes straight down.
func TestKnowsHowSoonItTurns(t *testing.T) {
	for name, response := range map[string]Response{
		"as the file says": {RateLag: rateLag}, "sooner": {RateDelay: 0.04, RateLag: rateLag},
		"much sooner": {RateDelay: 0.03, RateLag: 0.055}, "later": {RateLag: rateLag - 0.014},
	} {
		response.ThrustLag, response.Drag, response.AxialDrag = thrustLag, drag, axialDrag
		t.Run(name, func(t *testing.T) {
			for phase := range 8 {
				landsStraight(t, response, 6+0.6*float64(phase))
			}
		})
	}
}

// landsStraight has a robot fly the eight until states end at a time, s, and land.
func landsStraight(t *testing.T, response Response, lost float64) {
	t.Helper()
	g, p := newGuard(t, func(c *Config) { c.Response = response }), eight{}
	w := &world{body: newBody(p.At(0).P, p.At(0).V, so3.Identity())}
	off, along := 0.0, 0.0
	flyGuarded(g, w, PathFollower{newLaw(t), p}, lost+8, func(at float64, in *Input) {
		if at > lost {
			in.Stamp = lost
		}
	}, func(at float64, s *quad.State) {
		if at > lost && at < lost+1 {
			off = max(off, so3.Log(s.Q.Conj().Mul(g.belief.present(at).state.Q)).Norm())
		}
		if !w.landed {
			along = math.Hypot(s.V.X, s.V.Y)
		}
	})
	if off > 0.04 || along > 0.3 || g.Mode() != Landed {
		t.Errorf("lost at %.1f s: the attitude off by %.3f rad, on the floor at %.2f m/s along it, %v", lost, off,
			along, g.Mode())
	}
}

// Without states, after a moment without them and in a landing the law turns slowly, unless the robot is tilted far;
// else as fast as it can.
func TestTurnsSlowlyWithoutStates(t *testing.T) {
	for name, c := range map[string]struct {
		mode        Mode
		cause       Cause
		blind, tilt float64
		slow        bool
	}{"blind": {Holding, Stale, 0.2, 0.5, true}, "blind, tilted far": {Holding, Stale, 0.2, 1.1, false},
		"by states again": {Holding, Stale, 0, 0.5, true}, "at the fence": {Holding, Fence, 0, 0.5, false},
		"landing":                    {Landing, Requested, 0, 0.5, true},
		"landing, towards the fence": {Landing, Requested, 0, 0.5, false}} {
		g := newGuard(t)
		healthy(t, g, 10)
		g.mode, g.cause, g.blindFor = c.mode, c.cause, c.blind
		g.belief.state.Q = so3.FromEuler(0, c.tilt, 0)
		if strings.HasSuffix(name, "fence") {
			g.belief.state.P.X, g.belief.state.V.X = g.fence.hi.X-1, 3
		}
		if turn := g.fly(0.02).Rates.Norm(); turn < slowTurn-0.01 || (turn < slowTurn+0.01) != c.slow {
			t.Errorf("%s: turns by %.2f rad/s", name, turn)
		}
	}
}

// Betaflight turns 24 ms sooner than the default response says (benchmarks/autopilots.md: 26 ms, of 50).
func TestKnowsHowSoonBetaflightTurns(t *testing.T) {
	for _, flight := range onBetaflight(t) {
		var d detector
		var p plant
		param.Default(&p.response)
		for i := range flight {
			k := &flight[i]
			if d.add(&k.state, k.stamp, &p) {
				d.learnBias(&p)
			}
			p.send(k.now, k.sent)
		}
		if math.Abs(p.lead-0.024) > 0.006 {
			t.Errorf("turns %.4f s sooner, expected 0.024", p.lead)
		}
	}
}
