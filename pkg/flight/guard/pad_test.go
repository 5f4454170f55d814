package guard

import (
	"math"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// move has the robot follow a command for a millisecond, unless the floor bears it.
func (w *world) move(c quad.Command) {
	if w.p[2] > w.cable {
		c.Thrust /= 1 + w.load
	}
	w.step(c)
	if w.p[2] > 0 || w.v[2] >= 0 {
		return
	}
	w.hardest, w.landed = max(w.hardest, -w.v[2]), true
	w.p[2], w.v = 0, [3]float64{}
	if w.slope != 0 { // it does not turn there
		w.r, w.rates = so3.Exp(so3.Vec3{Y: w.slope}).Mat3(), [3]float64{}
	}
}

// takesOff has a robot take off at 2 s, and expects the policy to fly it.
func takesOff(t *testing.T, w *world, weaker float64, what string) {
	t.Helper()
	w.body = newBody(so3.Vec3{}, so3.Vec3{}, so3.Exp(so3.Vec3{Y: w.slope}))
	w.weaker = weaker
	g := newGuard(t)
	flyGuarded(g, w, PathFollower{newLaw(t), still{quad.Reference{P: so3.Vec3{Z: 1}}}}, 8, func(at float64, _ *Input) {
		if at == 2 && g.TakeOff() != nil {
			t.Fatal("no take-off")
		}
	}, func(float64, *quad.State) {})
	if g.Mode() != Flying {
		t.Errorf("%s, %d Hz, thrust less by %g: %v for %v, the floor at %.2f m/s", what, w.hz, weaker, g.Mode(),
			g.Tripped(), w.hardest)
	}
}

// A robot on a slope does not turn as commanded until it has left it. That is no delay.
func TestTakeOffFromASlope(t *testing.T) {
	for _, hz := range []int{25, 50, 100} {
		for _, weaker := range []float64{-0.15, -0.1, 0, 0.1} {
			for _, slope := range []float64{0.05, 0.1, 0.17} {
				takesOff(t, &world{hz: hz, slope: slope}, weaker, "from a slope")
			}
		}
	}
}

// A load that the cable lifts a little later makes a robot heavier than what lifted it. It is the robot for all that.
func TestTakeOffWithALoadOnASlackCable(t *testing.T) {
	for _, hz := range []int{50, 100} {
		for _, cable := range []float64{0.03, 0.1, 0.3} {
			for _, weaker := range []float64{-0.1, 0} {
				takesOff(t, &world{hz: hz, load: 0.2, cable: cable}, weaker, "with a load")
			}
		}
	}
}

// Nor is it where a landing is asked for before the robot has left it.
func TestLandingInATakeOffFromASlope(t *testing.T) {
	for land := 2.3; land < 3; land += 0.02 {
		for _, weaker := range []float64{-0.15, 0} {
			g := newGuard(t)
			w := &world{body: newBody(so3.Vec3{}, so3.Vec3{}, so3.Exp(so3.Vec3{Y: 0.17})), slope: 0.17}
			w.weaker = weaker
			flyGuarded(g, w, PathFollower{newLaw(t), onFloor}, 9, func(at float64, _ *Input) {
				if at == 2 && g.TakeOff() != nil {
					t.Fatal("no take-off")
				}
				if math.Abs(at-land) < 0.01 {
					g.Land()
				}
			}, func(float64, *quad.State) {})
			if g.Count(Delayed) > 0 || g.Mode() != Landed || w.hardest > 0.8 {
				t.Errorf("%.2f s after it began, thrust less by %g: delayed %d times, the floor at %.2f m/s, %v for %v",
					land-2, weaker, g.Count(Delayed), w.hardest, g.Mode(), g.Tripped())
			}
		}
	}
}
