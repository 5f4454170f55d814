package quadsim

import (
	"fmt"
	"math"
	"testing"

	"vnd/pkg/bridge/ardupilot/sitl"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/sim"
)

// newArdupilot is ArduPilot in a world's vehicle; where VND_ARDUPILOT names none the test is skipped.
func newArdupilot(t *testing.T, w sim.World, settings ...string) *sitl.Board {
	t.Helper()
	if _, err := sitl.Binary(); err != nil {
		t.Skip(err)
	}
	b, err := NewArdupilot(w, settings)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func TestArdupilotFliesTheRatesThatAreCommanded(t *testing.T) {
	w := sim.Default()
	b := newArdupilot(t, w)
	s, err := sim.New(w, 1)
	if err != nil {
		t.Fatal(err)
	}
	s.Fit(b)
	for _, want := range []so3.Vec3{{X: 0.5}, {X: -6}, {Y: 3}, {Y: -0.5}, {Z: 2}, {Z: -5}} {
		t.Run(fmt.Sprintf("%v", want), func(t *testing.T) {
			c := quad.Command{Thrust: quad.Gravity, Rates: want}
			soon, _ := settled(t, s, &w, c, 0.5)
			late, _ := settled(t, s, &w, c, 1.5)
			off := func(got so3.Vec3) float64 { return 100 * got.Sub(want).Norm() / want.Norm() } // %
			t.Logf("off by %.2g, %.2g %%", off(soon), off(late))
			if off(soon) > 5 || want.Norm() > 1 && off(late) > 2 { // a slow one falls to its side meanwhile
				t.Errorf("commanded %v rad/s, flown %v, %v", want, soon, late)
			}
		})
	}
}

func TestArdupilotGivesTheThrustThatIsCommanded(t *testing.T) {
	for _, of := range []struct {
		curve float64
		g     []float64
	}{{1, []float64{0.3, 0.5, 0.75, 1, 1.5, 2}}, {0.5, []float64{0.75, 1, 2}}} { // idle motors give 0.6 g by curve 0.5
		w := sim.Default()
		w.Motor.Curve = of.curve
		b := newArdupilot(t, w)
		s, err := sim.New(w, 1)
		if err != nil {
			t.Fatal(err)
		}
		s.Fit(b)
		for _, g := range of.g {
			t.Run(fmt.Sprintf("curve %g, %g g", of.curve, g), func(t *testing.T) {
				_, got := settled(t, s, &w, quad.Command{Thrust: g * quad.Gravity}, 0.5)
				off := 100 * (got/(g*quad.Gravity) - 1) // %
				t.Logf("flown %.4f g: off by %.2g %%", got/quad.Gravity, off)
				if math.Abs(off) > 2 {
					t.Errorf("commanded %g g, flown %g", g, got/quad.Gravity)
				}
			})
		}
	}
}
