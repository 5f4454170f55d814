package cli

import (
	"math"
	"testing"

	"vnd/pkg/bridge/ardupilot/sitl"
	"vnd/pkg/bridge/betaflight"
	"vnd/pkg/flight/preflight"
	"vnd/pkg/node/doctor"
	"vnd/pkg/node/quadsim"
	"vnd/pkg/sim"
)

// A hover on ArduPilot's firmware shows the thrust that motors give, 0.97 of what is believed. Rates are above what is
// commanded for a while: it makes up for what the motors' lag has lost.
func TestHoverOfArdupilot(t *testing.T) {
	if _, err := sitl.Binary(); err != nil || testing.Short() {
		t.Skip(err)
	}
	w := sim.Default()
	b, err := quadsim.NewArdupilot(w, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	axes := preflight.Measure(nudged(t, &w, b, 60))
	for i, axis := range []struct {
		name       string
		gain, near float64
	}{{"thrust", w.Motor.Gain, 0.02}, {"roll rate", 1, 0.2}, {"pitch rate", 1, 0.2}, {"yaw rate", 1, 0.2}} {
		t.Logf("%s: %v", axis.name, axes[i])
		if got := axes[i].Gain.Value; math.Abs(got-axis.gain) > axis.near {
			t.Errorf("%s: gain %.3f, expected %g", axis.name, got, axis.gain)
		}
	}
	if said, _ := curved(&axes[0], &betaflight.Thrust{Throttle: b.Throttle()}, false); said.State != doctor.OK {
		t.Errorf("%+v", said)
	}
}
