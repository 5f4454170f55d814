package quadsim

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"vnd/pkg/bridge/betaflight/sitl"
	"vnd/pkg/bridge/betaflight/sitl/sitltest"
	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
	"vnd/pkg/flight/reference"
	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/rostest"
	"vnd/pkg/sim"
	"vnd/pkg/sim/closedloop"
)

// newFirmware is Betaflight in a world's vehicle; without one the test is skipped.
func newFirmware(t *testing.T, w sim.World) *sitl.Board {
	t.Helper()
	sitltest.Folder(t)
	b, err := NewBetaflight(w, nil)
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

// settled is the mean of rates and thrust in m/s² over half a second that a command comes to in a world.
func settled(t *testing.T, s *sim.Simulator, w *sim.World, c quad.Command, settles float64) (rates so3.Vec3,
	thrust float64) {
	t.Helper()
	s.Reset(quad.State{P: so3.Vec3{Z: 1000}, Q: so3.Identity()}, 1)
	const measured = 500 // ms
	s.Step(c, settles)
	for range measured {
		s.Step(c, 0.001)
		rates = rates.Add(s.Truth().Rates.Scale(1. / measured))
		for _, speed := range s.Truth().RotorSpeed {
			share := speed / w.Motor.Speed
			thrust += share * share * w.Motor.Thrust / w.Motor.Gain / w.Airframe.Mass / measured
		}
	}
	if s.Crashed() {
		t.Fatal(s.Crash())
	}
	return rates, thrust
}

func TestBetaflightFliesTheRatesThatAreCommanded(t *testing.T) {
	w := sim.Default()
	b := newFirmware(t, w)
	s, err := sim.New(w, 1)
	if err != nil {
		t.Fatal(err)
	}
	s.Fit(b)
	for _, want := range []so3.Vec3{{X: 0.5}, {X: -6}, {Y: 3}, {Y: -0.5}, {Z: 2}, {Z: -5}} {
		t.Run(fmt.Sprintf("%v", want), func(t *testing.T) {
			got, _ := settled(t, s, &w, quad.Command{Thrust: quad.Gravity, Rates: want}, 0.5)
			off := 100 * got.Sub(want).Norm() / want.Norm() // %
			t.Logf("flown %.4f: off by %.2g %%", got, off)
			if off > 0.5 {
				t.Errorf("commanded %v rad/s, flown %v", want, got)
			}
		})
	}
}

func TestBetaflightGivesTheThrustThatIsCommanded(t *testing.T) {
	firmware := func(w sim.World) sim.Firmware { return newFirmware(t, w) }
	givesThrust(t, firmware, 1, 1, 0.3, 0.5, 0.75, 1, 1.5, 2)
	givesThrust(t, firmware, 1, 0, 0.5, 1, 2) // idle motors give 0.42 g by curve 0
}

// givesThrust commands thrusts, g, of a firmware before motors of a curve; most % they may be off.
func givesThrust(t *testing.T, firmware func(sim.World) sim.Firmware, most, curve float64, thrusts ...float64) {
	t.Helper()
	w := sim.Default()
	w.Motor.Curve = curve
	b := firmware(w)
	s, err := sim.New(w, 1)
	if err != nil {
		t.Fatal(err)
	}
	s.Fit(b)
	for _, g := range thrusts {
		t.Run(fmt.Sprintf("curve %g, %g g", curve, g), func(t *testing.T) {
			_, got := settled(t, s, &w, quad.Command{Thrust: g * quad.Gravity}, 0.5)
			off := 100 * (got/(g*quad.Gravity) - 1) // %
			t.Logf("flown %.4f g: off by %.2g %%", got/quad.Gravity, off)
			if math.Abs(off) > most {
				t.Errorf("commanded %g g, flown %g", g, got/quad.Gravity)
			}
		})
	}
}

// TestBetaflightFliesTheFigureEight with the geometric law, half a minute each, beside the simulator's own autopilot.
func TestBetaflightFliesTheFigureEight(t *testing.T) {
	w := sim.Default()
	b := newFirmware(t, w)
	spec := new(reference.FigureEight)
	param.Default(spec)
	eight, err := reference.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	var limits quad.Limits
	param.Default(&limits)
	fly := func(f sim.Firmware) closedloop.Figures {
		law, err := guard.NewPathFollower(limits, eight)
		if err != nil {
			t.Fatal(err)
		}
		s := &closedloop.Setup{World: w, Seed: 1, Path: eight, Seconds: 30, Tick: 0.02, Limits: limits, External: f}
		param.Default(&s.Estimate)
		trace, err := closedloop.Fly(s, law)
		if err != nil {
			t.Fatal(err)
		}
		return trace.Measure(4)
	}
	own, firmware := fly(nil), fly(b)
	t.Logf("mean error %.4f m on the simulator's autopilot, %.4f m on Betaflight", own.Mean, firmware.Mean)
	if firmware.Crash != "" || firmware.Mean > 1.25*own.Mean {
		t.Errorf("%.2f times the error of the simulator's autopilot; %s", firmware.Mean/own.Mean, firmware.Crash)
	}
}

// TestNodeFliesWithBetaflight: the vehicle is put into the air, and the autopilot holds it there through the firmware.
func TestNodeFliesWithBetaflight(t *testing.T) {
	sitltest.Folder(t)
	ctx, stop := context.WithCancel(context.Background())
	c, err := ros.NewContext(ros.Options{Args: []string{"--ros-args", "--disable-external-lib-logs", "-p",
		"autopilot.firmware:=betaflight", "-p", "speed:=20.0"}, Backend: ros.InProcess(inproc.NewDomain()),
		Getenv: func(string) string { return "" }, Stderr: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	rostest.SpinWith(ctx, stop, t, c, 1)
	n, err := newSimulator(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		<-n.ended
	})
	for end := time.Now().Add(30 * time.Second); n.status.Load().time < 10; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%.1f s flown in half a minute: %s", n.status.Load().time, n.status.Load().text)
		}
	}
	height := make(chan float64, 1)
	n.later(func() { height <- n.vehicle.Truth().State.P.Z })
	if z := <-height; n.status.Load().mode != closedloop.Waiting || math.Abs(z-1) > 0.3 {
		t.Errorf("%s at %.2f m, want it to hold 1 m", n.status.Load().text, z)
	}
}

func TestSettingsOfTheFirmwareAreChecked(t *testing.T) {
	for setting, want := range map[string]string{"i_roll": "expected NAME=VALUE",
		"roll_srate=30": "commands become sticks"} {
		t.Run(setting, func(t *testing.T) {
			_, err := NewBetaflight(sim.Default(), []string{setting})
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		})
	}
}
