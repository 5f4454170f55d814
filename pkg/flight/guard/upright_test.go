package guard

import (
	"math/rand/v2"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// wild commands whatever it drew last, for up to half a second.
type wild struct {
	rng   *rand.Rand
	l     quad.Limits
	c     quad.Command
	until float64
}

func (w *wild) Reset() {}

func (w *wild) Command(t float64, _ *quad.State) quad.Command {
	if t >= w.until {
		draw := func(most float64) float64 { return most * (2*w.rng.Float64() - 1) }
		w.until = t + 0.5*w.rng.Float64()
		w.c = quad.Command{Thrust: quad.Gravity + draw(3),
			Rates: so3.Vec3{X: draw(w.l.MaxTiltRate), Y: draw(w.l.MaxTiltRate), Z: draw(w.l.MaxYawRate)}}
	}
	return w.c
}

// TestNoPolicyTiltsTooFar: whatever it commands, the robot does not tilt beyond the bound while the policy flies.
func TestNoPolicyTiltsTooFar(t *testing.T) {
	for _, hz := range []int{50, 100, 200} {
		most, allowed := 0., 0.
		for seed := range uint64(10) {
			g := newGuard(t)
			allowed = g.config.MaxTilt
			w := &world{body: newBody(so3.Vec3{Z: 3}, so3.Vec3{}, so3.Identity()), hz: hz}
			flyGuarded(g, w, &wild{rng: rand.New(rand.NewPCG(seed, 3)), l: g.limits}, 3, intact,
				func(_ float64, s *quad.State) {
					if g.Mode() == Flying {
						most = max(most, s.Q.Tilt())
					}
				})
		}
		if !(most > 0.9*allowed && most < allowed) {
			t.Errorf("%d Hz: tilted by %.2f rad at most, allowed %.2f", hz, most, allowed)
		}
	}
}

// TestAPolicyThatTiltsOnIsHeld: one that goes on to ask for more than the bound is held, and flies again once it does
// not.
func TestAPolicyThatTiltsOnIsHeld(t *testing.T) {
	g := newGuard(t)
	w := &world{body: newBody(so3.Vec3{Z: 2}, so3.Vec3{}, so3.Identity())}
	var held, back float64
	spin := func(at float64, in *Input) {
		if at > 1 && held == 0 {
			in.Command = quad.Command{Thrust: 10, Rates: so3.Vec3{Y: 5.9}}
		}
	}
	flyGuarded(g, w, PathFollower{newLaw(t), outward{}}, 6, spin, func(at float64, _ *quad.State) {
		switch {
		case held == 0 && g.Tripped() == Tilt:
			held = at
		case held > 0 && back == 0 && g.Tripped() == None:
			back = at
		}
	})
	if !(held > 1.1 && held < 1.4 && back > held+0.9 && back < held+2) {
		t.Errorf("held at %.2f s, and flew again at %.2f s", held, back)
	}
}

// tilting asks for a tilt about y, rad.
type tilting float64

func (p tilting) Reset() {}

func (p tilting) Command(_ float64, s *quad.State) quad.Command {
	return quad.Command{Thrust: quad.Gravity, Rates: so3.Vec3{Y: 8 * (float64(p) - s.Q.Tilt())}}
}

// TestNoBiasTiltsTooFar: where a robot turns beside what is commanded, so much less may be commanded.
func TestNoBiasTiltsTooFar(t *testing.T) {
	g := newGuard(t)
	w := &world{body: newBody(so3.Vec3{Z: 3}, so3.Vec3{}, so3.Identity())}
	flyGuarded(g, w, tilting(1.1), 0.4, intact, func(float64, *quad.State) {})
	asked, bias := quad.Command{Thrust: quad.Gravity, Rates: so3.Vec3{Y: 5}}, 0.5
	g.belief.plant.bias = so3.Vec3{}
	without := g.upright(asked, 0.02)
	g.belief.plant.bias = so3.Vec3{Y: bias}
	if with := g.upright(asked, 0.02); !(without.Rates.Y < 5 && with.Rates.Y <= without.Rates.Y-bias) {
		t.Errorf("turns by %.2f rad/s, by %.2f without the bias", with.Rates.Y, without.Rates.Y)
	}
}

// TestRecalledCommandsAreNotCut: what a record says was sent as it is, a replay sends so. The state of then may be of
// another time.
func TestRecalledCommandsAreNotCut(t *testing.T) {
	g := newGuard(t)
	w := &world{body: newBody(so3.Vec3{Z: 3}, so3.Vec3{}, so3.Identity())}
	flyGuarded(g, w, tilting(1.1), 0.4, intact, func(float64, *quad.State) {})
	asked := quad.Command{Thrust: quad.Gravity, Rates: so3.Vec3{Y: 5}}
	for _, was := range []Stage{Policy, Limited} {
		if g.Recall(was); (g.upright(asked, 0.02) == asked) != (was == Policy) {
			t.Errorf("recorded as %s: of %+v goes out %+v", was, asked, g.upright(asked, 0.02))
		}
	}
}
