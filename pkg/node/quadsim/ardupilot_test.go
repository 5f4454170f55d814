package quadsim

import (
	"fmt"
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
	firmware := func(w sim.World) sim.Firmware { return newArdupilot(t, w) }
	givesThrust(t, firmware, 2, 1, 0.3, 0.5, 0.75, 1, 1.5, 2)
	givesThrust(t, firmware, 2, 0.5, 0.75, 1, 2) // idle motors give 0.6 g by curve 0.5
}
