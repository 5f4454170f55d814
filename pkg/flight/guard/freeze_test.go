package guard

import (
	"math"
	"math/rand/v2"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// quantised is a state as a coarse tracker tells it.
func quantised(s quad.State) quad.State {
	const step = 1e-3
	round := func(x float64) float64 { return math.Round(x/step) * step }
	s.P = so3.Vec3{X: round(s.P.X), Y: round(s.P.Y), Z: round(s.P.Z)}
	s.Q = so3.Quat{W: round(s.Q.W), X: round(s.Q.X), Y: round(s.Q.Y), Z: round(s.Q.Z)}
	return s
}

// A tracker without noise, of a millimetre, is not frozen while a robot hovers. Where it freezes, that is found.
func TestCoarseTrackerIsNotFrozen(t *testing.T) {
	var d detector
	var p plant
	add := func(k int, s quad.State) bool {
		at := 0.01 * float64(k)
		d.add(&s, at, &p)
		_, found := d.frozen(at)
		return found
	}
	k := 0
	for ; k < 100; k++ { // it stands
		add(k, quad.State{Q: so3.Identity()})
	}
	for ; k < 500; k++ {
		x := 3e-3 * math.Sin(0.04*float64(k))
		if add(k, quantised(quad.State{P: so3.Vec3{X: x + 3e-4, Z: 1}, Q: so3.Exp(so3.Vec3{Y: x})})) {
			t.Fatalf("after %.2f s", 0.01*float64(k))
		}
	}
	for since := k; !add(k, quad.State{P: so3.Vec3{Z: 1}, Q: so3.Identity()}); k++ {
		if k-since > 50 {
			t.Fatal("a freeze is not found")
		}
	}
}

// A height in millimetres comes again while a robot hovers, and is not frozen, though a rotation rounds it. Nor is one
// that is measured less often than the rest, or one without noise that a robot holds.
func TestCoarseHeightIsNotFrozen(t *testing.T) {
	const rises, hovers, rounding = 100, 150, 3e-16
	for name, height := range map[string]func(k int) float64{
		"in millimetres": func(k int) float64 { return 1 + 1e-3*float64(min(k, hovers)%3) },
		"rounded":        func(k int) float64 { return 1 + 1e-3*float64(min(k, hovers)%3) + rounding*float64(k/8) },
		"now and then":   func(k int) float64 { return trackerNoise(k / 7).Z },
		"without noise":  func(k int) float64 { return 1e-6 * float64(min(max(k, rises), hovers)) },
	} {
		var d detector
		var p plant
		for k := range 500 {
			at, x := 0.01*float64(k), 3e-3*math.Sin(0.04*float64(k))
			s := quad.State{P: so3.Vec3{X: x, Z: height(k)}, Q: so3.Exp(so3.Vec3{Y: x})}
			d.add(&s, at, &p)
			if _, found := d.frozen(at); found && k > rises {
				t.Fatalf("%s: after %.2f s", name, at)
			}
		}
	}
}

// A height that stands still, while all else moves, is a frozen source as well: the law would push down against it.
// Velocities may go on to be true.
func TestHeightThatStandsStill(t *testing.T) {
	const noise = 3e-4 // m
	for k, height := range []float64{0.3, 0.5, 0.7, 0.9, 1.2, 0.3, 0.5, 0.7, 0.9, 1.2} {
		rng, frozen, g, falls := rand.New(rand.NewPCG(1, 2)), math.NaN(), newGuard(t), k >= 5
		off, speed := cut(t, g, still{quad.Reference{P: so3.Vec3{Z: 1.3}}}, 16, func(at float64, in *Input) {
			if at == 2 {
				g.Land()
			}
			e := so3.Vec3{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}
			in.State.P = in.State.P.Add(e.Scale(noise))
			if math.IsNaN(frozen) && at > 2 && in.State.P.Z < height {
				frozen = in.State.P.Z
			}
			if math.IsNaN(frozen) {
				return
			}
			if in.State.P.Z = frozen; !falls {
				in.State.V.Z = 0
			}
		})
		if n := g.Count(Frozen); off > 0.03 || speed > 1 || n == 0 {
			t.Errorf("from %.1f m on: found %d times, off at %.2f m, the floor at %.2f m/s", height, n, off, speed)
		}
	}
}

// hoversFirst goes up and down from 1.5 s on.
type hoversFirst struct{ bobbing }

func (h hoversFirst) At(t float64) quad.Reference {
	if t < 1.5 {
		return quad.Reference{P: h.bobbing.At(0).P}
	}
	return h.bobbing.At(t - 1.5)
}

// So it is amid quick climbs and falls, whose velocities the source goes on to tell.
func TestHeightThatStandsStillAmidAClimb(t *testing.T) {
	for since := 3.1; since < 5; since += 0.2 {
		g, frozen := newGuard(t), math.NaN()
		off, speed := cut(t, g, hoversFirst{bobbing{0.5, 2}}, 12, func(at float64, in *Input) {
			if math.IsNaN(frozen) && at > since {
				frozen = in.State.P.Z
			}
			if at > since {
				in.State.P.Z = frozen
			}
		})
		if n := g.Count(Frozen); off > 0.03 || speed > 1 || n == 0 {
			t.Errorf("from %.1f s on: found %d times, off at %.2f m, the floor at %.2f m/s", since, n, off, speed)
		}
	}
}

// standsFirst is for how long the robot stands before it takes off, s: its tracker proves to have noise.
const standsFirst = 6

// takeOffFrozen takes off under a source whose states, or heights alone, stand still from some height on, for some
// time. It returns how high the robot rises, m, and how fast it meets the floor, m/s.
func takeOffFrozen(t *testing.T, g *Guard, height, lasts float64, heightAlone bool) (top, speed float64) {
	since, frozen := math.NaN(), quad.State{}
	w := &world{body: newBody(so3.Vec3{}, so3.Vec3{}, so3.Identity())}
	flyGuarded(g, w, PathFollower{newLaw(t), onFloor}, 20, func(at float64, in *Input) {
		if at == standsFirst {
			if err := g.TakeOff(); err != nil {
				t.Fatal(err)
			}
		}
		if math.IsNaN(since) && at > standsFirst-0.1 && in.State.P.Z > height {
			since, frozen = at, in.State
		}
		switch {
		case !(at >= since && at < since+lasts):
		case heightAlone:
			in.State.P.Z, in.State.V.Z = frozen.P.Z, 0
		default:
			in.State = frozen
		}
	}, func(_ float64, s *quad.State) { top = max(top, s.P.Z) })
	return top, w.hardest
}

// A source that freezes before a take-off, or in it, lifts no robot: the law would push up against what it shows.
func TestFrozenInATakeOff(t *testing.T) {
	for _, height := range []float64{-1, 0.01, 0.03, 0.06, 0.15, 0.19, 0.3, 0.7} {
		for k, lasts := range []float64{0.3, 1, 60, 0.3, 1, 60} {
			g, alone := newGuard(t), k >= 3
			top, speed := takeOffFrozen(t, g, height, lasts, alone)
			if g.Count(Frozen) == 0 || top > max(height, 0)+0.25 || speed > 1.1 || g.Mode().Aloft() {
				t.Errorf("from %.2f m on for %g s, the height alone %v: it rises to %.2f m, meets the floor at "+
					"%.2f m/s, %v for %v", height, lasts, alone, top, speed, g.Mode(), g.Tripped())
			}
		}
	}
}

// A source without noise shows a robot that stands again and again. One that is dropped stands then, and takes off,
// twice.
func TestTakesOffWithoutNoise(t *testing.T) {
	tremble := 0
	for name, seen := range map[string]func(x float64) float64{
		"exact":      func(x float64) float64 { return x },
		"of 32 bits": func(x float64) float64 { return float64(float32(x)) },
		"trembles": func(x float64) float64 { // until it rests
			if tremble++; tremble > 3*500 {
				return x
			}
			return x + 1e-9*float64(tremble%100)
		},
		"in millimetres": func(x float64) float64 { return math.Round(x/1e-3) * 1e-3 },
	} {
		g, flights, p := newGuard(t), 0, still{quad.Reference{P: so3.Vec3{Z: 1}}}
		w := &world{body: newBody(so3.Vec3{Z: 0.05}, so3.Vec3{}, so3.Identity())}
		truth, before := w.state(), w.state()
		flyGuarded(g, w, PathFollower{newLaw(t), p}, 38, func(at float64, in *Input) {
			switch at {
			case 12, 26:
				if err := g.TakeOff(); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			case 19, 33:
				if g.Mode() == Flying {
					flights++
				}
				g.Land()
			}
			s := before.P
			in.State, in.State.P = before, so3.Vec3{X: seen(s.X), Y: seen(s.Y), Z: seen(s.Z)}
		}, func(_ float64, s *quad.State) { truth, before = *s, truth })
		if g.Count(Frozen) != 0 || flights != 2 || g.Mode() != Landed {
			t.Errorf("%s: %d flights, %d times frozen, %v", name, flights, g.Count(Frozen), g.Mode())
		}
	}
}

// A source that froze while the robot stood is coarse no longer once it was seen to have noise.
func TestNoiseIsProvenAnew(t *testing.T) {
	var r repetition
	at := 0.0
	stands := func(samples int, same bool) {
		for range samples {
			at += 0.02
			r.add(same, at)
			r.stands()
		}
	}
	stands(livelyProof, false)
	if stands(50, true); !r.noisy() {
		t.Error("noise is forgotten while it freezes")
	}
	if stands(1, false); r.noisy() || r.usual == 0 {
		t.Errorf("after a freeze: noisy %v, usual %g s", r.noisy(), r.usual)
	}
	if stands(livelyProof, false); !r.noisy() || r.usual != 0 {
		t.Errorf("with noise anew: noisy %v, usual %g s", r.noisy(), r.usual)
	}
}

// An attitude that stands still, while positions go on, is a frozen source as well: the law would turn the robot over.
func TestAttitudeThatStandsStill(t *testing.T) {
	for k, wind := range []float64{0, 1, 4, 0, 1, 4} {
		for since := 6.0; since < 8; since += 0.4 {
			rng, frozen, g := rand.New(rand.NewPCG(1, 2)), so3.Quat{}, newGuard(t)
			w := &world{body: newBody(so3.Vec3{Z: 1}, so3.Vec3{}, so3.Identity())}
			w.wind[0] = wind
			var path Path = still{quad.Reference{P: so3.Vec3{Z: 1}}}
			if k >= 3 {
				path = eight{}
			}
			flyGuarded(g, w, PathFollower{newLaw(t), path}, 16, func(at float64, in *Input) {
				e := so3.Vec3{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}
				in.State.Q = in.State.Q.Mul(so3.Exp(e.Scale(1e-3)))
				if at < since {
					frozen = in.State.Q
				}
				in.State.Q = frozen
			}, func(float64, *quad.State) {})
			if n := g.Count(Frozen); !w.landed || w.hardest > 1 || n == 0 {
				t.Errorf("wind %g m/s², from %.1f s on: found %d times, landed %v, the floor at %.2f m/s", wind, since,
					n, w.landed, w.hardest)
			}
		}
	}
}
