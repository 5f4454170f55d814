package quadsim

import (
	"fmt"
	"math"
	"testing"

	ardupilot "vnd/pkg/bridge/ardupilot/sitl"
	"vnd/pkg/bridge/mavlink/lockstep"
	px4sitl "vnd/pkg/bridge/px4/sitl"
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

// fliesRates holds what is flown of rates that are commanded in level flight, %: 0.5 to 1 s after the command, and 1.5
// to 2 s after it.
func fliesRates(t *testing.T, w sim.World, b *lockstep.Board, soon, late float64) {
	t.Helper()
	s, err := sim.New(w, 1)
	if err != nil {
		t.Fatal(err)
	}
	s.Fit(b)
	for _, want := range []so3.Vec3{{X: 0.5}, {X: -6}, {Y: 3}, {Y: -0.5}, {Z: 2}, {Z: -5}} {
		t.Run(fmt.Sprintf("%v", want), func(t *testing.T) {
			flown := rateStep(s, want, 2000)
			off := func(from, to int) (mean float64) { // %, between times of ms
				for _, share := range flown[from:to] {
					mean += 100 * (share - 1) / float64(to-from)
				}
				return mean
			}
			first, then := off(500, 1000), off(1500, 2000)
			t.Logf("off by %.2f, %.2f %%", first, then)
			slow := want.Norm() < 1 // so that it falls to its side meanwhile
			if math.Abs(first) > soon || !slow && math.Abs(then) > late {
				t.Errorf("commanded %v rad/s, off by %.2f, %.2f %%", want, first, then)
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
