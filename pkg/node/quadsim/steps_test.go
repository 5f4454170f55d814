package quadsim

import (
	"fmt"
	"io"
	"math"
	"os"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/sim"
)

// TestRateSteps holds delay, rise and overshoot of steps of each body rate, under Betaflight's firmware and under the
// world's own rate loop. VND_RATE_STEPS names a file for benchmarks/rate_steps.py.
func TestRateSteps(t *testing.T) {
	w := sim.Default()
	var table io.Writer = io.Discard
	if name := os.Getenv("VND_RATE_STEPS"); name != "" {
		f, err := os.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}()
		table = f
	}
	for _, autopilot := range []struct {
		name string
		make func(*testing.T) sim.Firmware // nil: the world's
		slow int                           // ms, the longest rise
	}{
		{"quad_sim", nil, 70},
		{"Betaflight", func(t *testing.T) sim.Firmware { return newFirmware(t, w) }, 70},
		{"ArduPilot", func(t *testing.T) sim.Firmware { return newArdupilot(t, w) }, 70},
		{"PX4", func(t *testing.T) sim.Firmware { return startPX4(t, w) }, 100},
	} {
		t.Run(autopilot.name, func(t *testing.T) {
			s, err := sim.New(w, 1)
			if err != nil {
				t.Fatal(err)
			}
			if autopilot.make != nil {
				s.Fit(autopilot.make(t))
			}
			for axis, rate := range []so3.Vec3{{X: 3}, {Y: 3}, {Z: 2}} {
				name := [...]string{"roll", "pitch", "yaw"}[axis]
				flown := rateStep(s, rate, 400)
				for k, share := range flown {
					fmt.Fprintf(table, "%s,%s,%d,%.4f,%.4f\n", autopilot.name, name, k, rate.Norm(), share*rate.Norm())
				}
				begins, rises, overshoot := shape(flown)
				t.Logf("%s: 10 %% after %d ms, 63 %% after %d ms, overshoot %.0f %%", name, begins, rises, overshoot)
				if rises == 0 || rises > autopilot.slow || overshoot > 20 {
					t.Errorf("a step of %s: 63 %% after %d ms, overshoot %.0f %%", name, rises, overshoot)
				}
			}
		})
	}
}

// rateStep returns, for each of so many ms after it, which share of a step of body rates is flown.
func rateStep(s *sim.Simulator, rate so3.Vec3, ms int) (flown []float64) {
	s.Reset(quad.State{P: so3.Vec3{Z: 1000}, Q: so3.Identity()}, 1)
	s.Step(quad.Command{Thrust: quad.Gravity}, 0.5)
	for range ms {
		s.Step(quad.Command{Thrust: quad.Gravity, Rates: rate}, 0.001)
		flown = append(flown, s.Truth().Rates.Dot(rate)/rate.Dot(rate))
	}
	return flown
}

// shape is when a step is flown to 10 and to 63 %, ms, 0 for never, and by how much more than all of it is, %.
func shape(flown []float64) (begins, rises int, overshoot float64) {
	for k, share := range flown {
		if begins == 0 && share > 0.1 {
			begins = k + 1
		}
		if rises == 0 && share > 1-math.Exp(-1) {
			rises = k + 1
		}
		overshoot = max(overshoot, 100*(share-1))
	}
	return begins, rises, overshoot
}
