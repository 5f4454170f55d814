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
			const onset = 3.0
			end := onset + 0.02*float64(c.late) + 0.14
			g, p := newGuard(t), eight{}
			w := &world{body: newBody(p.At(0).P, p.At(0).V, so3.Identity())}
			var held []quad.State
			late := func(t float64, in *Input) {
				held = append(held, in.State)
				switch since := t - onset; {
				case since >= 0 && since < 0.02*float64(c.late)-1e-6:
					in.Stamp = onset - 0.04 // nothing has come
				case since >= 0 && (t < end || !c.over):
					in.State = held[len(held)-1-c.late]
				case t >= end && t < end+0.02*float64(c.lost)-1e-6:
					in.Stamp = end - 0.04
				case t >= end && t < end+0.02*float64(c.lost)+0.12: // the velocity, made of positions, holds the leap
					in.State.P.Y += c.jump
					in.State.V = in.State.V.Add(in.State.P.Sub(held[len(held)-1-c.late].P).Scale(10))
				case t >= end:
					in.State.P.Y += c.jump
				}
			}
			known, at, off, jumps := 0.0, math.Inf(1), 0.0, 0
			flyGuarded(g, w, PathFollower{newLaw(t), p}, end+2, late, func(t float64, s *quad.State) {
				if known = max(known, g.hiddenDelay); known > 0 && g.hiddenDelay == 0 {
					at = min(at, t)
					off = max(off, g.belief.state.V.Sub(s.V).Norm())
				}
				if !math.IsInf(at, 1) && g.Violation() == Jump {
					jumps++
				}
			})
			soonest := end + 0.02*float64(c.lost)
			if known == 0 {
				t.Fatal("no delay was found")
			}
			if c.soon == 0 && at < soonest+0.1 || c.soon > 0 && !(at >= soonest && at < soonest+c.soon) {
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
