package quadsim

import (
	"fmt"
	"testing"

	ardupilot "vnd/pkg/bridge/ardupilot/sitl"
	"vnd/pkg/bridge/mavlink/lockstep"
	px4sitl "vnd/pkg/bridge/px4/sitl"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/sim"
)

// newArdupilot is ArduPilot in a world's vehicle; where VND_ARDUPILOT names none the test is skipped.
func newArdupilot(t *testing.T, w sim.World) *lockstep.Board {
	t.Helper()
	return started(t, w, ardupilot.Binary, NewArdupilot)
}

// startPX4 is PX4 in a world's vehicle; where VND_PX4 names none the test is skipped.
func startPX4(t *testing.T, w sim.World) *lockstep.Board {
	t.Helper()
	return started(t, w, px4sitl.Binary, NewPX4)
}

func started(t *testing.T, w sim.World, binary func() (string, error),
	start func(sim.World, []string) (*lockstep.Board, error)) *lockstep.Board {
	t.Helper()
	if _, err := binary(); err != nil {
		t.Skip(err)
	}
	b, err := start(w, nil)
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

// fliesRates holds what is flown of commanded rates, 0.5 to 1 s after the command and 1.5 to 2 s after it, %.
func fliesRates(t *testing.T, w sim.World, b *lockstep.Board, soon, late float64) {
	t.Helper()
	s, err := sim.New(w, 1)
	if err != nil {
		t.Fatal(err)
	}
	s.Fit(b)
	for _, want := range []so3.Vec3{{X: 0.5}, {X: -6}, {Y: 3}, {Y: -0.5}, {Z: 2}, {Z: -5}} {
		t.Run(fmt.Sprintf("%v", want), func(t *testing.T) {
			c := quad.Command{Thrust: quad.Gravity, Rates: want}
			first, _ := settled(t, s, &w, c, 0.5)
			then, _ := settled(t, s, &w, c, 1.5)
			off := func(got so3.Vec3) float64 { return 100 * got.Sub(want).Norm() / want.Norm() } // %
			t.Logf("off by %.2g, %.2g %%", off(first), off(then))
			if off(first) > soon || want.Norm() > 1 && off(then) > late { // a slow one falls to its side meanwhile
				t.Errorf("commanded %v rad/s, flown %v, %v", want, first, then)
			}
		})
	}
}

func TestArdupilotFliesTheRatesThatAreCommanded(t *testing.T) {
	w := sim.Default()
	fliesRates(t, w, newArdupilot(t, w), 5, 2)
}

func TestPX4FliesTheRatesThatAreCommanded(t *testing.T) {
	w := sim.Default()
	fliesRates(t, w, startPX4(t, w), 5, 2)
}

func TestArdupilotGivesTheThrustThatIsCommanded(t *testing.T) {
	firmware := func(w sim.World) sim.Firmware { return newArdupilot(t, w) }
	givesThrust(t, firmware, 2, 1, 0.3, 0.5, 0.75, 1, 1.5, 2)
	givesThrust(t, firmware, 2, 0.5, 0.75, 1, 2) // idle motors give 0.6 g by curve 0.5
}

func TestPX4GivesTheThrustThatIsCommanded(t *testing.T) {
	firmware := func(w sim.World) sim.Firmware { return startPX4(t, w) }
	givesThrust(t, firmware, 2, 1, 0.3, 0.5, 0.75, 1, 1.5, 2)
	givesThrust(t, firmware, 2, 0.5, 0.3, 0.75, 1, 2)
}
