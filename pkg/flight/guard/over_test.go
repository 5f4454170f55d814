package guard

import (
	"math"
	"math/rand/v2"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// A hidden delay of a moving robot ends with a leap along its path. The guard forgets it at once, and believes the
// velocity that the robot has; then the policy flies again. While it lasts, and in a leap aside, it is not over.
func TestDelayEndsByALeap(t *testing.T) {
	for name, c := range map[string]struct {
		late int // ticks
		lost int // samples that do not come at its end
		over bool
		jump float64 // m
		soon float64 // s within which it is forgotten; 0: it is not
	}{
		"100 ms": {5, 0, true, 0, 0.09}, "300 ms": {15, 0, true, 0, 0.09}, "160 ms, some lost": {8, 8, true, 0, 0.4},
		"it lasts": {10, 0, false, 0, 0}, "a leap aside": {10, 0, true, 0.15, 0},
	} {
		t.Run(name, func(t *testing.T) {
			h := hiddenLate{onset: 3, ticks: c.late}
			end := h.onset + 0.14 + 0.02*float64(c.late)
			soonest := end + 0.02*float64(c.lost)
			g, p := newGuard(t), eight{}
			w := &world{body: newBody(p.At(0).P, p.At(0).V, so3.Identity())}
			late := func(t float64, in *Input) {
				now := in.State
				if h.spoil(t, in); t < end || !c.over {
					return
				}
				now.P.Y += c.jump
				if t < soonest-1e-6 {
					in.Stamp = end - 0.04
				} else if t < soonest+0.12 { // the velocity, made of positions, holds the leap
					now.V = now.V.Add(now.P.Sub(in.State.P).Scale(10))
				}
				in.State = now
			}
			known, at, off, jumps := 0.0, math.Inf(1), 0.0, 0
			flyGuarded(g, w, PathFollower{newLaw(t), p}, end+2.4, late, func(t float64, s *quad.State) {
				if known = max(known, g.hiddenDelay); known > 0 && g.hiddenDelay == 0 {
					at = min(at, t)
					off = max(off, g.belief.state.V.Sub(s.V).Norm())
				}
				if !math.IsInf(at, 1) && g.Violation() == Jump {
					jumps++
				}
			})
			if known == 0 {
				t.Fatal("no delay was found")
			}
			intime := at >= soonest && at < soonest+c.soon
			if !c.over && !math.IsInf(at, 1) || c.soon == 0 && at < soonest+0.1 || c.soon > 0 && !intime {
				t.Errorf("the delay was forgotten at %.2f s, expected within %g s after %.2f s", at, c.soon, soonest)
			}
			// where samples are lost, the leap's velocities contradict positions for a while
			if flies := g.Mode() == Flying; flies != (c.soon > 0 && c.lost == 0) {
				t.Errorf("in the end the robot is %v: %v, now %v", g.Mode(), g.Tripped(), g.Violation())
			}
			if off > 0.5 || jumps > 0 {
				t.Errorf("the velocity believed is %.2f m/s off, %d states are not believed", off, jumps)
			}
		})
	}
}

// The small turns of a calm hover show that a delay is over, too. One that lasts is hardly ever forgotten.
func TestCalmHoverShowsThatADelayIsOver(t *testing.T) {
	for name, c := range map[string]struct {
		late        int // exhibits
		over        bool
		least, most int // found, of 200
	}{
		"of 80 ms": {4, true, 180, 200}, "of 300 ms": {15, true, 180, 200}, "80 ms last": {4, false, 0, 1},
		"300 ms last": {15, false, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			rng, n := rand.New(rand.NewPCG(7, 8)), 0
			for range 200 {
				if forgets(rng, c.late, c.over) {
					n++
				}
			}
			if n < c.least || n > c.most {
				t.Errorf("found in %d of 200 flights, expected %d to %d", n, c.least, c.most)
			}
		})
	}
}

// forgets reports whether a delay of some exhibits is found to be over within 1 s: of a robot that turns a little,
// under the noise of a tracker.
func forgets(rng *rand.Rand, late int, over bool) bool {
	const before, behind = 50, 50 // exhibits
	draw := func(x float64) so3.Vec3 { return so3.Vec3{X: rng.NormFloat64(), Y: rng.NormFloat64()}.Scale(x) }
	var rate so3.Vec3
	q := []so3.Quat{so3.Identity()}
	commanded := []so3.Vec3{{}}
	for i := 1; i < before+behind+late; i++ {
		rate = rate.Scale(0.9).Add(draw(0.03))
		commanded = append(commanded, rate.Scale(0.02))
		q = append(q, q[i-1].Mul(so3.Exp(commanded[i])))
	}
	var d detector
	last := so3.Identity()
	for i := 1; i < before+behind; i++ { // as reckoned: of before
		d.commanded.add(commanded[i])
		seen := q[i]
		if over && i >= before {
			seen = q[i+late]
		}
		seen = seen.Mul(so3.Exp(draw(0.002)))
		d.push(exhibit{at: 0.02 * float64(i), q: seen, turned: so3.Log(last.Conj().Mul(seen))})
		if last = seen; d.over(late) {
			return i >= before || !over
		}
	}
	return false
}

// hiddenLate has samples be late by some ticks from a time on, behind a gap as long.
type hiddenLate struct {
	onset float64 // s
	ticks int
	held  []quad.State
}

func (h *hiddenLate) spoil(t float64, in *Input) {
	h.held = append(h.held, in.State)
	switch since := t - h.onset; {
	case since >= 0 && since < 0.02*float64(h.ticks)-1e-6:
		in.Stamp = h.onset - 0.04
	case since >= 0:
		in.State = h.held[len(h.held)-1-h.ticks]
	}
}

// One prompt sample does not end a delay, in however many ticks it is the newest.
func TestOneSampleEndsNoDelay(t *testing.T) {
	for _, ticks := range []int{1, 2} {
		h, n := hiddenLate{onset: 3, ticks: 10}, 0
		g, p := newGuard(t), eight{}
		w := &world{body: newBody(p.At(0).P, p.At(0).V, so3.Identity())}
		var prompt Input
		spoil := func(t float64, in *Input) {
			h.spoil(t, in)
			if t > h.onset+0.34-1e-6 && n < ticks {
				if n++; n == 1 {
					prompt.State, prompt.Stamp = h.held[len(h.held)-1], in.Stamp
				}
				in.State, in.Stamp = prompt.State, prompt.Stamp
			}
		}
		flyGuarded(g, w, PathFollower{newLaw(t), p}, h.onset+0.44, spoil, func(at float64, _ *quad.State) {
			if at > h.onset+0.32 && g.hiddenDelay == 0 {
				t.Fatalf("a sample that is the newest of %d ticks ended a delay", ticks)
			}
		})
		if n != ticks {
			t.Fatalf("%d ticks had the prompt sample, expected %d", n, ticks)
		}
	}
}

// A reset amid a leap leaves nothing of it: the next delay is found.
func TestDelayIsFoundAfterAResetAmidALeap(t *testing.T) {
	h, reset, found := hiddenLate{onset: 3, ticks: 10}, false, 0.0
	g, p := newGuard(t), eight{}
	w := &world{body: newBody(p.At(0).P, p.At(0).V, so3.Identity())}
	spoil := func(t float64, in *Input) {
		now := in.State
		if h.spoil(t, in); t >= h.onset+0.34-1e-6 {
			in.State = now
		}
		if t >= 6 {
			in.State = h.held[len(h.held)-1-7]
		}
	}
	flyGuarded(g, w, PathFollower{newLaw(t), p}, 9, spoil, func(at float64, _ *quad.State) {
		if g.leaps == 1 && !reset {
			if reset = true; g.Reset() != nil {
				t.Fatal("the guard refuses a reset")
			}
		}
		if at > 6 {
			found = max(found, g.hiddenDelay)
		}
	})
	if !reset || found < 0.1 {
		t.Errorf("reset amid a leap: %v; then a delay of 0.14 s was found as %.2f s", reset, found)
	}
}

// A delay that grows behind further gaps is known all along, also where it is longer than is looked for at first.
func TestDelayGrowsBehindGaps(t *testing.T) {
	for _, steps := range [][2]int{{5, 5}, {15, 8}} { // ticks
		g, p, most := newGuard(t), eight{}, 0.0
		w := &world{body: newBody(p.At(0).P, p.At(0).V, so3.Identity())}
		first, second := hiddenLate{onset: 3, ticks: steps[0]}, hiddenLate{ticks: steps[1]}
		second.onset = 3 + 0.02*float64(steps[0]) + 0.16
		spoil := func(t float64, in *Input) {
			first.spoil(t, in)
			second.spoil(t, in)
		}
		flyGuarded(g, w, PathFollower{newLaw(t), p}, 12, spoil, func(float64, *quad.State) {
			most = max(most, g.hiddenDelay)
		})
		if want := 0.02 * float64(steps[0]+steps[1]); math.Abs(most-want) > 0.05 || !w.landed || w.hardest > 1 {
			t.Errorf("%.2f s of delay, expected %.2f s; it landed: %v, at %.2f m/s", most, want, w.landed, w.hardest)
		}
	}
}

// What passed is forgiven, but not a delay that lasts, nor one that was over a moment ago.
func TestDelayIsForgivenOnceItIsOver(t *testing.T) {
	for _, c := range []struct {
		late, since float64
		forgiven    bool
	}{{0.1, 9, false}, {0, 0.1, false}, {0, 2.5, true}} {
		g := newGuard(t)
		g.now, g.cause, g.hiddenDelay, g.promptSince = 10, Delayed, c.late, 10-c.since
		if g.forgivable() != c.forgiven {
			t.Errorf("%+v: forgiven %v", c, g.forgivable())
		}
	}
}
